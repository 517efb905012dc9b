"""The steps of a draft: for its page, with the changes of long steps in groups, and for the strip below the chain in the explorer.

Steps and changes are read from the reports of the steps, without a comparison. The strip has the size of the change, and the buttons to
save or discard the draft.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse

from chainviz.chains.verdicts import structure_text
from chainviz.chains.versions.history import ReportRow, badge_of, changed_rows, describe_step, nodes_of, warnings_in
from chainviz.core.chain.paths import Path, parse_path
from chainviz.core.counts import count_text
from chainviz.core.operations.compact.operation import REMOVED
from chainviz.core.operations.contract import Badge
from chainviz.core.operations.repair import CHOICES
from chainviz.drafts.models import Draft
from chainviz.drafts.operations.operation_page import change_address
from chainviz.drafts.operations.presets import cached
from chainviz.drafts.stored_draft import Steps, snapshot_of, steps_of
from chainviz.store.content.chain import StoredChain
from chainviz.store.content.codec import unpack
from chainviz.store.models import Snapshot, Step
from chainviz.store.outline.build import outline_of
from chainviz.web.formatting import byte_text

MOST_ONE_BY_ONE = 200
"""More changes than this are shown in groups first."""
ADDING = ("insert", "append", "append_human", "add_event")
"""Edits that add a message."""
SHORT = 4_000
"""The largest packed report, in bytes, that is read for each page instead of being cached."""


@dataclass(frozen=True, slots=True)
class StepRow:
    name: str
    detail: str
    sizes: str
    badge: Badge
    is_undone: bool
    change_href: str
    """The address of the step's choices; "" if they cannot be changed."""
    warnings: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ChangeGroup:
    """Similar changes of one step."""

    badge: Badge
    text: str
    sizes: str


@dataclass(frozen=True, slots=True)
class StepReading:
    """The facts of one step on the pages of a draft."""

    name: str
    detail: str
    warnings: tuple[str, ...]
    changes: int
    """The number of rows in its report. Several rows may concern one node."""
    nodes: frozenset[Path]
    others: int
    """The number of nodes without a row: those after the first of a removed range, and messages that an edit added."""
    groups: tuple[ChangeGroup, ...]


def read_step(step: Snapshot) -> StepReading:
    """Read a step for a page of the draft. Long reports are cached, because every page reads them."""
    if len(step.report) <= SHORT:
        return _reading(step)
    return cached(StoredChain(step), "report", lambda: _reading(step))


def _reading(step: Snapshot) -> StepReading:
    report = unpack(step.report)
    rows = changed_rows(report)
    added = [row for row in report if step.operation == "edit" and row.get("action") in ADDING]
    nodes = nodes_of(row for row in rows if row not in added)
    others = len(added) + sum(_removed_behind(step, row) for row in rows if row.get("until") and row["action"] == REMOVED)
    groups = tuple(_groups(badge_of(step.operation), rows))
    return StepReading(*describe_step(step), warnings_in(report), len(rows), nodes, others, groups)


def _removed_behind(step: Snapshot, row: ReportRow) -> int:
    """Return the number of nodes after the first in a removed range. A rewritten range counts as a single change."""
    assert step.parent is not None
    outline = StoredChain(step.parent).outline
    first, last = (outline.row_of_message(outline.span(parse_path(str(row[name]))).start) for name in ("path", "until"))
    return last - first


def changed_nodes(steps: Iterable[Snapshot]) -> int:
    """Return the number of changed nodes. A node with several changes counts once."""
    readings = [read_step(each) for each in steps]
    return len(frozenset[Path]().union(*(each.nodes for each in readings))) + sum(each.others for each in readings)


def nodes_text(count: int) -> str:
    return f"{count_text(count, 'node')} changed"


def step_rows(draft: Draft, base: Snapshot, steps: Steps) -> Iterator[StepRow]:
    before = base.size
    for i, step in enumerate(steps.all):
        snapshot, reading = step.snapshot, read_step(step.snapshot)
        change = snapshot.size - before
        sizes = "same size" if not change else f"{'+' if change > 0 else ''}{byte_text(change)}"
        said = reading.name, reading.detail, sizes, badge_of(snapshot.operation)
        yield StepRow(*said, i >= steps.cursor, change_address(draft, steps, i), reading.warnings)
        before = snapshot.size


def change_groups(steps: Steps) -> tuple[ChangeGroup, ...]:
    """Return the changes of all steps up to the cursor in groups; () if they are few enough to be shown one by one."""
    readings = [read_step(step.snapshot) for step in steps.all[: steps.cursor]]
    if sum(reading.changes for reading in readings) <= MOST_ONE_BY_ONE:
        return ()
    return tuple(group for reading in readings for group in reading.groups)


def _groups(badge: Badge, rows: Sequence[ReportRow]) -> Iterator[ChangeGroup]:
    alike: dict[tuple[str, str], list[ReportRow]] = defaultdict(list)
    for row in rows:
        alike[row["action"], row.get("kind", "")].append(row)
    for (action, kind), found in alike.items():
        fix, _ = CHOICES.get(action, ("", ""))
        what = count_text(len(found), "fix", "fixes") if fix else count_text(len(found), kind or "change")
        text = f"{fix}: {what}" if fix else f"{what} {badge.text.lower()}"
        before, after = (sum(row[name] for row in found) for name in ("bytes_before", "bytes_after"))
        yield ChangeGroup(badge, text, f"{byte_text(before)} → {byte_text(after)}" if before != after else "same size")


@dataclass(frozen=True, slots=True)
class Strip:
    draft: Draft
    base_url: str
    """The address of the draft in the explorer."""
    rows: tuple[StepRow, ...]
    steps_text: str
    nodes: str
    """The number of nodes that its steps changed, in words."""
    sizes: str
    problems: str
    can_undo: bool
    can_redo: bool
    next_number: int
    newer: int
    """The number of the newest version; 0 if it is the base of the draft."""
    note: str
    said: str = ""
    """A sentence about the last action."""
    path: str = ""
    """The node of the last action."""


def draft_strip(draft: Draft, said: str = "", path: str = "") -> Strip:
    base, steps, now = draft.stored.base.snapshot, steps_of(draft), snapshot_of(draft)
    return Strip(
        draft=draft,
        base_url=reverse("drafts:explore_version", args=[draft.chain_id, draft.pk]),
        rows=tuple(step_rows(draft, base, steps)),
        steps_text=count_text(steps.cursor, "step"),
        nodes=nodes_text(changed_nodes(steps.snapshots)),
        sizes=_sizes(base.size, now.size),
        problems=_problems(base, now),
        can_undo=steps.can_undo,
        can_redo=steps.can_redo,
        next_number=draft.chain.version + 1,
        newer=draft.chain.version if draft.chain.version != draft.base else 0,
        note=draft.stored.note,
        said=said,
        path=path,
    )


def _sizes(before: int, after: int) -> str:
    texts = dict.fromkeys((byte_text(before), byte_text(after)))
    return " → ".join(texts)


def _problems(before: Snapshot, after: Snapshot) -> str:
    found = [outline.errors + outline.warnings for outline in map(outline_of, (before, after))]
    text = structure_text(found[1])
    return f"{found[0]:,} → {text}" if found[0] not in (0, found[1]) and found[1] else text


def strip_answer(request: HttpRequest, draft: Draft, said: str, path: str) -> HttpResponse:
    """Return the fragment that answers a change in the explorer."""
    return render(request, "drafts/preview/_strip.html", {"strip": draft_strip(draft, said, path)})


def step_answer(request: HttpRequest, draft: Draft, word: str, step: Step | None) -> HttpResponse:
    """Return a sentence about an undo or redo. `step` is the step that was undone or redone."""
    if step is None:
        return strip_answer(request, draft, f"Nothing to {word}.", "")
    name, _ = describe_step(step.snapshot)
    rows = changed_rows(unpack(step.snapshot.report))
    return strip_answer(request, draft, f"{word.capitalize()}: {name}.", str(rows[0]["path"]) if rows else "")
