"""Where messages come from: what stood, before a step, in the place of the messages that this step wrote.

A step keeps no such list. It is found again from what the step took out and put in: the same content elsewhere is the
message that was moved; else messages of one role follow each other as before; else ids of tool calls tell, or, where
only a few messages gave way (one was merged or split), it may be any of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from chainviz.store.content.message_reader import StoredMessage, pieces_of, read_rows
from chainviz.store.content.pieces import cut, differences, runs_in
from chainviz.store.models import Run, Snapshot

MOST_STEPS = 60
"""How far back a message is followed."""
FEW = 8


def origins(snapshot: Snapshot, message: StoredMessage) -> Iterator[StoredMessage]:
    """The message, then those before it that it took the place of, newest first."""
    seen = {(message.run, message.position)}
    waiting = [(snapshot, message)]
    for _ in range(MOST_STEPS):
        if not waiting:
            return
        at, found = waiting.pop(0)
        yield found
        writer = _writer_of(at, found.run)
        if writer is None or writer.parent is None:
            continue
        for before in _before(writer.parent, writer, found):
            if (before.run, before.position) not in seen:
                seen.add((before.run, before.position))
                waiting.append((writer.parent, before))


def _writer_of(snapshot: Snapshot, run: int) -> Snapshot | None:
    """The oldest ancestor with messages of this run; None for what was imported."""
    if not Run.objects.filter(pk=run, kind=Run.EDIT).exists():
        return None
    earlier = Snapshot.objects.filter(history=snapshot.history_id, pk__lte=snapshot.pk)
    listed = earlier.values_list("pk", "parent_id", "key_id", "pieces")
    known = {pk: (parent, key, pieces) for pk, parent, key, pieces in listed}
    at: int | None = snapshot.pk
    found = 0
    while at is not None and at in known:
        parent, key, pieces = known[at]
        if run in runs_in(pieces, is_key=key is None):
            found = at
        at = parent
    return Snapshot.objects.select_related("parent").filter(pk=found).first()


def _before(parent: Snapshot, writer: Snapshot, message: StoredMessage) -> Sequence[StoredMessage]:
    old, new = pieces_of(parent), pieces_of(writer)
    removed: list[StoredMessage] = []
    gone: list[StoredMessage] = []
    put: list[StoredMessage] = []
    for change in differences(old, new):
        rows = list(read_rows(cut(old, change.start, change.start + change.removed)))
        inserted = list(read_rows(change.pieces))
        removed += rows
        if any((row.run, row.position) == (message.run, message.position) for row in inserted):
            gone, put = rows, inserted
    same = [row for row in removed if row.digest == message.digest]
    return same[:1] or _in_its_place(message, gone, put)


def _in_its_place(
    message: StoredMessage, gone: Sequence[StoredMessage], put: Sequence[StoredMessage]
) -> Sequence[StoredMessage]:
    """Among the messages of one change, those without a twin on the other side."""
    old, new = {row.digest for row in gone}, {row.digest for row in put}
    gone = [row for row in gone if row.digest not in new]
    put = [row for row in put if row.digest not in old]
    role = message.shape.role
    if any(row.shape.role == role for row in gone):
        gone = [row for row in gone if row.shape.role == role]
        put = [row for row in put if row.shape.role == role]
    if len(gone) == len(put):
        return [before for before, after in zip(gone, put, strict=True) if after.position == message.position]
    if len(gone) <= FEW:
        return gone
    ids = {call.id for call in (*message.shape.calls, *message.shape.results)}
    return [row for row in gone if ids & {call.id for call in (*row.shape.calls, *row.shape.results)}]
