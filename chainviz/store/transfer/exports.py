"""Writes a snapshot as a document. An unedited one equals its upload, byte for byte."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import groupby

from chainviz.core import formats
from chainviz.core.chain.messages import Message
from chainviz.core.chain.surroundings import Rewrite
from chainviz.core.dialects.attachments import filled_in
from chainviz.core.documents.assemble import Source, Untouched, assemble, whole_file
from chainviz.core.documents.document_context import DocumentContext
from chainviz.core.documents.units import EMPTY_ENVELOPE, Span
from chainviz.core.documents.written_file import written
from chainviz.core.errors import Refused
from chainviz.core.formats.contract import Format, unit_form
from chainviz.core.formats.conversion import sources_in
from chainviz.core.formats.crossing import Route
from chainviz.core.load import document_in
from chainviz.core.operations.convert.call_ids import NewIds, accepted_ids, ids_of, renamed
from chainviz.core.operations.convert.request import new_request
from chainviz.store.content.chain import StoredChain
from chainviz.store.content.message_reader import BodyReader, messages_of, pieces_of, read_batches
from chainviz.store.content.pieces import Piece
from chainviz.store.content.uploads import UploadReader
from chainviz.store.models import Snapshot, Upload
from chainviz.store.transfer.document_context import DocumentPlace, context_of, envelope_of
from chainviz.store.transfer.untouched_ranges import UntouchedRanges

MOST_AROUND = 8_000_000
"""Bytes around the messages from which tools and settings are read."""


def export(snapshot: Snapshot) -> Iterator[bytes]:
    """Yields the chain's own document in the encoding of its upload."""
    return written(export_utf8(snapshot), envelope_of(snapshot).encoding)


def export_utf8(snapshot: Snapshot, around: DocumentContext | None = None) -> Iterator[bytes]:
    """`around` replaces the stored text around the messages."""
    format = formats.get_format(snapshot.format)
    context = around or context_of(snapshot)
    envelope, read = context.envelope, context.read
    # every unit of an edited chain is read where units are linked or joined by the format; a later state of a file that
    # grew is not edited
    is_edited = snapshot.parent_id is not None and snapshot.operation != ""
    form = unit_form(format) if is_edited else replace(unit_form(format), links=None)
    ranges = None if around or (is_edited and (form.links or form.join)) else UntouchedRanges(snapshot, envelope, read)
    return assemble(envelope, sources_of(snapshot, ranges), read, form)


def export_in(snapshot: Snapshot, format: Format) -> Iterator[bytes]:
    """Yields the chain as a new document of a format, as the operation Convert writes it."""
    chain = StoredChain(snapshot)
    document, _ = request_in(chain, format)
    messages = messages_in(chain, accepted_ids(chain.tree, ids_of(format)))
    return document_in(format, messages, formats.get_format(snapshot.format), document)


def request_in(chain: StoredChain, format: Format) -> tuple[str, tuple[str, ...]]:
    """Returns the document into which the messages are written, with tools and settings, and what is not in it, in sentences."""
    if chain.surroundings.size > MOST_AROUND:
        return "", ("Fields beside the messages are left out; they are too long to list.",)
    return new_request(chain, format)


def messages_in(chain: StoredChain, ids: NewIds) -> Iterator[Message]:
    """Yields the messages for a document that has no attachments, with these ids."""
    return renamed(filled_in(messages_of(chain.snapshot), chain.surroundings.texts), ids)


def export_whole_file(
    upload: Upload, documents: Iterable[tuple[Span, Iterable[bytes]]], rewrite: Rewrite | None = None
) -> Iterator[bytes]:
    """Yields the upload with documents in the places of their chains; the rest stays, or is rewritten."""
    return written(whole_file(upload.length, documents, UploadReader(upload.pk), rewrite), upload.encoding)


def in_its_place(
    snapshot: Snapshot, place: DocumentPlace, format: Format | None = None, rewrite: Rewrite | None = None
) -> tuple[Span, Iterator[bytes]]:
    """Returns the chain for `export_whole_file`, in its own format or another. Raises Refused where the format cannot stand
    inside a file."""
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
    # the file may hold one chain a line; JSON has line breaks between tokens only
    return place.content, (piece.replace(b"\n", b"") for piece in document)


def original(upload: Upload) -> Iterator[bytes]:
    """Yields the bytes as they were uploaded."""
    return written((content for _, content in UploadReader(upload.pk).chunks()), upload.encoding)


def sources_of(snapshot: Snapshot, ranges: UntouchedRanges | None) -> Iterator[tuple[Source, ...]]:
    """Yields the sources of the messages in order: an untouched range as one, the others message by message."""
    bodies = BodyReader()
    parts = (part for piece in pieces_of(snapshot) for part in (ranges.parts(piece) if ranges else (piece,)))
    for are_pieces, some in groupby(parts, lambda part: isinstance(part, Piece)):
        if not are_pieces:
            yield from ((part,) for part in some if isinstance(part, Untouched))
            continue
        for batch in read_batches(part for part in some if isinstance(part, Piece)):
            yield from bodies.sources(batch)
