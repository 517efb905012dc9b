"""As the reference implementation decides: any message that is neither call nor result makes what precedes it redactable.

It differs from the seed only where no plain answer ever follows: interrupted turns, events, chains that end in tool work.
"""

from __future__ import annotations

from collections.abc import Sequence

from chainviz.core.operations.redact.decision_matrix import REASONS, History, MatrixRow
from chainviz.core.operations.redact.policies.contract import Candidate, Policy, Settings, Verdict

KEPT = frozenset((MatrixRow.ONLY_TOOLS, MatrixRow.END))


class Reference(Policy):
    name = "reference"
    label = "Once anything but tool work follows"

    def verdicts(self, candidates: Sequence[Candidate], history: History, options: Settings) -> Sequence[Verdict]:
        return [Verdict(each.row not in KEPT, REASONS[each.row]) for each in candidates]
