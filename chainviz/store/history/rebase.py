"""Repeat the steps of a draft on other content: on a newer version, or after a step that was replaced."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from itertools import islice

from django.db import transaction

from chainviz.core import formats
from chainviz.core.diff.merge.items import Choice
from chainviz.core.documents.document_context import DocumentContext
from chainviz.core.operations.contract import Decision
from chainviz.core.state.document import is_state
from chainviz.store.content.codec import unpack
from chainviz.store.content.message_reader import BodyReader, pieces_of, read_batches
from chainviz.store.content.pieces import Piece, PieceSplice, PlacedMessage, PlacedSplice, differences, total
from chainviz.store.content.runs import RunWriter
from chainviz.store.content.spans import stored_bytes
from chainviz.store.errors import Overlap
from chainviz.store.history.drafts import current, steps
from chainviz.store.history.merge import JOINED, Choices, Conflict, SnapshotMerge
from chainviz.store.history.steps import Origin, differ_in_length_only, new_run, new_template, next_snapshot, surroundings_after
from chainviz.store.models import Draft, Run, Snapshot, Step, Template, Version
from chainviz.store.transfer.document_context import context_of

MERGE = "merge"
"""The operation of the step that takes changes of a newer version, if a person chose them over those of the draft."""
WORDS: dict[Choice, str] = {
    "mine": "version {}’s changes of other parts were kept as well",
    "theirs": "version {}’s change was chosen",
    "both": "version {}’s change was kept as well",
}


def merge_of(draft: Draft, head: Version) -> SnapshotMerge:
    return SnapshotMerge(draft.base.snapshot, current(draft), head.snapshot)


@transaction.atomic
def rebase(draft: Draft, head: Version, choices: Choices | None = None) -> Draft:
    """Return the draft on top of `head`. Its steps are repeated with their own changes. If other changes were chosen, or kept as well,
    a last step takes them, so that they can be undone. Raises Overlap, and changes nothing, if a choice is missing."""
    draft = Draft.objects.select_for_update().select_related("base__snapshot").get(pk=draft.pk)
    merge, chosen = merge_of(draft, head), choices or {}
    _refuse([each for each in merge.conflicts if not each.offers(chosen.get(each.key))])
    taken = [step.snapshot for step in steps(draft)[: draft.cursor]]
    merges = [SnapshotMerge(merge.base, snapshot, head.snapshot) for snapshot in taken[:-1]]
    repeated = _repeated(head.snapshot, [*merges, merge][: len(taken)])
    if merge.pieces(chosen) != merge.pieces() or merge.choice_around(chosen) != "mine":
        repeated.append(_merged(repeated[-1], merge, chosen, head))
    draft.steps.all().delete()
    _add(draft, 0, repeated)
    draft.base, draft.cursor = head, len(repeated)
    draft.save(update_fields=["base", "cursor", "updated"])
    return draft


def repeat_behind(draft: Draft, replaced: Snapshot, later: Sequence[Snapshot]) -> None:
    """Repeat the steps `later`, which followed `replaced`, after the draft's last step, which replaced it. Raises Overlap, and changes
    nothing, if one of them changed the same pairs as the old or the new step."""
    last = steps(draft)[draft.cursor - 1].snapshot
    merges = [SnapshotMerge(replaced, snapshot, last) for snapshot in later]
    for merge in merges:
        _refuse((*merge.conflicts, *merge.settled))
    repeated = _repeated(last, merges)
    _add(draft, draft.cursor, repeated)
    draft.cursor += len(repeated)
    draft.save(update_fields=["cursor", "updated"])


def _refuse(conflicts: Sequence[Conflict]) -> None:
    if conflicts:
        raise Overlap(tuple(each.path for each in conflicts if each.path is not None))


def _add(draft: Draft, first: int, snapshots: Sequence[Snapshot]) -> None:
    draft.steps_read = draft.last_step = None
    Step.objects.bulk_create(Step(draft=draft, position=i, snapshot=one) for i, one in enumerate(snapshots, first))


def _repeated(parent: Snapshot, merges: Sequence[SnapshotMerge]) -> list[Snapshot]:
    """Return the snapshots of the steps in `merges`, repeated after `parent`. Rows that both sides changed keep the version of the step."""
    repeated = []
    for merge in merges:
        parent = _repeat(parent, merge)
        repeated.append(parent)
    return repeated


def _repeat(parent: Snapshot, merge: SnapshotMerge) -> Snapshot:
    base, step = merge.base, merge.mine
    changes = _stored(parent, merge.pieces())
    origin = Origin(step.operation, unpack(step.options), unpack(step.report), step.run)
    format = step.format if step.template_id != base.template_id or merge.is_whole else ""
    template = step.template if merge.is_whole else _merged_template(parent, changes, merge, "mine")
    return next_snapshot(parent, changes, format=format).create(origin, format=format, template=template)


def _merged(parent: Snapshot, merge: SnapshotMerge, choices: Choices, head: Version) -> Snapshot:
    """Return the snapshot with the choices applied. `parent` is the rebased draft with my version in every conflict."""
    pieces, run = _with_joined(parent, merge.pieces(choices), merge)
    changes = _stored(parent, pieces)
    kept = [(each.path, choices[each.key]) for each in merge.conflicts if choices[each.key] != "mine" or each.keeps_other_parts]
    kept += ((each.path, "both") for each in merge.settled)
    report = [asdict(Decision(str(path or ""), choice, WORDS[choice].format(head.number))) for path, choice in kept]
    origin = Origin(MERGE, {"version": head.number}, report, run)
    around = merge.choice_around(choices)
    if around == "mine":
        return next_snapshot(parent, changes).create(origin, template=_template(parent, changes, None))
    format = merge.theirs.format if merge.is_whole else ""
    template = merge.theirs.template if merge.is_whole else _merged_template(parent, changes, merge, around)
    return next_snapshot(parent, changes, format=format).create(origin, format=format, template=template)


def _with_joined(parent: Snapshot, pieces: Sequence[Piece], merge: SnapshotMerge) -> tuple[list[Piece], Run | None]:
    """Write the messages that contain the changes of both sides. Returns the pieces with them, and their run, if there
    is one."""
    if not any(piece.run == JOINED for piece in pieces):
        return list(pieces), None
    run = new_run(parent)
    writer = RunWriter(run)
    found: list[Piece] = []
    for piece in pieces:
        if piece.run == JOINED:
            messages = merge.joined[piece.start : piece.start + piece.length]
            found += [writer.add(message).piece for message in messages]
        else:
            found.append(piece)
    writer.finish()
    return found, run


def _merged_template(parent: Snapshot, changes: Sequence[PlacedSplice], merge: SnapshotMerge, choice: Choice) -> Template | None:
    """Return the template after the merge; None for that of the parent. `choice` is the side that wins conflicts."""
    if merge.surroundings is not None and merge.surroundings.texts:
        return _template(parent, changes, merge.surroundings.context(parent, choice))
    base, side = merge.base, merge.theirs if choice == "theirs" else merge.mine
    own = side.template if side.template_id != base.template_id else None
    if side.format != base.format or not is_state(formats.get_format(side.format)):
        return own
    is_own = own is not None and not differ_in_length_only(side, base)
    return _template(parent, changes, context_of(side) if is_own else None)


def _template(parent: Snapshot, changes: Sequence[PlacedSplice], around: DocumentContext | None) -> Template | None:
    """Make a template for the new surroundings, or return None for that of the parent."""
    if is_state(formats.get_format(parent.format)):
        around = surroundings_after(parent, changes, around)
    if around is None:
        return None
    run = new_run(parent)
    RunWriter(run).finish()
    return new_template(run, around)


def _stored(parent: Snapshot, pieces: Sequence[Piece]) -> list[PlacedSplice]:
    changes = differences(pieces_of(parent), pieces)
    messages = _read(piece for change in changes for piece in change.pieces)
    return [_splice_with_places(change, messages) for change in changes]


def _read(pieces: Iterable[Piece]) -> Iterator[tuple[PlacedMessage, int]]:
    """Yield the messages, each with its size in bytes in the source."""
    bodies = BodyReader()
    for rows in read_batches(pieces):
        yield from zip(bodies.with_places(rows), (stored_bytes(row.source) for row in rows), strict=True)


def _splice_with_places(change: PieceSplice, messages: Iterator[tuple[PlacedMessage, int]]) -> PlacedSplice:
    own = list(islice(messages, total(change.pieces)))
    return PlacedSplice(change.start, change.removed, tuple(message for message, _ in own), sum(size for _, size in own))
