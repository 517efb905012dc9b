"""Nothing goes but what a person names by its path."""

from __future__ import annotations

from collections.abc import Sequence

from chainviz.core.operations.redact.decision_matrix import History
from chainviz.core.operations.redact.policies.contract import Candidate, Policy, Settings, Verdict


class ByHand(Policy):
    name = "by_hand"
    label = "By hand"

    def verdicts(self, candidates: Sequence[Candidate], history: History, options: Settings) -> Sequence[Verdict]:
        return [Verdict(False, "not chosen") for _ in candidates]
