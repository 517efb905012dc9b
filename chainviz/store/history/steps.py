"""Write the steps of drafts: the messages of an operation as a run, and the next snapshot with some pieces replaced.

A short step is written in the transaction that adds it to its draft. A long step is written before the draft is locked, in short
transactions, so that others can write meanwhile. Like an import, it is not visible until the last transaction.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import asdict, dataclass, field, is_dataclass
from functools import partial
from itertools import islice, tee
from typing import Any

from django.db import DatabaseError, transaction
from django.utils import timezone

from chainviz.core import formats
from chainviz.core.chain.chain import Splice
from chainviz.core.chain.messages import Message
from chainviz.core.documents.document_context import DocumentContext
from chainviz.core.documents.units import to_json
from chainviz.core.errors import Refused
from chainviz.core.formats.stylist import Stylist
from chainviz.core.providers.request import request_of
from chainviz.core.state.document import ChangedState, is_state, recorded_length, with_length
from chainviz.store.content.chain import StoredChain, chain_of, chain_to_edit
from chainviz.store.content.codec import pack, pack_body
from chainviz.store.content.message_reader import HELD_ROWS, StoredMessage, pieces_of, read_rows
from chainviz.store.content.pieces import Piece, PieceSplice, PlacedSplice, pack_pieces, pack_splices, splice
from chainviz.store.content.runs import Batch, RunWriter
from chainviz.store.content.spans import SourceSpan, message_digest, stored_bytes, unpack_spans
from chainviz.store.models import Run, Snapshot, Template, Writing
from chainviz.store.outline.blocks import Listing, to_bytes
from chainviz.store.outline.build import compute_of, outline_of, rebuild_outline, save_outline
from chainviz.store.outline.cache import BlockReader, BlockWriter
from chainviz.store.outline.measures import Charts, unpack_charts
from chainviz.store.outline.reader import OutlineReader
from chainviz.store.outline.update import OutlineEditor
from chainviz.store.transfer.document_context import context_of, note_beside
from chainviz.store.transfer.leases import STEP_BROKEN_OFF, BrokenOff, discard_step, end_step, lock_edition, step_batch

GENERATIONS = 50
"""After this many splices, a snapshot lists all its pieces, if the list is not much longer than the splices together."""
FAR = 1000
"""After this many splices, a snapshot always lists all its pieces."""


@dataclass(frozen=True, slots=True)
class Origin:
    """The operation that made a snapshot, with its options and report."""

    operation: str
    options: dict[str, Any] = field(default_factory=dict)
    report: Sequence[Any] = ()
    run: Run | None = None
    """The run its step wrote."""


@dataclass(frozen=True, slots=True)
class NextSnapshot:
    """A snapshot whose outline is stored, but whose row is not yet."""

    parent: Snapshot
    listing: Listing
    charts: Charts
    pieces: dict[str, Any]
    stored: int
    blocks: BlockReader | None = None
    """The blocks of its outline that are in memory."""

    def create(self, origin: Origin, *, format: str = "", template: Template | None = None) -> Snapshot:
        """Store the snapshot. The default `format` and `template` are those of its parent."""
        parent, total = self.parent, self.listing.total
        snapshot = Snapshot.objects.create(
            history_id=parent.history_id,
            parent=parent,
            run=origin.run,
            **self.pieces,
            format=format or parent.format,
            template=template or parent.template,
            digest=to_bytes(self.listing.hash),
            messages=total.messages,
            sections=self.listing.section_count,
            pairs=total.pairs,
            size=total.size,
            stored=self.stored,
            operation=origin.operation,
            options=pack(origin.options),
            report=pack(list(origin.report)),
        )
        if template is not None:
            note_beside(snapshot, self.charts)
        if template is not None and request_of(context_of(snapshot)) != self.listing.request:
            rebuild_outline(snapshot)
        else:
            save_outline(snapshot, self.listing, self.charts, self.blocks)
            if self.blocks is not None:
                chain_of(snapshot).outline = OutlineReader(self.listing, self.blocks)
        return snapshot


def next_snapshot(parent: Snapshot, changes: Sequence[PlacedSplice], batch: Batch = nullcontext, format: str = "") -> NextSnapshot:
    """Return the snapshot after `parent`, in time proportional to the changes. `batch` opens the transactions in which blocks of the
    outline are written. `format` is the new format of a converted chain; "" if it does not change."""
    chain = chain_of(parent)
    writer = BlockWriter(parent.history_id, batch)
    charts = unpack_charts(outline_of(parent).charts)
    removed = _removed_bytes(chain, changes)
    listing = OutlineEditor(chain, writer, charts, format or parent.format).edit(changes)
    writer.flush()
    stored = parent.stored - removed + sum(change.stored for change in changes)
    pieces = _pieces(parent, [change.pieces for change in changes])
    return NextSnapshot(parent, listing, charts, pieces, stored, chain.outline.blocks)


def rebuilt_snapshot(
    parent: Snapshot, changes: Sequence[PieceSplice], added: int, batch: Batch = nullcontext, format: str = ""
) -> NextSnapshot:
    """Return the snapshot after `parent` if very many messages change. The outline is rebuilt from the start, so that few messages are in
    memory at a time. `added` is the size in bytes of the new messages in their source."""
    outline = outline_of(parent)
    chain = chain_of(parent)
    removed = _removed_bytes(chain, changes)
    writer = BlockWriter(parent.history_id, batch)
    listing, charts = compute_of(splice(pieces_of(parent), changes), (format or parent.format, chain.outline.listing.request), writer)
    writer.flush()
    before = unpack_charts(outline.charts)
    charts.beside, charts.times, charts.last_call = before.beside, before.times, before.last_call
    return NextSnapshot(parent, listing, charts, _pieces(parent, changes), parent.stored - removed + added)


def _removed_bytes(chain: StoredChain, changes: Iterable[PlacedSplice | PieceSplice]) -> int:
    removed = [piece for c in changes for piece in chain.outline.pieces(c.start, c.start + c.removed)]
    return sum(stored_bytes(row.source) for row in chain.rows_in(removed))


def _pieces(parent: Snapshot, splices: Sequence[PieceSplice]) -> dict[str, Any]:
    """Return the columns of the pieces: a splice against the parent or, from time to time, a full list. A full list is written only
    when the splices since the last one have a comparable size, so that versions stay small even if the pieces are scattered."""
    packed = pack_splices(splices)
    key = parent.key_id or parent.pk
    generation = parent.generation + 1
    if generation >= GENERATIONS:
        since = Snapshot.objects.filter(key=key).values_list("pieces", flat=True)
        full = pack_pieces(splice(pieces_of(parent), splices))
        if generation >= FAR or sum(map(len, since)) * 4 >= len(full):
            return {"key_id": None, "generation": 0, "pieces": full}
    return {"key_id": key, "generation": generation, "pieces": packed}


LONG = 1000
"""A step that adds or removes more messages than this is long."""
LONG_BYTES = 4 << 20
WIDE = 4000
"""The most consecutive messages that a step changes in memory. A wider step is written with few messages in memory at a time."""
CHANGED = "The draft changed meanwhile. Check it again."


@dataclass(frozen=True, slots=True)
class NewStep:
    """The changes of an operation to a draft. They are in order and do not overlap."""

    changes: Sequence[Splice]
    operation: str
    options: dict[str, Any] = field(default_factory=dict)
    report: Sequence[Any] = ()
    surroundings: DocumentContext | None = None
    """The new document around the messages; None if it does not change."""
    format: str = ""
    """The new format of a converted chain, which also has new surroundings; "" if the format does not change."""

    @property
    def is_converted(self) -> bool:
        return bool(self.format)

    @property
    def changed(self) -> int:
        """The number of messages that change."""
        return sum(max(one.removed, len(one.messages)) for one in self.changes)

    @property
    def is_long(self) -> bool:
        return self.changed > LONG or sum(each.size for one in self.changes for each in one.messages) > LONG_BYTES


AddStep = Callable[[Snapshot], Snapshot]
"""A function that returns the snapshot of a step, given the current snapshot of its locked draft."""


@contextmanager
def written_step(parent: Snapshot, edition: int, step: NewStep) -> Iterator[AddStep]:
    """Write a step for a draft with the content `parent`, as far as possible before the draft is locked. The body of the `with` statement
    must lock the draft and call the yielded function in a transaction. If it does not, or fails, nothing stays.

    `edition` is that of the history when its content was read. The yielded function raises Refused if the draft has changed.
    """
    if not step.is_long:
        yield lambda current: take_step(current, step)
        return
    with transaction.atomic():
        if lock_edition(parent.history_id) != edition:
            raise BrokenOff(STEP_BROKEN_OFF)
        writing = Writing.objects.create(run=new_run(parent, step.format), alive=timezone.now())
    try:
        show = _written(parent, edition, step, writing)

        def add(current: Snapshot) -> Snapshot:
            end_step(writing)
            if current.pk != parent.pk:
                raise Refused(CHANGED)
            return show()

        yield add
    except BaseException:
        # if this fails too, the sweeper removes the run when its lease has expired
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
        # the batch raises BrokenOff if a purge removed content that the step needs
        with batch():
            raise error


def take_step(parent: Snapshot, step: NewStep) -> Snapshot:
    with transaction.atomic(savepoint=False):
        return _write(parent, step, new_run(parent, step.format))()


def new_run(parent: Snapshot, format: str = "") -> Run:
    if parent.template_id is not None and not Snapshot.template.is_cached(parent):
        parent.template = Template.objects.select_related("run").get(pk=parent.template_id)
    return Run.objects.create(
        history_id=parent.history_id,
        kind=Run.EDIT,
        format=format or parent.format,
        upload_id=parent.template.run.upload_id if parent.template is not None else None,
    )


def _write(parent: Snapshot, step: NewStep, run: Run, batch: Batch = nullcontext) -> Callable[[], Snapshot]:
    """Write everything that is not visible yet. Return a function that makes the snapshot, which is fast. `batch` opens the
    transactions."""
    writer = RunWriter(run, batch)
    chain = chain_to_edit(parent)
    format = formats.get_format(step.format or parent.format)
    context = step.surroundings or chain.surroundings
    # changes are written one by one; the messages that they remove are read a few queries ahead
    changes, ahead = tee(Stylist(chain, format, context.envelope, is_new=step.is_converted).written(step.changes))
    outline = chain.outline
    gone = (piece for one in ahead for piece in outline.pieces(one.start, one.start + one.removed))
    few = step.changed <= HELD_ROWS
    removed = iter(chain.read(gone) if few else read_rows(gone)) if not step.is_converted else iter(())
    placed = (change for one in changes for change in _write_splice(one, islice(removed, one.removed), writer))
    following, around = _follow(parent, step, placed, writer, batch)
    origin = Origin(step.operation, step.options, [_plain(row) for row in step.report], run)

    def show() -> Snapshot:
        template = new_template(run, around, writer.starts) if around is not None else None
        return following.create(origin, format=run.format, template=template)

    return show


def _follow(
    parent: Snapshot, step: NewStep, placed: Iterator[PlacedSplice], writer: RunWriter, batch: Batch
) -> tuple[NextSnapshot, DocumentContext | None]:
    """Write the messages. Returns the next snapshot, and the new document around them if it changes."""
    if step.changed > WIDE and (step.is_converted or not is_state(formats.get_format(parent.format))):
        splices = [(each.pieces, each.stored) for each in placed]
        writer.finish()
        pieces, added = [pieces for pieces, _ in splices], sum(stored for _, stored in splices)
        return rebuilt_snapshot(parent, pieces, added, batch, step.format), step.surroundings
    changes = list(placed)
    writer.finish()
    following = next_snapshot(parent, changes, batch, step.format)
    return following, step.surroundings if step.is_converted else surroundings_after(parent, changes, step.surroundings)


def new_template(run: Run, around: DocumentContext, starts: bytes = b"") -> Template:
    envelope = pack_body(to_json(around.envelope).encode())
    return Template.objects.create(run=run, envelope=envelope, shell=around.shell, starts=starts)


def _plain(row: Any) -> Any:
    return asdict(row) if is_dataclass(row) and not isinstance(row, type) else row


def _write_splice(splice: Splice, rows: Iterable[StoredMessage], writer: RunWriter) -> list[PlacedSplice]:
    """Write the messages of a splice, except unchanged ones at both ends. `rows` are the messages that it removes."""
    removed, messages = list(rows), splice.messages
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


def surroundings_after(parent: Snapshot, changes: Sequence[PlacedSplice], around: DocumentContext | None) -> DocumentContext | None:
    """`around` is what a step makes of the surroundings of `parent`; None, also as the answer: they stay the same. A step
    that sets the processed_length itself has the last word."""
    format = formats.get_format(parent.format)
    own = context_of(parent)
    length = recorded_length(own.texts()) if is_state(format) else None
    if length is None or (around is not None and recorded_length(around.texts()) != length):
        return around
    before = pieces_of(parent)
    after = splice(before, [change.pieces for change in changes])
    following = ChangedState(format, changes, lambda: _origins(before), lambda: _origins(after)).length(length)
    return (around or own).rewritten(lambda text: with_length(text, following)) or around


def differ_in_length_only(one: Snapshot, other: Snapshot) -> bool:
    """Return True if the surroundings of two snapshots differ only in the processed_length of a state document."""
    if not is_state(formats.get_format(one.format)) or one.format != other.format:
        return False
    first, second = ([with_length(text, 0) for text in context_of(each).texts()] for each in (one, other))
    return first == second


def _origins(pieces: Iterable[Piece]) -> list[list[SourceSpan]]:
    return [unpack_spans(row.source) for row in read_rows(pieces)]
