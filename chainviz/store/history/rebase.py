"""Repeats steps of a draft on another content, where both sides changed different pairs: on a newer head, or behind a step
that was replaced."""

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
    taken = [step.snapshot for step in steps(draft)[: draft.cursor]]
    repeated = _repeated(draft.base.snapshot, head.snapshot, taken)
    draft.steps.all().delete()
    _add(draft, 0, repeated)
    draft.base, draft.cursor = head, len(repeated)
    draft.save(update_fields=["base", "cursor", "updated"])
    return draft


def repeat_behind(draft: Draft, replaced: Snapshot, later: Sequence[Snapshot]) -> None:
    """Repeats the steps `later`, which came behind `replaced`, behind the draft's last step, which came in its place. Raises
    Overlap, and changes nothing, where one of them changed the same pairs as either."""
    last = steps(draft)[draft.cursor - 1].snapshot
    repeated = _repeated(replaced, last, later)
    _add(draft, draft.cursor, repeated)
    draft.cursor += len(repeated)
    draft.save(update_fields=["cursor", "updated"])


def _add(draft: Draft, first: int, snapshots: Sequence[Snapshot]) -> None:
    Step.objects.bulk_create(Step(draft=draft, position=i, snapshot=one) for i, one in enumerate(snapshots, first))


def _repeated(base: Snapshot, head: Snapshot, taken: Sequence[Snapshot]) -> list[Snapshot]:
    """Returns what the snapshots `taken`, made from `base`, are when made from `head`."""
    old = pieces_of(base)
    theirs = differences(old, pieces_of(head))
    ours = [differences(old, pieces_of(snapshot)) for snapshot in taken]
    _refuse_overlap(StoredChain(base).outline, theirs, ours)
    parent, repeated = head, []
    for snapshot, changes in zip(taken, ours, strict=True):
        merged = sorted([*theirs, *changes], key=lambda change: (change.start, change.removed))
        parent = _repeat(parent, splice(old, merged), snapshot, base)
        repeated.append(parent)
    return repeated


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
