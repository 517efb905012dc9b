"""A result is out of date once the same tool is called again, or called again with the same arguments: the latest stays."""

from __future__ import annotations

from collections.abc import Sequence

from chainviz.core.operations.redact.decision_matrix import History, Place
from chainviz.core.operations.redact.policies.contract import Candidate, Policy, Settings, Verdict

NO_TOOL_USE = Verdict(False, "only tool results and arguments can be superseded")


class Superseded(Policy):
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
