"""What a step did, as its snapshot keeps it: its name, its warnings, and the report of its operation."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from chainviz.chains.render.numbers import count_text
from chainviz.chains.versions.badges import badge_of
from chainviz.core.chain.paths import Path, parse_path
from chainviz.core.formats import get_format
from chainviz.core.operations import operation_named
from chainviz.core.operations.contract import WARNING, Badge
from chainviz.core.operations.convert import SAME
from chainviz.core.operations.redact import CLEAN, REDACT
from chainviz.store.content.codec import unpack
from chainviz.store.models import Snapshot

EDIT_WORDS = {
    "text": "Text of", "role": "Role of", "name": "Tool name in", "arguments": "Arguments of", "result": "Result in",
    "call_id": "Call id in", "insert": "Insert at", "delete": "Delete", "move_up": "Move up", "move_down": "Move down",
    "split": "Split", "merge": "Merge", "append_human": "Append a human message", "append": "Append",
    "add_event": "Add event", "answer": "Answer", "add_part": "Add a part to",
    "image": "Image of", "import_state": "Import a state",
}  # fmt: skip
UNCHANGED = ("left", "keep", "stays")
"""How the actions of rows begin that say what was not changed."""
SHOWN = 200
"""Rows of a report on the page."""

ReportRow = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class StepReport:
    badge: Badge
    name: str
    options: tuple[tuple[str, str], ...]
    warnings: tuple[str, ...]
    rows: tuple[ReportRow, ...]
    more: int
    """Rows beyond those."""


def report_of(step: Snapshot) -> StepReport:
    report = decisions_in(unpack(step.report))
    options = tuple((name, _option_text(value)) for name, value in unpack(step.options).items())
    name, _ = named(step)
    shown = tuple(report[:SHOWN])
    return StepReport(
        badge_of(step.operation), name, options, warnings_in(unpack(step.report)), shown, len(report) - len(shown)
    )


def _option_text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False) if isinstance(value, dict) else str(value)


def named(step: Snapshot) -> tuple[str, str]:
    """The name of a step, and what it did."""
    options, report = unpack(step.options), unpack(step.report)
    if step.operation == "edit":
        words = EDIT_WORDS.get(options.get("action", "text"), "Edit")
        where = options.get("path", "")
        return f"{words} {parse_path(where).number}" if where else words, "".join(row["reason"] for row in report[:1])
    operation = operation_named(step.operation)
    label = operation.label if operation is not None else badge_of(step.operation).text
    if step.operation == "convert" and options.get("to", SAME) != SAME:
        label = f"Convert to {get_format(step.format).label}"
    changed = changed_rows(report)
    return label, str(changed[0]["reason"]) if len(changed) == 1 else rows_text(step.operation, changed) if changed else ""


def rows_text(operation: str, rows: Sequence[ReportRow]) -> str:
    """Repairs are counted in fixes, redactions as the Redact page counts them, all other steps in the nodes that they
    changed, each once."""
    if operation == "repair":
        return count_text(len(rows), "fix", "fixes")
    if operation == REDACT.name:
        return count_text(sum(row["action"] != CLEAN for row in rows), "redaction")
    return count_text(len(nodes_of(rows)), "node")


def nodes_of(rows: Iterable[ReportRow]) -> frozenset[Path]:
    return frozenset(parse_path(str(row["path"])).node for row in rows)


def changed_rows(report: Sequence[ReportRow]) -> list[ReportRow]:
    return [row for row in report if row.get("path") and not str(row.get("action", "")).startswith(UNCHANGED)]


def decisions_in(report: Sequence[ReportRow]) -> list[ReportRow]:
    return [row for row in report if row.get("action") != WARNING]


def warnings_in(report: Sequence[ReportRow]) -> tuple[str, ...]:
    """What a person should know of the step, such as what a conversion leaves out."""
    return tuple(str(row["reason"]) for row in report if row.get("action") == WARNING)
