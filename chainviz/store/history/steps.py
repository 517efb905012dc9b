"""One step: the messages an operation made are written as a run, and a snapshot shows them in their places."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import nullcontext
from dataclasses import asdict, dataclass, is_dataclass
from itertools import islice
from typing import Any

from django.db import transaction

from chainviz.core import formats
from chainviz.core.chain.chain import Splice
from chainviz.core.chain.messages import SYSTEM, Message
from chainviz.core.documents.context import Surroundings
from chainviz.core.documents.envelope_json import to_json
from chainviz.core.documents.units import Envelope
from chainviz.core.formats.contract import Format, Style
from chainviz.store.content.chain import StoredChain
from chainviz.store.content.codec import pack_body
from chainviz.store.content.message_reader import StoredMessage, read_rows
from chainviz.store.content.runs import RunWriter
from chainviz.store.content.spans import message_digest
from chainviz.store.history.snapshots import Origin, StoredChange, following
from chainviz.store.models import Run, Snapshot, Template
from chainviz.store.outline.cache import Batch
from chainviz.store.transfer.exports import envelope_of

NEARBY = 50
"""How far a message of the same role is looked for, as a model of how the document writes."""


@dataclass(frozen=True, slots=True)
class Target:
    """Where a converted chain goes: another format, and the document around its messages."""

    format: str
    envelope: Envelope
    shell: bytes
    """What the envelope points into."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What an operation wants of a draft. Its changes come in order and do not overlap."""

    changes: Sequence[Splice]
    operation: str
    options: dict[str, Any]
    report: Sequence[Any] = ()
    target: Target | None = None
    surroundings: Surroundings | None = None
    """The same document, but what stands around its messages was written anew."""


@transaction.atomic
def take_step(parent: Snapshot, wanted: Wanted) -> Snapshot:
    return write_step(parent, wanted, new_run(parent, wanted))()


def new_run(parent: Snapshot, wanted: Wanted) -> Run:
    return Run.objects.create(
        history_id=parent.history_id,
        kind=Run.EDIT,
        format=wanted.target.format if wanted.target is not None else parent.format,
        upload_id=parent.template.run.upload_id if parent.template is not None else None,
    )


def write_step(parent: Snapshot, wanted: Wanted, run: Run, batch: Batch = nullcontext) -> Callable[[], Snapshot]:
    """Writes all that nobody sees; what it gives makes the snapshot that shows it, which is quick. `batch` makes the
    transactions."""
    target = wanted.target
    writer = RunWriter(run, batch)
    stylist = _Stylist(StoredChain(parent), formats.get_format(run.format), target)
    outline = stylist.chain.outline
    gone = (piece for one in wanted.changes for piece in outline.pieces(one.start, one.start + one.removed))
    removed = read_rows(gone) if target is None else iter(())
    stored = [change for one in wanted.changes for change in _stored(one, islice(removed, one.removed), writer, stylist)]
    writer.flush()
    after = following(parent, stored, batch)
    origin = Origin(wanted.operation, wanted.options, [_plain(row) for row in wanted.report])

    def show() -> Snapshot:
        around = target or wanted.surroundings
        template = None
        if around is not None:
            envelope = pack_body(to_json(around.envelope).encode())
            template = Template.objects.create(run=run, envelope=envelope, shell=around.shell, starts=writer.starts)
        return after.show(origin, format=run.format, template=template)

    return show


def _plain(row: Any) -> Any:
    return asdict(row) if is_dataclass(row) and not isinstance(row, type) else row


def _stored(splice: Splice, rows: Iterable[StoredMessage], writer: RunWriter, stylist: _Stylist) -> list[StoredChange]:
    """The splice with its messages written, without what it leaves as it was at both ends."""
    removed = list(rows)
    messages = [stylist.written(message, splice.start, i) for i, message in enumerate(splice.messages)]
    head, tail = _same_ends(removed, messages)
    start, gone = splice.start + head, splice.removed - head - tail
    messages = messages[head : len(messages) - tail]
    if not gone and not messages:
        return []
    before = writer.stored
    placed = tuple(writer.add(message) for message in messages)
    return [StoredChange(start, gone, placed, writer.stored - before)]


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

    def __init__(self, chain: StoredChain, format: Format, target: Target | None) -> None:
        self.chain = chain
        self.target = target
        self._format = format
        self._envelope = target.envelope if target is not None else envelope_of(chain.snapshot)
        self._near: dict[tuple[str, int], str] = {}

    def written(self, message: Message, start: int, offset: int) -> Message:
        """`message` as the format spells it when it stands `offset` behind `start`, and as it will be read again: a format
        may have no place for all of it."""
        own = message.source[0].text if message.source and self.target is None else ""
        near = own or self._nearest(message.role, start)
        slot = self._has_slot(message, start + offset)
        return self._format.message(message.role, self._format.write(message, Style(near, near.isascii(), slot, start + offset)))

    def _has_slot(self, message: Message, index: int) -> bool:
        envelope = self._envelope
        if message.role != SYSTEM or not envelope.slot_key or not envelope.inside:
            return False
        if index == 0:
            return True
        before = self.chain.rows(0, min(index, NEARBY)) if self.target is None else []
        return envelope.slot is None and all(row.shape.role == SYSTEM for row in before)

    def _nearest(self, role: str, start: int) -> str:
        """Source of the nearest message of the role; the beginning of the chain has one of each, as a rule."""
        if self.target is not None:
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
