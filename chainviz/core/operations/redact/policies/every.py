"""Everything that is selected goes, also of the last turn."""

from __future__ import annotations

from collections.abc import Sequence

from chainviz.core.operations.redact.decision_matrix import History
from chainviz.core.operations.redact.policies.contract import Candidate, Policy, Settings, Verdict


class Every(Policy):
    name = "every"
    label = "Every result"

    def verdicts(self, candidates: Sequence[Candidate], history: History, options: Settings) -> Sequence[Verdict]:
        return [Verdict(True, "everything selected is redacted") for _ in candidates]
