"""The document around the messages of a snapshot: its envelope, the text beside the messages, and its place in the upload,
also where the chain has moved to another format."""

from __future__ import annotations

from dataclasses import dataclass, replace

from chainviz.core.chain.surroundings import still_unread
from chainviz.core.documents.document_context import DocumentContext
from chainviz.core.documents.units import EMPTY_ENVELOPE, Envelope, Read, Span, from_json
from chainviz.core.usage.document_usage import last_call_beside, recorded_beside
from chainviz.core.usage.times import times_beside
from chainviz.store.content.codec import unpack_body
from chainviz.store.content.message_reader import pieces_of, read_shapes
from chainviz.store.content.uploads import UploadReader
from chainviz.store.models import Run, Snapshot, Template, Upload
from chainviz.store.outline.measures import Charts

NEAR = 1 << 16
"""The greatest distance in bytes between the last message and the end of its list."""


def envelope_of(snapshot: Snapshot) -> Envelope:
    envelope = _envelope(snapshot.template)
    if not envelope.unread or not snapshot.operation:
        return envelope
    return replace(envelope, unread=still_unread(envelope.unread, lambda: {shape.role for shape in read_shapes(pieces_of(snapshot))}))


def _envelope(template: Template | None) -> Envelope:
    return from_json(unpack_body(template.envelope).decode()) if template is not None else EMPTY_ENVELOPE


def shell_reader(snapshot: Snapshot) -> Read:
    """Return what reads the bytes that the envelope points into."""
    template: Template | None = snapshot.template
    if template is None:
        return lambda start, end: b""
    if template.run.upload_id is not None and not template.shell:
        return UploadReader(template.run.upload_id)
    shell = bytes(template.shell)
    return lambda start, end: shell[start:end]


def context_of(snapshot: Snapshot) -> DocumentContext:
    """Return the surroundings of a snapshot's messages; empty if no document contains them."""
    template = snapshot.template
    is_of_upload = template is not None and not template.shell
    return DocumentContext(envelope_of(snapshot), shell_reader(snapshot), is_of_upload)


def uploaded_state(snapshot: Snapshot) -> Snapshot:
    """Return the content of the file that a snapshot was made from: its nearest ancestor without an operation.

    Returns the snapshot itself where no ancestor came from a file, as in a branch of a changed version."""
    if not snapshot.operation:
        return snapshot
    rows = Snapshot.objects.filter(history=snapshot.history_id, pk__lt=snapshot.pk).values_list("pk", "parent", "operation")
    ancestors = {key: (parent, operation) for key, parent, operation in rows}
    key = snapshot.parent_id
    while key is not None and key in ancestors:
        parent, operation = ancestors[key]
        if not operation:
            return Snapshot.objects.select_related("outline").get(pk=key)
        key = parent
    return snapshot


def note_beside(snapshot: Snapshot, charts: Charts) -> None:
    """Note the tokens, the last call and the times that the document records beside its messages."""
    context = context_of(snapshot)
    charts.beside = {model: list(usage) for model, usage in recorded_beside(context).items()}
    charts.times = times_beside(context)
    call = last_call_beside(context)
    charts.last_call = (*call.usage, call.window or 0) if call else ()


@dataclass(frozen=True, slots=True)
class DocumentPlace:
    upload: Upload
    document: Span
    """The range that the chain's own document replaces."""
    content: Span
    """The range that a list of messages in another format replaces; the members beside the list stay."""
    is_of_upload: bool
    """True if the document of the snapshot is still that of the upload."""

    @property
    def is_part(self) -> bool:
        """True if the file contains more than this chain's own document."""
        # a byte order mark and a last line end do not count
        return self.document.end - self.document.start < self.upload.length - 4


def place_of(snapshot: Snapshot) -> DocumentPlace | None:
    """Return the place in the upload, or None if no upload contains the chain, as for a copy of one that was converted."""
    if snapshot.template is None:
        return None
    template = snapshot.template if _is_of_upload(snapshot.template) else _imported(snapshot)
    if template is None or not _is_of_upload(template) or template.run.upload is None:
        return None
    envelope, upload = _envelope(template), template.run.upload
    if envelope.home is not None:
        envelope = replace(envelope, region=envelope.home[0], content=envelope.home[1])
    return DocumentPlace(upload, envelope.region, _list_in(envelope, upload), template.pk == snapshot.template.pk)


def _is_of_upload(template: Template) -> bool:
    """Return True if its envelope points into the upload. A chain that moved has a shell of its own, or an empty
    envelope."""
    envelope = _envelope(template)
    return envelope.home is not None or (not template.shell and envelope.region.end > 0)


def _imported(snapshot: Snapshot) -> Template | None:
    imports = Template.objects.select_related("run__upload").filter(run__kind=Run.IMPORT)
    return imports.filter(run__history=snapshot.history_id).first()


def _list_in(envelope: Envelope, upload: Upload) -> Span:
    """Return the list with its brackets, or the whole document where a part of the chain is beside the list."""
    content = envelope.content
    if envelope.lines or envelope.single or envelope.lists or envelope.slot is not None:
        return envelope.region
    behind = UploadReader(upload.pk)(content.end, min(envelope.region.end, content.end + NEAR))
    closing = behind.find(b"]")
    if closing < 0:
        return envelope.region
    return Span(content.start - 1, content.end + closing + 1)
