"""A snapshot as the document it stands for, byte by byte; unedited it is what was uploaded."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby, islice

from chainviz.core import formats
from chainviz.core.chain.messages import Message
from chainviz.core.documents.assemble import Source, Untouched, assemble, whole_file
from chainviz.core.documents.context import Rewrite, Surroundings, rewritten
from chainviz.core.documents.source import written
from chainviz.core.documents.units import EMPTY_ENVELOPE, Envelope, Read, Span
from chainviz.core.errors import Refused
from chainviz.core.formats.contract import Format
from chainviz.core.formats.conversion import sources_in
from chainviz.core.load import document_in
from chainviz.store.content.message_reader import BodyReader, StoredMessage, pieces_of, read_rows
from chainviz.store.content.pieces import Piece
from chainviz.store.content.uploads import UploadReader
from chainviz.store.models import Snapshot, Template, Upload
from chainviz.store.transfer.document_place import Place, envelope_in
from chainviz.store.transfer.untouched_ranges import Stretches

GROUP = 200


def export(snapshot: Snapshot) -> Iterator[bytes]:
    """The chain's own document in the encoding of its upload."""
    return written(export_utf8(snapshot), envelope_of(snapshot).encoding)


def export_utf8(snapshot: Snapshot, around: Surroundings | None = None) -> Iterator[bytes]:
    """`around`: what stands around its messages instead of what is stored."""
    format = formats.get_format(snapshot.format)
    envelope, read = (around.envelope, around.read) if around else (envelope_of(snapshot), shell_reader(snapshot))
    # in an edited chain of linked units each unit is read, so there are no stretches
    links = format.links if snapshot.parent_id is not None else None
    stretches = None if links or around else Stretches(snapshot, envelope, read)
    return assemble(envelope, sources_of(snapshot, stretches), read, format.blocks_at, links)


def shell_reader(snapshot: Snapshot) -> Read:
    """Reads what the envelope points into."""
    template: Template | None = snapshot.template
    if template is None:
        return lambda start, end: b""
    if template.run.upload_id is not None and not template.shell:
        return UploadReader(template.run.upload_id)
    shell = bytes(template.shell)
    return lambda start, end: shell[start:end]


def export_in(snapshot: Snapshot, format: Format) -> Iterator[bytes]:
    """The chain as a new document of a format."""
    return document_in(format, messages_of(snapshot))


def export_whole_file(
    upload: Upload, documents: Iterable[tuple[Span, Iterable[bytes]]], rewrite: Rewrite | None = None
) -> Iterator[bytes]:
    """The upload with documents in the places of their chains; the rest stays as it was, or is rewritten."""
    return written(whole_file(upload.length, documents, UploadReader(upload.pk), rewrite), upload.encoding)


def in_its_place(
    snapshot: Snapshot, place: Place, format: Format | None = None, rewrite: Rewrite | None = None
) -> tuple[Span, Iterator[bytes]]:
    """The chain for `export_whole_file`, as it is or in a format; Refused where its format cannot stand in a file."""
    own = formats.get_format(snapshot.format)
    if place.is_of_upload and format in (None, own):
        around = rewritten(envelope_of(snapshot), shell_reader(snapshot), rewrite) if rewrite else None
        return place.document, export_utf8(snapshot, around)
    format = format or own
    if format.lines:
        raise Refused(f"{format.label} is a file of lines, which cannot stand inside another file.")
    fragments = sources_in(format, messages_of(snapshot), has_slot=False)
    document = assemble(EMPTY_ENVELOPE, fragments, lambda start, end: b"", format.blocks_at)
    # the file may hold a chain a line, and JSON has line breaks between tokens only
    return place.content, (piece.replace(b"\n", b"") for piece in document)


def original(upload: Upload) -> Iterator[bytes]:
    """The bytes as they were uploaded."""
    return written((content for _, content in UploadReader(upload.pk).chunks()), upload.encoding)


def envelope_of(snapshot: Snapshot) -> Envelope:
    return envelope_in(snapshot.template)


def sources_of(snapshot: Snapshot, stretches: Stretches | None) -> Iterator[tuple[Source, ...]]:
    """The sources of the messages, in order: long stretches that nobody touched as one, the others one by one."""
    bodies = BodyReader()
    parts = (part for piece in pieces_of(snapshot) for part in (stretches.parts(piece) if stretches else (piece,)))
    for are_pieces, some in groupby(parts, lambda part: isinstance(part, Piece)):
        if not are_pieces:
            yield from ((part,) for part in some if isinstance(part, Untouched))
            continue
        for group in _groups(part for part in some if isinstance(part, Piece)):
            yield from bodies.sources(group)


def messages_of(snapshot: Snapshot) -> Iterator[Message]:
    """The messages with their bodies, a group at a time."""
    bodies = BodyReader()
    for group in _groups(pieces_of(snapshot)):
        yield from bodies.messages(group)


def _groups(pieces: Iterable[Piece]) -> Iterator[list[StoredMessage]]:
    rows = read_rows(pieces)
    while group := list(islice(rows, GROUP)):
        yield group
