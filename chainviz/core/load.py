"""A file to chains and back, for the command line and tests, which have all its bytes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from chainviz.core.chain.chain import MemoryChain, Splice
from chainviz.core.chain.messages import Fragment, Message
from chainviz.core.documents.assemble import assemble
from chainviz.core.documents.json.edit import span_of
from chainviz.core.documents.json.scan import byte_length, to_bytes
from chainviz.core.documents.source import Source, open_source
from chainviz.core.documents.units import EMPTY_ENVELOPE, Envelope, Pointer, Read, Span
from chainviz.core.documents.written_file import written
from chainviz.core.formats import get_format
from chainviz.core.formats.contract import Format, unit_form
from chainviz.core.formats.conversion import sources_in
from chainviz.core.formats.cross_provider import Route
from chainviz.core.formats.offers import Offer, offers_of
from chainviz.core.formats.stylist import Stylist
from chainviz.core.state.faults import with_state_notes


@dataclass(frozen=True)
class LoadedChain:
    messages: tuple[Message, ...]
    format: str
    envelope: Envelope
    pointer: Pointer = ()
    title: str = ""
    warnings: tuple[str, ...] = ()


def load_file(origin: Path | str | bytes, format: str | None = None, *, salvage: bool = False) -> list[LoadedChain]:
    """Return the chains of a file. `format` overrides detection; "raw" takes any text as one message."""
    with open_source(origin) as source:
        return load_source(source, format, salvage=salvage)


def load_source(source: Source, format: str | None = None, *, salvage: bool = False) -> list[LoadedChain]:
    return [load_offer(source, offer) for offer in offers_with_notes(source, format, salvage=salvage)]


def offers_with_notes(source: Source, format: str | None = None, *, salvage: bool = False, expected: Sequence[str] = ()) -> list[Offer]:
    """Return the chains of a file without reading them, with notes on problems of a state document. `expected`: see `offers_of`."""
    return with_state_notes(source, offers_of(source, format or "", salvage=salvage, expected=expected))


def load_offer(source: Source, offer: Offer) -> LoadedChain:
    found, reader = offer.found, offer.read(source)
    messages = tuple(reader)
    envelope = reader.envelope
    return LoadedChain(messages, reader.format.name, envelope, found.pointer, found.title, envelope.warnings)


def without_shared(chains: Iterable[Sequence[Message]]) -> list[Sequence[Message]]:
    """Return of each chain of a file the messages that no chain before it has: branches repeat the messages before the fork."""
    chains = list(chains)
    if len(chains) == 1:
        return chains
    seen = set[_Place]()
    parts: list[Sequence[Message]] = []
    for messages in chains:
        places = [_place(message) for message in messages]
        parts.append([message for message, place in zip(messages, places, strict=True) if not place or place not in seen])
        seen.update(places)
    return parts


_Place = tuple[tuple[int, tuple[int, ...] | None], ...]


def _place(message: Message) -> _Place:
    """Return the place of a message in its file; empty if the file does not contain it unchanged."""
    place = tuple((fragment.start, fragment.blocks) for fragment in message.source)
    return () if any(start < 0 for start, _ in place) else place


def export_chain(messages: Sequence[Message], envelope: Envelope, format: Format | str, read: Read) -> bytes:
    """Return the chain's own document; `read` gives bytes of the upload's UTF-8 form. Messages without source are
    written."""
    form = get_format(format) if isinstance(format, str) else format
    stylist = Stylist(MemoryChain(tuple(messages), form.name), form, envelope)
    fragments = [
        message.source or next(stylist.written([Splice(index, 1, (message,))])).messages[0].source for index, message in enumerate(messages)
    ]
    return b"".join(written(assemble(envelope, fragments, read, unit_form(form)), envelope.encoding))


def restyle(messages: Sequence[Message], index: int, message: Message, format: Format | str, envelope: Envelope) -> Message:
    """Return `message` with the source that the format writes for it at `index`, in the style of its neighbours."""
    form = get_format(format) if isinstance(format, str) else format
    stylist = Stylist(MemoryChain(tuple(messages), form.name), form, envelope)
    return next(stylist.written([Splice(index, 1, (message,))])).messages[0]


def blank(format: Format, stored: int = 0, document: str = "") -> tuple[Envelope, bytes]:
    """A document without messages, for a chain of `stored` messages that moves into this format. `document`: its text with an
    empty list, where that holds tools and settings; one without line breaks stays one line."""
    if format.lines:
        return replace(EMPTY_ENVELOPE, region=Span(0, 1), lines=True, lead="\n", first_lead=""), b"\n"
    if not (document or format.template):
        return EMPTY_ENVELOPE, b""
    form = format.request or format.training
    key = form.list_key if document and form else format.list_key
    text = document or format.new_document(stored)
    place = span_of(text, (key,))
    assert place is not None
    at = byte_length(text[: place[0] + 1])
    is_line = bool(document) and "\n" not in document.strip()
    envelope = replace(
        EMPTY_ENVELOPE,
        region=Span(0, byte_length(text)),
        content=Span(at, at),
        pointer=(key,),
        inside=(key,),
        slot_key=format.slot_key,
        lead=", " if is_line else EMPTY_ENVELOPE.lead,
        first_lead="" if is_line else EMPTY_ENVELOPE.first_lead,
    )
    return envelope, to_bytes(text)


def document_in(format: Format, messages: Iterable[Message], source: Format | None = None, document: str = "") -> Iterator[bytes]:
    """Yield a new document of the format while the messages are read; `source` is the format that they come from, `document` as
    `blank` takes it."""
    envelope, text = blank(format, 0, document)
    stored = 0

    def fragments() -> Iterator[tuple[Fragment, ...]]:
        nonlocal stored
        for each in sources_in(Route(source, format), messages, has_slot=bool(envelope.slot_key and envelope.inside)):
            stored += 1
            yield each

    def read(start: int, end: int) -> bytes:
        """Read bytes behind the list, which are complete only after the messages."""
        return blank(format, stored, document)[1][start:] if end == len(text) else text[start:end]

    return assemble(envelope, fragments(), read, unit_form(format))
