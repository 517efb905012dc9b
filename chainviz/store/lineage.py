"""Trace messages through versions: find the steps that led to a snapshot, and the messages that each step replaced.

A snapshot names the run that its step wrote (Snapshot.run), so the run of a message identifies its step. A step stores no list of
replaced messages; they are derived from the removed and added ones. A message with the same content was moved. Otherwise messages
of one role correspond in order, or by the ids of tool calls. If only a few messages were removed, as in a merge or split, any of them
may be the predecessor.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from chainviz.core.chain.messages import Message
from chainviz.core.chain.paths import Path, parse_path
from chainviz.core.errors import Refused
from chainviz.core.operations.redact import REDACT, redacted_parts
from chainviz.core.operations.redact.decision_matrix import Place
from chainviz.core.operations.summarize import SUMMARIZE
from chainviz.store.content.chain import StoredChain, chain_of
from chainviz.store.content.codec import unpack
from chainviz.store.content.message_reader import BodyReader, StoredMessage, pieces_of, read_rows
from chainviz.store.content.pieces import Piece, PieceSplice, Places, cut, differences, total, unpack_splices
from chainviz.store.models import Snapshot, Version

COPY = "copy"
"""The operation of a snapshot that was copied from another chain."""
GONE = "The chain that this one was copied from was deleted, and its list of removed content with it. Export this chain alone."
MOST_STEPS = 60
"""The number of steps through which a message is followed back."""
FEW = 8


# steps


def ancestors(snapshot: Snapshot) -> dict[int, str]:
    """Return the operation of the snapshot and of each ancestor by key, newest first. Takes one query."""
    earlier = Snapshot.objects.filter(history=snapshot.history_id, pk__lte=snapshot.pk)
    known = {pk: (parent, operation) for pk, parent, operation in earlier.values_list("pk", "parent_id", "operation")}
    found: dict[int, str] = {}
    at: int | None = snapshot.pk
    while at is not None:
        parent, found[at] = known[at]
        at = parent
    return found


def steps_of(snapshot: Snapshot, operations: Collection[str]) -> Iterator[Snapshot]:
    """Yield the steps of these operations that led to the snapshot, including those in the chain that it was copied from. Raises Refused
    if such a step belongs to a deleted chain."""
    before = ancestors(snapshot)
    wanted = [key for key, operation in before.items() if operation in operations]
    yield from Snapshot.objects.select_related("parent__template__run", "template__run").filter(pk__in=wanted)
    root, operation = list(before.items())[-1]
    if operation != COPY:
        return
    copied = _options(root)
    if not set(operations) & set(copied.get("operations", ())):
        return
    origin = Snapshot.objects.filter(pk=copied["of"]).first()
    if origin is None:
        raise Refused(GONE)
    yield from steps_of(origin, operations)


def copy_options(old: Snapshot) -> dict[str, object]:
    """Return the options that a copy stores about its origin: the snapshot, and the operations that led to it."""
    before = ancestors(old)
    operations = set(before.values())
    if COPY in operations:
        operations |= set(_options(list(before)[-1]).get("operations", ()))
    return {"of": old.pk, "operations": sorted(operations - {COPY, ""})}


def _options(key: int) -> dict[str, Any]:
    options: dict[str, Any] = unpack(Snapshot.objects.values_list("options", flat=True).get(pk=key))
    return options


def rewritten_messages(step: Snapshot) -> list[tuple[Message, Message]]:
    """Return each message that a step replaced with another, as (before, after)."""
    assert step.parent is not None
    found: list[tuple[Message, Message]] = []
    bodies, old = BodyReader(), pieces_of(step.parent)
    for change in differences(old, pieces_of(step)):
        before = bodies.messages(list(read_rows(cut(old, change.start, change.start + change.removed))))
        found += zip(before, bodies.messages(list(read_rows(change.pieces))), strict=False)
    return found


# messages


def origins(snapshot: Snapshot, message: StoredMessage) -> Iterator[StoredMessage]:
    """Yield the message, then the earlier messages that it replaced, newest first."""
    seen = {message.piece}
    waiting = [(snapshot, message)]
    for _ in range(MOST_STEPS):
        if not waiting:
            return
        at, found = waiting.pop(0)
        yield found
        step = _step_of(at, found.run)
        if step is None or step.parent is None:
            continue
        for before in _replaced(step, found):
            if before.piece not in seen:
                seen.add(before.piece)
                waiting.append((step.parent, before))


def _step_of(snapshot: Snapshot, run: int) -> Snapshot | None:
    """Return the ancestor whose step wrote the run. After a rebase, several snapshots have the same run."""
    writers = list(Snapshot.objects.select_related("parent").filter(history=snapshot.history_id, run=run))
    if len(writers) > 1:
        before = ancestors(snapshot)
        writers = [writer for writer in writers if writer.pk in before]
    return writers[0] if writers else None


def _replaced(step: Snapshot, message: StoredMessage) -> Sequence[StoredMessage]:
    """Return the messages that a message of the step replaced."""
    return Counterparts([(after, before) for before, after in _changes(step)]).of(message)


Rows = list[StoredMessage]


def _changes(step: Snapshot) -> list[tuple[Rows, Rows]]:
    """Return the messages that each change of the step removed and added."""
    assert step.parent is not None
    return changes_between(step.parent, step)


def changes_between(old: Snapshot, new: Snapshot) -> list[tuple[Rows, Rows]]:
    before = pieces_of(old)
    return [
        (list(read_rows(cut(before, change.start, change.start + change.removed))), list(read_rows(change.pieces)))
        for change in differences(before, pieces_of(new))
    ]


def written_messages(old: Snapshot, new: Snapshot) -> tuple[range, ...]:
    """Return the ranges of changed, added or moved messages in `new`."""
    return _written(pieces_of(old), pieces_of(new))


@lru_cache(maxsize=8)
def _written(old: tuple[Piece, ...], new: tuple[Piece, ...]) -> tuple[range, ...]:
    """Cached for the windows of a draft, because 16,000 changes take 0.13 s."""
    found: list[range] = []
    shift = 0
    for change in differences(old, new):
        added, start = total(change.pieces), change.start + shift
        shift += added - change.removed
        if added:
            found.append(range(start, start + added))
    return tuple(found)


class Counterparts:
    """Finds the counterparts of messages on the other side of a step. Each of `changes` has the messages' own side first."""

    def __init__(self, changes: Sequence[tuple[Rows, Rows]]) -> None:
        self._changes = changes
        self._same: dict[bytes, StoredMessage] = {}
        self._change: dict[Piece, int] = {}
        for number, (own, others) in enumerate(changes):
            self._change |= {row.piece: number for row in own}
            for row in others:
                self._same.setdefault(row.digest, row)
        self._beside: dict[tuple[int, str], _Beside] = {}

    def of(self, message: StoredMessage) -> Sequence[StoredMessage]:
        same = self._same.get(message.digest)
        if same is not None:
            return [same]
        number = self._change.get(message.piece)
        if number is None:
            return []
        key = number, message.shape.role
        if key not in self._beside:
            self._beside[key] = _Beside(*self._changes[number], message.shape.role)
        return self._beside[key].of(message)


class _Beside:
    """The messages of one role on both sides of a change."""

    def __init__(self, own: Rows, others: Rows, role: str) -> None:
        mine, theirs = {row.digest for row in own}, {row.digest for row in others}
        own = [row for row in own if row.digest not in theirs]
        self.others = [row for row in others if row.digest not in mine]
        if any(row.shape.role == role for row in self.others):
            own = [row for row in own if row.shape.role == role]
            self.others = [row for row in self.others if row.shape.role == role]
        self.paired: dict[Piece, StoredMessage] | None = None
        if len(own) == len(self.others):
            self.paired = {one.piece: other for one, other in zip(own, self.others, strict=True)}

    def of(self, message: StoredMessage) -> Sequence[StoredMessage]:
        if self.paired is not None:
            return [self.paired[message.piece]] if message.piece in self.paired else []
        if len(self.others) <= FEW:
            return self.others
        ids = {call.id for call in (*message.shape.calls, *message.shape.results)}
        return [row for row in self.others if ids & {call.id for call in (*row.shape.calls, *row.shape.results)}]


def same_node(old: StoredChain, new: StoredChain, path: Path) -> Path | None:
    """Return the path in `new` of a node of `old`, found by its first message; None if that message was changed or removed."""
    first = first_message(old, path)
    return _path_at(new, Places(pieces_of(new.snapshot)).index(*first.piece[:2]), path) if first is not None else None


def followed_node(old: StoredChain, steps: Sequence[Snapshot], path: Path) -> Path | None:
    """Return the path of a node of `old`, or of its replacement, after some steps of a draft; None if it was removed."""
    first, chain = first_message(old, path), old
    index = old.span(Path(path.section, path.pair, path.message)).start if first is not None else -1
    for step in steps:
        after, changes = chain_of(step), _changes_of(step)
        if first is not None and step is steps[-1] and _is_swap(changes, index):
            return _path_at(after, index, Path(path.section, path.pair, path.message))
        if first is not None and (index := _index_after(changes, first, index)) < 0:
            rows = [(list(chain.rows(c.start, c.start + c.removed)), list(after.rows_in(c.pieces))) for c in changes]
            first = next(iter(Counterparts(rows).of(first)), None)
            index = _index_after(changes, first, index) if first is not None else -1
            path = Path(path.section, path.pair, path.message)
        chain = after
    return _path_at(chain, index, path)


def _is_swap(changes: Sequence[PieceSplice], index: int) -> bool:
    """Return True if the only change replaces the message at `index` by one message, which takes its place and need not be read."""
    return [(change.start, change.removed, total(change.pieces)) for change in changes] == [(index, 1, 1)]


def _changes_of(step: Snapshot) -> Sequence[PieceSplice]:
    """Return the changes that a step made to its parent."""
    if step.key_id is not None:
        return unpack_splices(step.pieces)
    return differences(pieces_of(step.parent), pieces_of(step)) if step.parent is not None else ()


def _index_after(changes: Sequence[PieceSplice], message: StoredMessage, index: int) -> int:
    """Return the index of a message after a step, given its `index` before the step; -1 if the step removed the message."""
    shift, own, is_gone = 0, 0, index < 0
    for change in changes:
        place = Places(change.pieces).index(message.run, message.position)
        if place >= 0:
            return change.start + shift + place
        is_gone = is_gone or change.start <= index < change.start + change.removed
        shift += total(change.pieces) - change.removed
        if change.start <= index:
            own = shift
    return -1 if is_gone else index + own


def steps_between(old: Snapshot, new: Snapshot) -> list[Snapshot]:
    """Return the steps that led from one snapshot to another, oldest first."""
    keys = list(ancestors(new))
    between = keys[: keys.index(old.pk)] if old.pk in keys else []
    return list(Snapshot.objects.select_related("parent").filter(pk__in=between).order_by("pk"))


def _path_at(chain: StoredChain, index: int, path: Path) -> Path | None:
    """Return the path of a message; if `path` is a section or pair, the path of the section or pair that begins with the message."""
    if index < 0:
        return None
    found = chain.outline.path_at(index)
    if path.pair is None:
        return Path(found.section)
    if path.message is None and found.pair:
        return Path(found.section, found.pair)
    return Path(found.section, found.pair, found.message, path.part)


def first_message(chain: StoredChain, path: Path) -> StoredMessage | None:
    if not len(chain):
        return None
    start = chain.span(Path(path.section, path.pair, path.message)).start
    return next(iter(chain.rows(start, start + 1)), None)


# reports of steps


@dataclass(frozen=True, slots=True)
class Replacement:
    """The nodes that a summary replaced, according to the report of its step."""

    step: Snapshot
    """The snapshot with the summary in it."""
    repeated: tuple[Snapshot, ...]
    """The same step on newer versions, after rebases of its draft."""
    first: Path
    last: Path
    """The replaced nodes are `first` to `last`, in the parent of the step."""
    reason: str
    before: int
    after: int
    """Bytes."""

    @property
    def old(self) -> StoredChain:
        assert self.step.parent is not None
        return StoredChain(self.step.parent)


def replacement_of(chain: StoredChain, path: Path) -> Replacement | None:
    """Return the nodes that a summary replaced, even if the summary was moved or changed since; None if the node is not a summary that was
    made in this chain."""
    steps = chain.summaries
    first = first_message(chain, path) if steps else None
    for message in origins(chain.snapshot, first) if first is not None else ():
        named = [step for step in steps if step.run_id == message.run]
        found = _reported(named, message) if named else None
        if found is not None:
            return found
    return None


def _reported(steps: Sequence[Snapshot], message: StoredMessage) -> Replacement | None:
    """Read the rows of the report about a message. A summary of several texts has several rows."""
    step = steps[0]  # the report names nodes of its parent
    index = Places(pieces_of(step)).index(message.run, message.position)
    if index < 0:
        return None
    becomes = str(StoredChain(step).outline.path_at(index).node)
    rows = [row for row in unpack(step.report) if row.get("action") == SUMMARIZE.name and row.get("becomes") == becomes]
    if not rows:
        return None
    return Replacement(
        step,
        tuple(steps[1:]),
        parse_path(rows[0]["path"]),
        parse_path(rows[-1].get("until") or rows[-1]["path"]),
        rows[0]["reason"],
        sum(row["bytes_before"] for row in rows),
        sum(row["bytes_after"] for row in rows),
    )


def first_version_with(steps: Sequence[Snapshot]) -> Version | None:
    """Return the first version after one of these steps; None if they belong only to drafts."""
    for step in steps:
        later = Snapshot.objects.filter(history=step.history_id, pk__gte=step.pk)
        parents = dict(later.values_list("pk", "parent"))
        for version in Version.objects.filter(history=step.history_id, snapshot__gte=step.pk).order_by("number"):
            at: int | None = version.snapshot_id
            while at is not None and at > step.pk:
                at = parents.get(at)
            if at == step.pk:
                return version
    return None


def last_version_before(step: Snapshot) -> Version | None:
    """Return the newest version at or before the parent of the step."""
    earlier = Version.objects.filter(history=step.history_id, snapshot__lt=step.pk)
    numbers = dict(earlier.order_by("-number").values_list("snapshot", "pk"))
    found = next((numbers[key] for key in ancestors(step) if key in numbers), None)
    return Version.objects.select_related("snapshot").get(pk=found) if found is not None else None


def redacted_places(chain: StoredChain) -> frozenset[Place]:
    """Return the parts that a redaction wrote, as (message, part), except in messages that a later step rewrote.

    They are read from the reports of the steps, because no provider's format can mark a redacted part. Takes one query for a chain that
    was never redacted.
    """
    steps = Snapshot.objects.filter(history=chain.snapshot.history_id, operation=REDACT.name)
    reports = {run: redacted_parts(unpack(report)) for run, report in steps.values_list("run", "report")}
    if not reports:
        return frozenset()
    found = set()
    place = 0
    for run, start, length in pieces_of(chain.snapshot):
        messages = reports.get(run, [])
        for position in range(start, min(start + length, len(messages))):
            found |= {(place + position - start, part) for part in messages[position]}
        place += length
    return frozenset(found)
