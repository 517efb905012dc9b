"""The decision table: what happens to each part and why, and what that comes to. It never holds contents."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from chainviz.core.operations.redact.policies.contract import Candidate, Kind

CHIPS = 12
"""Letters of what follows that a row carries; `DecisionTable.followed_by` gives all."""


@dataclass(frozen=True, slots=True)
class Row:
    number: int
    path: str
    candidate: Candidate
    size: int
    """Bytes of what is or would be replaced."""
    redact: bool
    reason: str
    """In words."""
    skip: str
    """Why no policy was asked, or its word not followed (one of SKIPS); "" where the policy or a person decided."""
    follows: str
    """The first letters of what follows."""
    bytes_after: int
    differs: tuple[str, ...] = ()
    """Of the policies that were compared, those that would decide the other way."""
    manual: bool = False
    """A person decided this row."""

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
    """Rows by matrix row, or by the reason for which no policy was asked."""

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
