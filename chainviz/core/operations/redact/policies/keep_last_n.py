"""The last n stay, all earlier ones go; each kind of part is counted for itself, and only what is selected counts.

Pictures count with texts: a picture that went is a text, which must not push out another one in a second run.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from chainviz.core.operations.redact.decision_matrix import History
from chainviz.core.operations.redact.policies.contract import Candidate, Policy, Settings, Verdict


class KeepLastN(Policy):
    name = "keep_last_n"
    label = "Keep the last n"

    def verdicts(self, candidates: Sequence[Candidate], history: History, options: Settings) -> Sequence[Verdict]:
        behind: Counter[str] = Counter()
        found = []
        for each in reversed(candidates):
            kind = "text" if each.kind == "media" else each.kind
            recent = behind[kind] < options.keep
            behind[kind] += 1
            found.append(
                Verdict(
                    not recent, f"it is one of the last {options.keep}" if recent else f"{options.keep} newer ones are kept"
                )
            )
        return found[::-1]
