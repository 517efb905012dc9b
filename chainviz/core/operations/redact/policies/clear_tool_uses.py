"""What Anthropic's clear_tool_uses_20250919 does on its server: old tool results go, once the context is large enough.

Excluded tools are never cleared, but they use up places among the kept ones, as they do there.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from chainviz.core.operations.redact.decision_matrix import History
from chainviz.core.operations.redact.policies.contract import Candidate, Policy, Settings, Verdict


class ClearToolUses(Policy):
    name = "clear_tool_uses"
    label = "Anthropic: clear tool uses above a limit"

    def verdicts(self, candidates: Sequence[Candidate], history: History, options: Settings) -> Sequence[Verdict]:
        size, unit = _measured(history, options)
        limit = options.trigger
        if size <= limit:
            return [Verdict(False, f"{size:,} {unit} are not above the trigger of {limit:,}")] * len(candidates)
        first_kept = len(history.results) - options.keep
        return [self._verdict(each, first_kept, options) for each in candidates]

    def _verdict(self, candidate: Candidate, first_kept: int, options: Settings) -> Verdict:
        if not candidate.is_tool_use:
            return Verdict(False, "this policy clears tool uses only")
        if candidate.use < 0:
            return Verdict(False, "the call has no result")
        if candidate.use >= first_kept:
            return Verdict(False, f"it is one of the last {options.keep} tool uses")
        return Verdict(True, f"{options.keep} newer tool uses are kept")

    def affordable(self, savings: Mapping[int, int], options: Settings) -> tuple[Collection[int], str]:
        wanted = options.clear_at_least * options.bytes_per_token
        if not wanted:
            return savings, ""
        if options.at_least == "or_nothing":
            enough = sum(savings.values()) >= wanted
            return (savings if enough else ()), f"less than {options.clear_at_least:,} tokens could be cleared"
        chosen, cleared = [], 0
        for use, saved in savings.items():
            if cleared >= wanted:
                break
            chosen.append(use)
            cleared += saved
        return chosen, f"{options.clear_at_least:,} tokens are already cleared"


def _measured(history: History, options: Settings) -> tuple[int, str]:
    if options.trigger_type == "tool_uses":
        return len(history.results), "tool uses"
    return int(history.size / options.bytes_per_token), "estimated tokens"
