"""Moves a draft to a newer head: repeats its steps there, where both sides changed different pairs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from django.db import transaction

from chainviz.core import formats
from chainviz.core.chain.messages import AI, HUMAN, SYSTEM
from chainviz.core.state.processed_length import is_state
from chainviz.store.content.chain import StoredChain
from chainviz.store.content.codec import unpack
from chainviz.store.content.message_reader import BodyReader, pieces_of, read_rows
from chainviz.store.content.pieces import Piece, PieceSplice, PlacedSplice, differences, splice
from chainviz.store.content.spans import stored_bytes
from chainviz.store.errors import Overlap
from chainviz.store.history.drafts import steps
from chainviz.store.history.snapshots import Origin, next_snapshot
from chainviz.store.history.state_length import differ_in_length_only, surroundings_after
from chainviz.store.history.steps import new_run, new_template
from chainviz.store.models import Draft, Snapshot, Step, Template, Version
from chainviz.store.outline.reader import OutlineReader
from chainviz.store.transfer.document_context import context_of


@transaction.atomic
def rebase(draft: Draft, head: Version) -> Draft:
    """Returns the draft on top of `head`. Raises Overlap, and changes nothing, where both sides changed the same pairs."""
    draft = Draft.objects.select_for_update().select_related("base__snapshot").get(pk=draft.pk)
    base = pieces_of(draft.base.snapshot)
    theirs = differences(base, pieces_of(head.snapshot))
    taken = [step.snapshot for step in steps(draft)[: draft.cursor]]
    ours = [differences(base, pieces_of(snapshot)) for snapshot in taken]
    _refuse_overlap(StoredChain(draft.base.snapshot).outline, theirs, ours)
    parent = head.snapshot
    repeated = []
    for snapshot, changes in zip(taken, ours, strict=True):
        merged = sorted([*theirs, *changes], key=lambda change: (change.start, change.removed))
        parent = _repeat(parent, splice(base, merged), snapshot, draft.base.snapshot)
        repeated.append(parent)
    draft.steps.all().delete()
    Step.objects.bulk_create(Step(draft=draft, position=i, snapshot=one) for i, one in enumerate(repeated))
    draft.base, draft.cursor = head, len(repeated)
    draft.save(update_fields=["base", "cursor", "updated"])
    return draft


def overlap(draft: Draft, head: Version) -> Overlap | None:
    """Returns what `rebase` would raise, without doing it."""
    base = pieces_of(draft.base.snapshot)
    taken = [step.snapshot for step in steps(draft)[: draft.cursor]]
    ours = [differences(base, pieces_of(snapshot)) for snapshot in taken]
    try:
        theirs = differences(base, pieces_of(head.snapshot))
        _refuse_overlap(StoredChain(draft.base.snapshot).outline, theirs, ours)
    except Overlap as found:
        return found
    return None


def _repeat(parent: Snapshot, pieces: Sequence[Piece], step: Snapshot, base: Snapshot) -> Snapshot:
    changes = [_stored(change) for change in differences(pieces_of(parent), pieces)]
    origin = Origin(step.operation, unpack(step.options), unpack(step.report), step.run)
    format = step.format if step.template_id != base.template_id else ""
    template = _template(parent, changes, step, base)
    return next_snapshot(parent, changes).create(origin, format=format, template=template)


def _template(parent: Snapshot, changes: Sequence[PlacedSplice], step: Snapshot, base: Snapshot) -> Template | None:
    """None: that of the parent."""
    own = step.template if step.template_id != base.template_id else None
    if step.format != base.format or not is_state(formats.get_format(step.format)):
        return own
    is_own = own is not None and not differ_in_length_only(step, base)
    around = surroundings_after(parent, changes, context_of(step) if is_own else None)
    return new_template(new_run(parent), around) if around is not None else None


def _stored(change: PieceSplice) -> PlacedSplice:
    rows = list(read_rows(change.pieces))
    placed = BodyReader().placed(rows)
    return PlacedSplice(change.start, change.removed, tuple(placed), sum(stored_bytes(row.source) for row in rows))


def _refuse_overlap(outline: OutlineReader, theirs: list[PieceSplice], ours: list[list[PieceSplice]]) -> None:
    rows, gaps = _touched(outline, theirs)
    own = [_touched(outline, changes) for changes in ours]
    both = {row for touched, _ in own for row in touched & rows}
    both |= {_row_at(outline, gap) for _, own_gaps in own for gap in own_gaps & gaps}
    if both or (not outline.listing.total.rows and theirs and any(ours)):
        raise Overlap(tuple(outline.section_of_row(row).path_of(row) for row in sorted(both) if row >= 0))


def _touched(outline: OutlineReader, changes: Iterable[PieceSplice]) -> tuple[set[int], set[int]]:
    """Returns the changed rows, and the indexes between rows at which messages are inserted."""
    rows: set[int] = set()
    gaps: set[int] = set()
    end = outline.listing.total.messages
    for change in changes:
        if change.removed:
            first, last = (outline.row_of_message(i) for i in (change.start, change.start + change.removed - 1))
            rows |= set(range(first, last + 1))
        elif change.start < end and outline.row(row := outline.row_of_message(change.start)).start < change.start:
            rows.add(row)
        else:
            gaps.add(change.start)
            if change.start and _joins(change):
                rows.add(outline.row_of_message(change.start - 1))
    return rows, gaps


def _joins(change: PieceSplice) -> bool:
    """Whether the inserted messages continue the pair before them."""
    first = next(read_rows(change.pieces[:1]), None)
    return first is not None and first.shape.role not in (SYSTEM, HUMAN, AI)


def _row_at(outline: OutlineReader, message: int) -> int:
    last = outline.listing.total.messages - 1
    return outline.row_of_message(min(message, last)) if last >= 0 else -1
