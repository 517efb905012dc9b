"""The steps that led to a snapshot, also those of the chain it was copied from."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from chainviz.core.chain.messages import Message
from chainviz.core.errors import Refused
from chainviz.store.content.codec import unpack
from chainviz.store.content.message_reader import BodyReader, pieces_of, read_rows
from chainviz.store.content.pieces import cut, differences
from chainviz.store.models import Snapshot

COPY = "copy"
GONE = "The chain this one was copied from is gone, and with it what was taken out there. Take out this chain alone."


def operations_before(snapshot: Snapshot) -> list[tuple[int, str]]:
    """(key, operation) of the snapshot and of its ancestors in its history, newest first. One query."""
    earlier = Snapshot.objects.filter(history=snapshot.history_id, pk__lte=snapshot.pk)
    known = {pk: (parent, operation) for pk, parent, operation in earlier.values_list("pk", "parent_id", "operation")}
    found: list[tuple[int, str]] = []
    at: int | None = snapshot.pk
    while at is not None:
        parent, operation = known[at]
        found.append((at, operation))
        at = parent
    return found


def steps_of(snapshot: Snapshot, operations: Collection[str]) -> Iterator[Snapshot]:
    """Those of these operations. Refused where one was done in a chain that is gone."""
    before = operations_before(snapshot)
    wanted = [key for key, operation in before if operation in operations]
    yield from Snapshot.objects.select_related("parent__template__run", "template__run").filter(pk__in=wanted)
    root, operation = before[-1]
    if operation != COPY:
        return
    told = unpack(Snapshot.objects.values_list("options", flat=True).get(pk=root))
    if not set(operations) & set(told.get("operations", ())):
        return
    origin = Snapshot.objects.filter(pk=told["of"]).first()
    if origin is None:
        raise Refused(GONE)
    yield from steps_of(origin, operations)


def copy_options(old: Snapshot) -> dict[str, object]:
    """What a copy keeps of where it comes from."""
    operations = {operation for _, operation in operations_before(old)}
    if COPY in operations:
        root = operations_before(old)[-1][0]
        operations |= set(unpack(Snapshot.objects.values_list("options", flat=True).get(pk=root)).get("operations", ()))
    return {"of": old.pk, "operations": sorted(operations - {COPY, ""})}


def replaced(step: Snapshot) -> list[tuple[Message, Message]]:
    """Each message that a step wrote anew, as it was before and as it is since."""
    assert step.parent is not None
    found: list[tuple[Message, Message]] = []
    bodies, old = BodyReader(), pieces_of(step.parent)
    for change in differences(old, pieces_of(step)):
        before = bodies.messages(list(read_rows(cut(old, change.start, change.start + change.removed))))
        found += zip(before, bodies.messages(list(read_rows(change.pieces))), strict=False)
    return found
