"""The policies, which decide when a part of a chain is no longer needed. A released policy keeps its name and meaning."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence

from chainviz.core.counts import count_text
from chainviz.core.operations.redact.decision_matrix import REASONS, History, MatrixRow, Place
from chainviz.core.operations.redact.policy import Candidate, Policy, Settings, Verdict

SERVED = frozenset((MatrixRow.ANSWER, MatrixRow.TOOLS_THEN_ANSWER, MatrixRow.MALFORMED))


class Seed(Policy):
    """The decision matrix: a result is no longer needed once a plain answer of the assistant follows it.

    A part is redacted if a plain answer follows, directly or after tool calls. It is kept if nothing follows, or only tool calls
    and results, or a user message and then tool calls, or only user or system messages. If an unknown role follows and no plain
    answer, it is redacted with a warning.
    """

    name = "seed"
    label = "Once a plain answer follows"

    def verdicts(self, candidates: Sequence[Candidate], history: History, options: Settings) -> Sequence[Verdict]:
        return [Verdict(each.row in SERVED, REASONS[each.row]) for each in candidates]


KEPT = frozenset((MatrixRow.ONLY_TOOLS, MatrixRow.END))


class Reference(Policy):
    """The reference's rule: a part is redacted if any message that is neither a call nor a result follows it.

    It differs from the decision matrix only if no plain answer follows, as in interrupted turns and chains that end in tool work.
    """

    name = "reference"
    label = "Once anything but tool work follows"

    def verdicts(self, candidates: Sequence[Candidate], history: History, options: Settings) -> Sequence[Verdict]:
        return [Verdict(each.row not in KEPT, REASONS[each.row]) for each in candidates]


class KeepLastN(Policy):
    """Keeps the last n parts of each kind, counting only selected parts.

    Images and texts are counted together: a redacted image becomes a text, which must not displace another one in a second run.
    """

    name = "keep_last_n"
    label = "Keep the last n"

    def verdicts(self, candidates: Sequence[Candidate], history: History, options: Settings) -> Sequence[Verdict]:
        behind: Counter[str] = Counter()
        found = []
        for each in reversed(candidates):
            kind = "text" if each.kind == "media" else each.kind
            recent = behind[kind] < options.keep
            behind[kind] += 1
            found.append(Verdict(not recent, f"it is one of the last {options.keep}" if recent else f"{options.keep} newer ones are kept"))
        return found[::-1]


NO_TOOL_USE = Verdict(False, "only tool results and arguments can be superseded")


class Superseded(Policy):
    """Redacts a result once the same tool is called again, or called again with the same arguments."""

    name = "superseded"
    label = "Superseded: once the same tool is called again"

    def verdicts(self, candidates: Sequence[Candidate], history: History, options: Settings) -> Sequence[Verdict]:
        if options.superseded_by == "same_tool":
            return [self._by_tool(each, history) for each in candidates]
        calls = {use: call for call, use in history.use_of_call.items()}
        return [self._by_call(each, calls.get(each.use), history) for each in candidates]

    def _by_tool(self, candidate: Candidate, history: History) -> Verdict:
        if not candidate.is_tool_use:
            return NO_TOOL_USE
        if any(history.last_called[tool] > candidate.message for tool in candidate.tools):
            return Verdict(True, "the same tool is called again later")
        return Verdict(False, "the tool is not called again")

    def _by_call(self, candidate: Candidate, call: Place | None, history: History) -> Verdict:
        if not candidate.is_tool_use:
            return NO_TOOL_USE
        call = (candidate.message, candidate.part) if candidate.kind == "arguments" else call
        if call is not None and history.last_same_call.get(call, -1) > candidate.message:
            return Verdict(True, "the same call is made again later")
        return Verdict(False, "the same call is not made again")


class ClearToolUses(Policy):
    """Clears old results once the context is large enough, like clear_tool_uses_20250919 on Anthropic's server.

    As there, uses of excluded tools are never cleared, but count among the kept ones.
    """

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
            return (savings if enough else ()), f"less than {count_text(options.clear_at_least, 'token')} could be cleared"
        chosen, cleared = [], 0
        for use, saved in savings.items():
            if cleared >= wanted:
                break
            chosen.append(use)
            cleared += saved
        return chosen, f"{count_text(options.clear_at_least, 'token')} are already cleared"


def _measured(history: History, options: Settings) -> tuple[int, str]:
    if options.trigger_type == "tool_uses":
        return len(history.results), "tool uses"
    return int(history.size / options.bytes_per_token), "estimated tokens"


class Every(Policy):
    name = "every"
    label = "Every result"

    def verdicts(self, candidates: Sequence[Candidate], history: History, options: Settings) -> Sequence[Verdict]:
        return [Verdict(True, "everything selected is redacted") for _ in candidates]


class ByHand(Policy):
    name = "by_hand"
    label = "By hand"

    def verdicts(self, candidates: Sequence[Candidate], history: History, options: Settings) -> Sequence[Verdict]:
        return [Verdict(False, "not chosen") for _ in candidates]


POLICIES: tuple[Policy, ...] = (Seed(), Every(), ByHand(), Reference(), Superseded(), KeepLastN(), ClearToolUses())


def get_policy(name: str) -> Policy:
    return next(policy for policy in POLICIES if policy.name == name)
