"""The decisions of an audit entry as rows of a table."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from chainviz.chains.models import AuditEntry
from chainviz.core.chain.paths import parse_path
from chainviz.core.operations.redact.candidates import SKIPS


@dataclass(frozen=True, slots=True)
class AuditRow:
    number: int
    path: str
    node: str
    """The path of the message: a part has no page."""
    what: str
    part: str
    decision: str
    why: str
    by_hand: bool
    before: int
    after: int


def rows_of(entry: AuditEntry) -> list[AuditRow]:
    """Empty for a purge, which keeps no places."""
    row = {"redact": _redacted, "mask": _masked}.get(entry.act)
    return [row(number, each) for number, each in enumerate(entry.record.get("rows", ()), 1)] if row else []


def _redacted(number: int, row: Any) -> AuditRow:
    why = SKIPS.get(row["skip"], "") or f"row {row['matrix_row']} of the matrix"
    return AuditRow(
        number,
        row["path"],
        _node(row["path"]),
        row["tool"] or row["part"],
        row["part"] if row["tool"] else "",
        row["decision"],
        why,
        bool(row["override"]),
        row["bytes_before"],
        row["bytes_after"],
    )


def _masked(number: int, row: Any) -> AuditRow:
    path, reason, before, after = row
    return AuditRow(number, path, _node(path), reason, "", "mask", "", False, before, after)


def _node(path: str) -> str:
    return str(replace(parse_path(path), part=None))
