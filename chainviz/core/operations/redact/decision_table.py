"""The decision table: the action for each part with its reason, and the totals. It never contains content."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

from chainviz.core.errors import visible
from chainviz.core.operations.redact.options import RedactOptions
from chainviz.core.operations.redact.policy import Candidate, Kind
from chainviz.core.operations.redact.rewriting import DEFAULT

CHIPS = 12
"""The number of letters in `Row.follows`; `DecisionTable.followed_by` returns all."""


@dataclass(frozen=True, slots=True)
class Row:
    number: int
    path: str
    candidate: Candidate
    size: int
    """Size of the content that is or would be replaced, in bytes."""
    redact: bool
    reason: str
    """The reason for the decision, for the user."""
    skip: str
    """Why no policy was asked or its verdict was overruled (one of SKIPS); "" if the policy or a person decided."""
    follows: str
    """The letters of the first messages that follow."""
    bytes_after: int
    differs: tuple[str, ...] = ()
    """The compared policies that would decide differently."""
    manual: bool = False
    """True if a person decided this row."""

    @property
    def kind(self) -> Kind:
        return self.candidate.kind

    @property
    def message(self) -> int:
        return self.candidate.message

    @property
    def part(self) -> int:
        return self.candidate.part

    @property
    def tool(self) -> str:
        return ", ".join(self.candidate.tools) or self.candidate.name

    @property
    def call_id(self) -> str:
        return self.candidate.call_id

    @property
    def matrix_row(self) -> str:
        return self.candidate.row.value

    @property
    def decision(self) -> str:
        return "redact" if self.redact else "keep"

    @property
    def saved(self) -> int:
        return self.size - self.bytes_after


@dataclass(frozen=True, slots=True)
class Metrics:
    rows: int
    selected: int
    redacted: int
    bytes_before: int
    bytes_saved: int
    distribution: dict[str, int]
    """The number of rows by matrix row, or by the reason why no policy was asked."""

    @property
    def rate(self) -> float:
        return self.redacted / self.rows if self.rows else 0.0


NOT_SELECTED = frozenset(("disabled", "missing_tool_call_id", "orphan_result", "tool_not_selected", "protected"))


@dataclass(frozen=True)
class DecisionTable:
    rows: tuple[Row, ...]
    letters: str
    warnings: tuple[str, ...] = ()

    def followed_by(self, row: Row) -> str:
        return self.letters[row.candidate.letter + 1 :]

    def metrics(self) -> Metrics:
        return Metrics(
            rows=len(self.rows),
            selected=sum(row.skip not in NOT_SELECTED for row in self.rows),
            redacted=sum(row.redact for row in self.rows),
            bytes_before=sum(row.size for row in self.rows),
            bytes_saved=sum(row.saved for row in self.rows),
            distribution=dict(Counter(row.skip or row.matrix_row for row in self.rows)),
        )


# The audit trail contains decisions and sizes, but never contents, placeholders or hashes of contents. The caller adds the
# person, the time, and the chain with its version.


def audit_record(table: DecisionTable, options: RedactOptions) -> dict[str, Any]:
    """Return JSON values for the audit trail. Control characters in names and ids, which come from a transcript, are escaped."""
    parameters = options.model_dump(mode="json", exclude={"policy", "placeholder", "context_management", "enabled"})
    metrics = table.metrics()
    return {
        "operation": "redact",
        "policy": options.policy,
        "enabled": options.enabled,
        "parameters": {**parameters, "own_placeholder": options.placeholder != DEFAULT},
        "rows": [_row(table, row) for row in table.rows],
        "rate": metrics.rate,
        "distribution": metrics.distribution,
        "bytes_saved": metrics.bytes_saved,
    }


def _row(table: DecisionTable, row: Row) -> dict[str, Any]:
    return {
        "message": row.message,
        "path": row.path,
        "part": row.kind,
        "tool_call_id": visible(row.call_id),
        "tool": visible(row.tool),
        "matrix_row": row.matrix_row,
        "followed_by": row.follows,
        "decision": row.decision,
        "skip": row.skip,
        "override": row.manual,
        "bytes_before": row.size,
        "bytes_after": row.bytes_after,
    }
