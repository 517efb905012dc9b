"""The steps of a draft as its page shows them, and the changes of long steps in groups. Both are read from the steps'
reports: nothing is compared for them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from chainviz.chains.render.numbers import count_text
from chainviz.chains.versions.badges import badge_of
from chainviz.chains.versions.step_report import ReportRow, changed_rows, named, warnings_in
from chainviz.core.operations.contract import Badge
from chainviz.core.operations.repair import CHOICES
from chainviz.drafts.models import Draft
from chainviz.drafts.operations.replace_step import change_address
from chainviz.drafts.stored_draft import Steps
from chainviz.store.content.codec import unpack
from chainviz.store.models import Snapshot
from chainviz.web.formatting.byte_text import byte_text

MOST_ONE_BY_ONE = 200
"""More changes than this are shown in groups first."""


@dataclass(frozen=True, slots=True)
class StepRow:
    name: str
    detail: str
    sizes: str
    badge: Badge
    is_undone: bool
    change_href: str
    """The choices that made it; empty where they cannot be changed."""
    warnings: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ChangeGroup:
    """Changes of one step that are alike."""

    badge: Badge
    text: str
    sizes: str


def step_rows(draft: Draft, base: Snapshot, steps: Steps) -> Iterator[StepRow]:
    before = base.size
    for i, step in enumerate(steps.all):
        snapshot = step.snapshot
        change = snapshot.size - before
        sizes = "same size" if not change else f"{'+' if change > 0 else ''}{byte_text(change)}"
        change_href = change_address(draft, steps, i)
        badge, warnings = badge_of(snapshot.operation), warnings_in(unpack(snapshot.report))
        yield StepRow(*named(snapshot), sizes, badge, i >= steps.cursor, change_href, warnings)
        before = snapshot.size


def change_groups(steps: Steps) -> tuple[ChangeGroup, ...]:
    """Returns the changes of all steps that count, in groups; () where they are few enough to be shown one by one."""
    reports = [(step.snapshot, changed_rows(unpack(step.snapshot.report))) for step in steps.all[: steps.cursor]]
    if sum(len(rows) for _, rows in reports) <= MOST_ONE_BY_ONE:
        return ()
    return tuple(group for snapshot, rows in reports for group in _groups(badge_of(snapshot.operation), rows))


def _groups(badge: Badge, rows: Sequence[ReportRow]) -> Iterator[ChangeGroup]:
    alike: dict[tuple[str, str], list[ReportRow]] = defaultdict(list)
    for row in rows:
        alike[row["action"], row.get("kind", "")].append(row)
    for (action, kind), found in alike.items():
        fix, _ = CHOICES.get(action, ("", ""))
        text = f"{fix}: {count_text(len(found), 'place')}" if fix else f"{count_text(len(found), kind or 'change')} {badge.text.lower()}"
        before, after = (sum(row[name] for row in found) for name in ("bytes_before", "bytes_after"))
        yield ChangeGroup(badge, text, f"{byte_text(before)} → {byte_text(after)}" if before != after else "same size")
