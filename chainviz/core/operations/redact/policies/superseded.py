"""A result is out of date once the same tool is called again: the latest call of each tool keeps what it gave."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from chainviz.core.operations.redact.following import History
from chainviz.core.operations.redact.policies.contract import Candidate, Policy, Verdict

if TYPE_CHECKING:
    from chainviz.core.operations.redact.options import RedactOptions


class Superseded(Policy):
    name = "superseded"
    label = "Superseded: once the same tool is called again"

    def verdicts(self, candidates: Sequence[Candidate], history: History, options: RedactOptions) -> Sequence[Verdict]:
        return [self._verdict(each, history) for each in candidates]

    def _verdict(self, candidate: Candidate, history: History) -> Verdict:
        if not candidate.is_tool_use:
            return Verdict(False, "only tool results and arguments can be superseded")
        if any(history.last_called[tool] > candidate.message for tool in candidate.tools):
            return Verdict(True, "the same tool is called again later")
        return Verdict(False, "the tool is not called again")
