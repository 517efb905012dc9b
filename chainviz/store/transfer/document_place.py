"""Where in its upload a chain's document lies, also when the chain moved to another format since."""

from __future__ import annotations

from dataclasses import dataclass, replace

from chainviz.core.documents.envelope_json import from_json
from chainviz.core.documents.units import EMPTY_ENVELOPE, Envelope, Span
from chainviz.store.content.codec import unpack_body
from chainviz.store.content.uploads import UploadReader
from chainviz.store.models import Run, Snapshot, Template, Upload

NEAR = 1 << 16
"""How far behind the last message its list must end; more white space than this nobody writes."""


@dataclass(frozen=True, slots=True)
class Place:
    upload: Upload
    document: Span
    """What the chain's own document takes the place of."""
    content: Span
    """What a list of messages in another format takes the place of; the members beside the list stay."""
    is_of_upload: bool
    """The snapshot's own document still is the upload's."""

    @property
    def is_part(self) -> bool:
        """The file holds more than this chain's own document."""
        # a byte order mark and a last line end are no content
        return self.document.end - self.document.start < self.upload.length - 4


def envelope_in(template: Template | None) -> Envelope:
    return from_json(unpack_body(template.envelope).decode()) if template is not None else EMPTY_ENVELOPE


def place_of(snapshot: Snapshot) -> Place | None:
    """None where no upload holds the chain: a copy of one that had moved already, or an original that was purged."""
    if snapshot.template is None:
        return None
    template = snapshot.template if _is_of_upload(snapshot.template) else _imported(snapshot)
    if template is None or not _is_of_upload(template) or template.run.upload is None:
        return None
    envelope, upload = envelope_in(template), template.run.upload
    if envelope.home is not None:
        envelope = replace(envelope, region=envelope.home[0], content=envelope.home[1])
    return Place(upload, envelope.region, _list_in(envelope, upload), template.pk == snapshot.template.pk)


def _is_of_upload(template: Template) -> bool:
    """What a chain moves into has a shell of its own, or none at all."""
    envelope = envelope_in(template)
    return envelope.home is not None or (not template.shell and envelope.region.end > 0)


def _imported(snapshot: Snapshot) -> Template | None:
    imports = Template.objects.select_related("run__upload").filter(run__kind=Run.IMPORT)
    return imports.filter(run__history=snapshot.history_id).first()


def _list_in(envelope: Envelope, upload: Upload) -> Span:
    """The list with its brackets; the whole document where a part of the chain stands beside the list."""
    content = envelope.content
    if envelope.lines or envelope.single or envelope.slot is not None:
        return envelope.region
    behind = UploadReader(upload.pk)(content.end, min(envelope.region.end, content.end + NEAR))
    closing = behind.find(b"]")
    if closing < 0:
        return envelope.region
    return Span(content.start - 1, content.end + closing + 1)
