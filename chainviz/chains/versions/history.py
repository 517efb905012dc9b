"""The versions of a chain as the versions page lists them: who made each one, by which operations, and what it changed."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from chainviz.chains.models import Chain
from chainviz.core.chain.paths import Path, parse_path
from chainviz.core.counts import count_text
from chainviz.core.formats import get_format
from chainviz.core.operations import OPERATIONS, operation_named
from chainviz.core.operations.contract import WARNING, Badge
from chainviz.core.operations.convert import SAME
from chainviz.core.operations.redact import CLEAN, REDACT
from chainviz.core.operations.repair.fixes import FIX_LABELS
from chainviz.store.content.codec import unpack
from chainviz.store.models import Snapshot, Version
from chainviz.web.formatting import byte_text

SHOWN = 100

Steps = dict[int | None, tuple[int | None, str]]
"""For each snapshot: its parent, and the operation that made it."""


@dataclass(frozen=True, slots=True)
class VersionRow:
    version: Version
    marks: tuple[Badge, ...]
    what: str
    size: int
    share: str
    delta: str
    delta_state: str
    who: str
    is_head: bool
    is_first: bool

    @property
    def number(self) -> int:
        return self.version.number

    @property
    def previous(self) -> int:
        return self.version.number - 1


def version_rows(chain: Chain, names: dict[str, str], before: int | None = None) -> list[VersionRow]:
    """Return at most SHOWN versions, the newest first, all older than `before` if it is given."""
    versions = Version.objects.filter(history=chain.history).select_related("snapshot").order_by("-number")
    if before is not None:
        versions = versions.filter(number__lt=before)
    found = list(versions[: SHOWN + 1])
    largest = max((version.snapshot.size for version in found), default=0)
    listing = _Listing(chain, names, _steps_between(chain, found), largest)
    rows = []
    for place, version in enumerate(found[:SHOWN]):
        older = found[place + 1] if place + 1 < len(found) else None
        rows.append(_row(version, older, listing))
    return rows


class _Listing(NamedTuple):
    """The data that all rows share."""

    chain: Chain
    names: dict[str, str]
    """The names of people, by the author of a version."""
    steps: Steps
    largest: int
    """The size of the largest version in bytes."""


def _row(version: Version, older: Version | None, listing: _Listing) -> VersionRow:
    size = version.snapshot.size
    delta, state = _delta(version.snapshot, older.snapshot if older else None)
    operations = dict.fromkeys(_operations(version, older, listing.steps))
    return VersionRow(
        version=version,
        marks=tuple(map(badge_of, operations)),
        what=_what(version.snapshot, older.snapshot if older else None),
        size=size,
        share=f"{100 * size / listing.largest:.1f}" if listing.largest else "0",
        delta=delta,
        delta_state=state,
        who=listing.names.get(version.author, ""),
        is_head=version.number == listing.chain.version,
        is_first=version.number == 1,
    )


def _steps_between(chain: Chain, versions: list[Version]) -> Steps:
    """Return every step that can be between these versions: snapshots are numbered in the order of their creation."""
    numbers = [version.snapshot_id for version in versions]
    made = Snapshot.objects.filter(history=chain.history, pk__range=(min(numbers, default=0), max(numbers, default=0)))
    return {pk: (parent, operation) for pk, parent, operation in made.values_list("pk", "parent_id", "operation")}


def _operations(version: Version, older: Version | None, steps: Steps) -> list[str]:
    """List the operations of all steps between the version before and this one, first to last. Going back to an older
    state is a restore."""
    made: list[str] = []
    at: int | None = version.snapshot_id
    stop = older.snapshot_id if older is not None else None
    while at in steps and at != stop:
        at, operation = steps[at]
        made.append(operation)
    return made[::-1] if made and at == stop else ["restore"]


def _delta(now: Snapshot, before: Snapshot | None) -> tuple[str, str]:
    if before is None:
        return "", "quiet"
    change = now.size - before.size
    if not change:
        return "same size", "quiet"
    if before.size and abs(change) * 1000 >= before.size:
        share = 100 * change / before.size
        text = f"{share:+.0f}%" if abs(share) >= 10 else f"{share:+.1f}%"
    else:
        text = f"{'+' if change > 0 else ''}{byte_text(change)}"
    return text.replace("-", "−"), "ok" if change < 0 else "changed"


def _what(now: Snapshot, before: Snapshot | None) -> str:
    if before is None:
        return f"{now.messages:,} message{'' if now.messages == 1 else 's'}"
    change = now.messages - before.messages
    if not change:
        return f"still {count_text(now.messages, 'message')}"
    return f"{abs(change):,} message{'' if abs(change) == 1 else 's'} {'more' if change > 0 else 'fewer'}"


# The badges of the entries of a history: operations, and what the history itself does.


_BADGES = {
    "": Badge("Uploaded", "upload", "quiet"),
    "copy": Badge("Branched", "share", "open"),
    "restore": Badge("Restored", "restore", "open"),
    "merge": Badge("Merged", "compact", "changed"),
    "purge": Badge("Purged", "purge", "removed"),
    **{operation.name: operation.badge for operation in OPERATIONS},
}


def badge_of(name: str) -> Badge:
    """Return the badge of a stored step; one of an operation that this edition no longer has gets a plain one."""
    return _BADGES.get(name) or Badge(name.capitalize(), "settings", "changed")


# What a step did, as its snapshot keeps it: its name, its warnings, and the report of its operation.


EDIT_WORDS = {
    "text": "Text of", "role": "Role of", "name": "Tool name in", "arguments": "Arguments of", "result": "Result in",
    "call_id": "Call id in", "insert": "Insert at", "delete": "Delete", "move_up": "Move up", "move_down": "Move down",
    "split": "Split", "merge": "Merge", "append_human": "Append a human message", "append": "Append",
    "add_event": "Add event", "answer": "Answer", "add_part": "Add a part to",
    "image": "Image of", "import_state": "Import a state",
}  # fmt: skip
UNCHANGED = ("left", "keep", "stays")
"""The first words of actions for things that were not changed."""
ROWS_SHOWN = 200
"""The most rows of a report on the page."""

ReportRow = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class StepReport:
    badge: Badge
    name: str
    options: tuple[tuple[str, str], ...]
    warnings: tuple[str, ...]
    rows: tuple[ReportRow, ...]
    more: int
    """The number of further rows."""


def report_of(step: Snapshot) -> StepReport:
    report = decisions_in(unpack(step.report))
    options = tuple((name, _option_text(value)) for name, value in unpack(step.options).items())
    name, _ = describe_step(step)
    shown = tuple({**row, "action": FIX_LABELS.get(row["action"], row["action"])} for row in report[:ROWS_SHOWN])
    return StepReport(badge_of(step.operation), name, options, warnings_in(unpack(step.report)), shown, len(report) - len(shown))


def _option_text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False) if isinstance(value, dict) else str(value)


def describe_step(step: Snapshot) -> tuple[str, str]:
    """Return the name of a step and a summary of it."""
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
    """Return the number of rows as text. Repairs are counted in fixes, redactions as on the Redact page, all other
    steps in the nodes that they changed."""
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
    """Return warnings about the step, such as what a conversion leaves out."""
    return tuple(str(row["reason"]) for row in report if row.get("action") == WARNING)
