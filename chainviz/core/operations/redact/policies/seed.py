"""The seed's decision matrix: a result has served once a plain answer of the assistant follows it.

| row | followed by | decision |
|---|---|---|
| 1 | a plain answer | redact |
| 2 | only tool calls and results | keep |
| 3 | nothing | keep |
| 4 | a user message, then tool calls | keep |
| 5 | tool calls, then a plain answer | redact |
| – | a user or system message only | keep: nothing was explained yet |
| – | an unknown role, no plain answer | redact, with a warning |
"""

from __future__ import annotations

from collections.abc import Sequence

from chainviz.core.operations.redact.decision_matrix import REASONS, History, MatrixRow
from chainviz.core.operations.redact.policies.contract import Candidate, Policy, Settings, Verdict

SERVED = frozenset((MatrixRow.ANSWER, MatrixRow.TOOLS_THEN_ANSWER, MatrixRow.MALFORMED))


class Seed(Policy):
    name = "seed"
    label = "Once a plain answer follows"

    def verdicts(self, candidates: Sequence[Candidate], history: History, options: Settings) -> Sequence[Verdict]:
        return [Verdict(each.row in SERVED, REASONS[each.row]) for each in candidates]
