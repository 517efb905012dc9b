"""Write a snapshot as a document. The document of an unedited chain equals its upload, byte for byte."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import accumulate, groupby, pairwise

from chainviz.core import formats
from chainviz.core.chain.messages import Message
from chainviz.core.chain.surroundings import Rewrite
from chainviz.core.documents.assemble import Source, Untouched, assemble, whole_file
from chainviz.core.documents.document_context import DocumentContext
from chainviz.core.documents.units import EMPTY_ENVELOPE, Envelope, Read, Span
from chainviz.core.documents.written_file import written
from chainviz.core.errors import Refused
from chainviz.core.formats.contract import Format, unit_form
from chainviz.core.formats.conversion import sources_in
from chainviz.core.formats.cross_provider import Route
from chainviz.core.formats.traces.inspect_log import filled_in
from chainviz.core.load import document_in
from chainviz.core.operations.convert.operation import NewIds, accepted_ids, ids_of, new_request, renamed
from chainviz.store.content.chain import StoredChain
from chainviz.store.content.message_reader import BodyReader, messages_of, pieces_of, read_batches, read_rows
from chainviz.store.content.pieces import Piece
from chainviz.store.content.runs import unpack_starts
from chainviz.store.content.spans import SourceSpan, decode, unpack_spans
from chainviz.store.content.uploads import UploadReader
from chainviz.store.models import Body, Snapshot, Upload
from chainviz.store.transfer.document_context import DocumentPlace, context_of, envelope_of

SHORTEST = 100
"""The shortest range, in messages, that is exported as bytes. Shorter ranges are as fast message by message."""


class UntouchedRanges:
    """The unchanged ranges of the import that a snapshot comes from; none if the document around the messages was rewritten.

    Long ranges are exported as bytes of the upload, without reading their messages.
    """

    def __init__(self, snapshot: Snapshot, envelope: Envelope, read: Read) -> None:
        self._read = read
        self.run = 0
        self._starts: list[int] = []
        self._owners: list[int] = []
        self._cuts: list[int] = []
        """Indexes of fragment starts at which no message is on both sides."""
        self._behind: list[int] = []
        """The first message after each of these indexes."""
        template = snapshot.template
        if template is None or envelope.single or envelope.lists or not _is_import(template.pk):
            return
        self.run = template.pk
        content = envelope.content
        found = sorted(zip(*unpack_starts(template.starts), strict=True))
        inside = [(start, owner) for start, owner in found if content.start <= start <= content.end]
        self._starts = [start for start, _ in inside]
        self._owners = [owner for _, owner in inside]
        self._cuts, self._behind = _cuts(self._starts, self._owners)

    def parts(self, piece: Piece) -> Iterator[Piece | Untouched]:
        """Yield the piece in parts, with a range of bytes for as many messages as possible."""
        run, start, end = piece.run, piece.start, piece.start + piece.length
        first, last = bisect_left(self._behind, start), bisect_right(self._behind, end) - 1
        if run != self.run or first >= last or self._behind[last] - self._behind[first] < SHORTEST:
            yield piece
            return
        head, tail = self._behind[first], self._behind[last]
        if head > start:
            yield Piece(run, start, head - start)
        yield self._untouched(self._span(self._cuts[first]), self._span(self._cuts[last] - 1))
        if end > tail:
            yield Piece(run, tail, end - tail)

    def _untouched(self, first: SourceSpan, last: SourceSpan) -> Untouched:
        lead = decode(self._read(first.start - first.lead, first.start))
        return Untouched(first.ordinal, last.ordinal, lead, first.start, last.start + last.length)

    def _span(self, index: int) -> SourceSpan:
        row = next(read_rows([Piece(self.run, self._owners[index], 1)]))
        return next(span for span in unpack_spans(row.source) if span.start == self._starts[index])


def _is_import(run: int) -> bool:
    """Return True if an import wrote the run. A copy also points into the upload, but not at the bytes between its messages."""
    was_imported = Snapshot.objects.filter(template=run, parent=None, operation="").exists()
    return was_imported and not Body.objects.filter(run=run).exists()


def _cuts(starts: Sequence[int], owners: Sequence[int]) -> tuple[list[int], list[int]]:
    """Return the indexes at which another unit begins and all owners before are lower than all after, and the lowest owner after each."""
    highest = accumulate(owners, max)
    lowest = [*accumulate(reversed(owners), min, initial=max(owners, default=-1) + 1)][::-1]
    inner = zip(range(1, len(starts)), highest, lowest[1:], pairwise(starts), strict=False)
    cuts = [0, *(at for at, before, behind, (one, other) in inner if before < behind and one != other), len(starts)]
    return cuts, [lowest[cut] for cut in cuts]


MOST_AROUND = 8_000_000
"""The most bytes around the messages from which tools and settings are read."""


def export(snapshot: Snapshot) -> Iterator[bytes]:
    """Yield the chain's own document in the encoding of its upload."""
    return written(export_utf8(snapshot), envelope_of(snapshot).encoding)


def export_utf8(snapshot: Snapshot, around: DocumentContext | None = None) -> Iterator[bytes]:
    """Yield the chain's own document as UTF-8. `around` replaces the stored text around the messages."""
    format = formats.get_format(snapshot.format)
    context = around or context_of(snapshot)
    envelope, read = context.envelope, context.read
    # if the format links or joins units, every unit of an edited chain is read; a later state of a growing file is not edited
    is_edited = snapshot.parent_id is not None and snapshot.operation != ""
    form = unit_form(format) if is_edited else replace(unit_form(format), links=None)
    ranges = None if around or (is_edited and (form.links or form.join)) else UntouchedRanges(snapshot, envelope, read)
    return assemble(envelope, sources_of(snapshot, ranges), read, form)


def export_in(snapshot: Snapshot, format: Format, *, is_line: bool = False) -> Iterator[bytes]:
    """Yield the chain as a new document of a format, like the operation Convert; with `is_line`, as one line of a fine-tuning file."""
    chain = StoredChain(snapshot)
    document, _ = request_in(chain, format, is_line=is_line)
    messages = messages_in(chain, accepted_ids(chain.tree, ids_of(format)))
    return document_in(format, messages, formats.get_format(snapshot.format), document)


def request_in(chain: StoredChain, format: Format, *, is_line: bool = False) -> tuple[str, tuple[str, ...]]:
    """Return the document for the messages, with tools and settings, and a sentence for each loss."""
    if chain.surroundings.size > MOST_AROUND and not is_line:
        return "", ("Fields beside the messages are left out; they are too long to list.",)
    return new_request(chain, format, is_line=is_line)


def messages_in(chain: StoredChain, ids: NewIds) -> Iterator[Message]:
    """Yield the messages with these ids, for a document without attachments."""
    return renamed(filled_in(messages_of(chain.snapshot), chain.surroundings.texts), ids)


def export_whole_file(upload: Upload, documents: Iterable[tuple[Span, Iterable[bytes]]], rewrite: Rewrite | None = None) -> Iterator[bytes]:
    """Yield the upload with new documents in place of its chains. The other text is unchanged, or rewritten by `rewrite`."""
    return written(whole_file(upload.length, documents, UploadReader(upload.pk), rewrite), upload.encoding)


def in_its_place(
    snapshot: Snapshot, place: DocumentPlace, format: Format | None = None, rewrite: Rewrite | None = None
) -> tuple[Span, Iterator[bytes]]:
    """Return the chain for `export_whole_file`, in its own format or another. Raises Refused if the format cannot be
    part of a file."""
    own = formats.get_format(snapshot.format)
    if place.is_of_upload and format in (None, own):
        around = context_of(snapshot).rewritten(rewrite) if rewrite else None
        return place.document, export_utf8(snapshot, around)
    format = format or own
    if format.lines:
        raise Refused(f"{format.label} is a file of lines, which cannot be part of another file.")
    chain = StoredChain(snapshot)
    messages = messages_in(chain, accepted_ids(chain.tree, ids_of(format)))
    fragments = sources_in(Route(own, format), messages, has_slot=False)
    document = assemble(EMPTY_ENVELOPE, fragments, lambda start, end: b"", unit_form(format))
    # the file may have one chain on each line; JSON has line breaks only between tokens
    return place.content, (piece.replace(b"\n", b"") for piece in document)


def original(upload: Upload) -> Iterator[bytes]:
    """Yield the original bytes of the upload."""
    return written((content for _, content in UploadReader(upload.pk).chunks()), upload.encoding)


def sources_of(snapshot: Snapshot, ranges: UntouchedRanges | None) -> Iterator[tuple[Source, ...]]:
    """Yield the sources of the messages in order. An unchanged range is one source; others have one for each message."""
    bodies = BodyReader()
    parts = (part for piece in pieces_of(snapshot) for part in (ranges.parts(piece) if ranges else (piece,)))
    for are_pieces, some in groupby(parts, lambda part: isinstance(part, Piece)):
        if not are_pieces:
            yield from ((part,) for part in some if isinstance(part, Untouched))
            continue
        for batch in read_batches(part for part in some if isinstance(part, Piece)):
            yield from bodies.sources(batch)
