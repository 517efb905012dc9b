"""Steps: the messages of an operation are written as a run, and a snapshot shows them in their places.

A short step is written in the transaction that adds it to its draft. A long one is written before its draft is locked, in
short transactions, so that others can write meanwhile; like an import it shows nothing until the last of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import asdict, dataclass, field, is_dataclass
from functools import partial
from itertools import islice
from typing import Any

from django.db import DatabaseError, transaction
from django.utils import timezone

from chainviz.core import formats
from chainviz.core.chain.chain import Splice
from chainviz.core.chain.messages import SYSTEM, Message
from chainviz.core.documents.context import Surroundings
from chainviz.core.documents.envelope_json import to_json
from chainviz.core.errors import Refused
from chainviz.core.formats.contract import Style
from chainviz.store.content.chain import StoredChain
from chainviz.store.content.codec import pack_body
from chainviz.store.content.message_reader import StoredMessage, read_rows
from chainviz.store.content.pieces import PlacedSplice
from chainviz.store.content.runs import Batch, RunWriter
from chainviz.store.content.spans import message_digest
from chainviz.store.history.snapshots import Origin, next_snapshot
from chainviz.store.models import Run, Snapshot, Template, Writing
from chainviz.store.transfer.document_context import envelope_of
from chainviz.store.transfer.leases import STEP_BROKEN_OFF, BrokenOff, discard_step, end_step, held_edition, step_batch

NEARBY = 50
"""How far a message of the same role is looked for, as a model of how the document writes."""
LONG = 1000
"""Messages added or removed by a long step."""
LONG_BYTES = 4 << 20
CHANGED = "The draft changed meanwhile; look at it again."


@dataclass(frozen=True, slots=True)
class NewStep:
    """What an operation does to a draft. Its changes come in order and do not overlap."""

    changes: Sequence[Splice]
    operation: str
    options: dict[str, Any] = field(default_factory=dict)
    report: Sequence[Any] = ()
    surroundings: Surroundings | None = None
    """The new document around the messages; None where it stays the same."""
    format: str = ""
    """The format a converted chain moves to, with new surroundings; "" where it stays the same."""

    @property
    def is_converted(self) -> bool:
        return bool(self.format)

    @property
    def is_long(self) -> bool:
        messages = sum(max(one.removed, len(one.messages)) for one in self.changes)
        return messages > LONG or sum(each.size for one in self.changes for each in one.messages) > LONG_BYTES


AddStep = Callable[[Snapshot], Snapshot]
"""Makes the snapshot of a step from that of its draft, which is locked."""


@contextmanager
def written_step(parent: Snapshot, edition: int, step: NewStep) -> Iterator[AddStep]:
    """Writes a step for a draft whose content is `parent`, as far as that is possible before the draft is locked. The block
    calls the yielded function in a transaction, behind its locks; otherwise, or where the block fails, nothing stays.

    `edition`: of the history when its content was read. The function raises Refused where the draft has changed.
    """
    if not step.is_long:
        yield lambda current: take_step(current, step)
        return
    with transaction.atomic():
        if held_edition(parent.history_id) != edition:
            raise BrokenOff(STEP_BROKEN_OFF)
        writing = Writing.objects.create(run=_new_run(parent, step), alive=timezone.now())
    try:
        show = _written(parent, edition, step, writing)

        def add(current: Snapshot) -> Snapshot:
            end_step(writing)
            if current.pk != parent.pk:
                raise Refused(CHANGED)
            return show()

        yield add
    except BaseException:
        # if this fails too, the sweeper clears the run away once it has been silent for long
        with suppress(DatabaseError):
            discard_step(writing)
        raise


def _written(parent: Snapshot, edition: int, step: NewStep, writing: Writing) -> Callable[[], Snapshot]:
    batch = partial(step_batch, writing, edition)
    try:
        return _write(parent, step, writing.run, batch)
    except (Refused, DatabaseError):
        raise
    except Exception as error:
        # the batch raises BrokenOff where a purge took away what was to be read
        with batch():
            raise error


@transaction.atomic
def take_step(parent: Snapshot, step: NewStep) -> Snapshot:
    return _write(parent, step, _new_run(parent, step))()


def _new_run(parent: Snapshot, step: NewStep) -> Run:
    return Run.objects.create(
        history_id=parent.history_id,
        kind=Run.EDIT,
        format=step.format or parent.format,
        upload_id=parent.template.run.upload_id if parent.template is not None else None,
    )


def _write(parent: Snapshot, step: NewStep, run: Run, batch: Batch = nullcontext) -> Callable[[], Snapshot]:
    """Writes everything that nobody sees; returns the function that makes the snapshot, which is quick. `batch` opens the
    transactions."""
    writer = RunWriter(run, batch)
    stylist = _Stylist(parent, step)
    outline = stylist.chain.outline
    gone = (piece for one in step.changes for piece in outline.pieces(one.start, one.start + one.removed))
    removed = read_rows(gone) if not step.is_converted else iter(())
    placed = [change for one in step.changes for change in _placed(one, islice(removed, one.removed), writer, stylist)]
    writer.flush()
    following = next_snapshot(parent, placed, batch)
    origin = Origin(step.operation, step.options, [_plain(row) for row in step.report], run)

    def show() -> Snapshot:
        around = step.surroundings
        template = None
        if around is not None:
            envelope = pack_body(to_json(around.envelope).encode())
            template = Template.objects.create(run=run, envelope=envelope, shell=around.shell, starts=writer.starts)
        return following.create(origin, format=run.format, template=template)

    return show


def _plain(row: Any) -> Any:
    return asdict(row) if is_dataclass(row) and not isinstance(row, type) else row


def _placed(splice: Splice, rows: Iterable[StoredMessage], writer: RunWriter, stylist: _Stylist) -> list[PlacedSplice]:
    """Writes the messages of a splice, except those at both ends that it leaves unchanged. `rows`: what it removes."""
    removed = list(rows)
    messages = [stylist.written(message, splice.start, i) for i, message in enumerate(splice.messages)]
    head, tail = _same_ends(removed, messages)
    start, gone = splice.start + head, splice.removed - head - tail
    messages = messages[head : len(messages) - tail]
    if not gone and not messages:
        return []
    before = writer.stored
    placed = tuple(writer.add(message) for message in messages)
    return [PlacedSplice(start, gone, placed, writer.stored - before)]


def _same_ends(removed: Sequence[StoredMessage], messages: Sequence[Message]) -> tuple[int, int]:
    most = min(len(removed), len(messages))
    head = 0
    while head < most and removed[head].digest == message_digest(messages[head]):
        head += 1
    tail = 0
    while tail < most - head and removed[-1 - tail].digest == message_digest(messages[-1 - tail]):
        tail += 1
    return head, tail


class _Stylist:
    """Writes messages the way their neighbours are written."""

    def __init__(self, parent: Snapshot, step: NewStep) -> None:
        self.chain = StoredChain(parent)
        self._is_converted = step.is_converted
        self._format = formats.get_format(step.format or parent.format)
        self._envelope = step.surroundings.envelope if step.surroundings is not None else envelope_of(parent)
        self._near: dict[tuple[str, int], str] = {}

    def written(self, message: Message, start: int, offset: int) -> Message:
        """Returns `message` as the format spells it `offset` messages behind `start`, and as it will be read again: a format
        may not have room for all of it."""
        own = message.source[0].text if message.source and not self._is_converted else ""
        near = own or self._nearest(message.role, start)
        slot = self._has_slot(message, start + offset)
        style = Style(near, near.isascii(), slot, start + offset)
        return self._format.message(message.role, self._format.write(message, style))

    def _has_slot(self, message: Message, index: int) -> bool:
        envelope = self._envelope
        if message.role != SYSTEM or not envelope.slot_key or not envelope.inside:
            return False
        if index == 0:
            return True
        before = self.chain.rows(0, min(index, NEARBY)) if not self._is_converted else []
        return envelope.slot is None and all(row.shape.role == SYSTEM for row in before)

    def _nearest(self, role: str, start: int) -> str:
        """Returns the source of a near message of the role, or of the first one of the role in the chain's beginning."""
        if self._is_converted:
            return ""
        key = (role, start // NEARBY)
        if key not in self._near:
            around = list(self.chain.rows(start - NEARBY, start + NEARBY))
            place = min(start, NEARBY)
            order = sorted(range(len(around)), key=lambda i: abs(i - place))
            found = next((around[i] for i in order if around[i].shape.role == role), None)
            if found is None:
                found = next((row for row in self.chain.rows(0, NEARBY) if row.shape.role == role), None)
            self._near[key] = self.chain.bodies.sources([found])[0][0].text if found is not None else ""
        return self._near[key]
