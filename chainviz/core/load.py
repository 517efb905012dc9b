"""A file to chains and back, for whoever has the whole of it at hand: the command line and tests."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from chainviz.core.chain.messages import SYSTEM, Message
from chainviz.core.documents.assemble import assemble
from chainviz.core.documents.detect import Survey, empty_list, survey
from chainviz.core.documents.source import Source, open_source, written
from chainviz.core.documents.units import EMPTY_ENVELOPE, Envelope, FoundList, Pointer, Read, Span
from chainviz.core.errors import DocumentError
from chainviz.core.formats import FORMATS, detect, get_format
from chainviz.core.formats.contract import Format, Style
from chainviz.core.formats.conversion import sources_in
from chainviz.core.formats.reader import read_chain

NEARBY = 200
"""How far a message of the same role is looked for, as a model of how the document writes."""


@dataclass(frozen=True)
class LoadedChain:
    messages: tuple[Message, ...]
    format: str
    envelope: Envelope
    pointer: Pointer = ()
    title: str = ""
    warnings: tuple[str, ...] = ()


def load_file(
    origin: Path | str | bytes, format: str | None = None, *, salvage: bool = False
) -> list[LoadedChain]:
    """The chains of a file. `format` overrides detection; "raw" takes any text as one message."""
    with open_source(origin) as source:
        return load_source(source, format, salvage=salvage)


def load_source(source: Source, format: str | None = None, *, salvage: bool = False) -> list[LoadedChain]:
    chosen = get_format(format) if format else None
    seen = look(source, chosen, salvage=salvage)
    picked = [(found, chosen or likeliest(found)) for found in seen.lists]
    known = [(found, format) for found, format in picked if format is not None]
    if not known:
        choose(seen.lists[0])
    loaded = [_load(source, found, format, salvage) for found, format in known]
    if len(known) < len(picked):
        left = next(found for found, format in picked if format is None)
        warning = f"{len(picked) - len(known)} lists are in no known format and were left out, the first at {left.title}."
        loaded[0] = replace(loaded[0], warnings=(*loaded[0].warnings, warning))
    return loaded


def look(source: Source, chosen: Format | None = None, *, salvage: bool = False) -> Survey:
    """Where the chains are. A format that is not JSON knows it itself."""
    for format in (chosen,) if chosen else FORMATS:
        lists = format.find(source)
        if lists and (chosen or format.confidence(lists[0].sample) >= LIKELY):
            return Survey(lists, lines=True)
    nothing = empty_list(source) if chosen is not None else None
    return Survey((nothing,)) if nothing else survey(source, salvage=salvage)


LIKELY = 0.25
"""Below this a format is offered to a person but not chosen for them."""


def choose(found: FoundList) -> Format:
    """The likeliest format of a list; DocumentError where none is likely."""
    format = likeliest(found)
    if format is None:
        where = f" at {found.title}" if found.title else ""
        raise DocumentError(
            f"The list of messages{where} is in no known format; choose one, or keep the file as raw text.", raw=True
        )
    return format


def likeliest(found: FoundList) -> Format | None:
    rated = detect(found.sample)
    return rated[0][0] if rated and rated[0][1] >= LIKELY else None


def _load(source: Source, found: FoundList, format: Format, salvage: bool) -> LoadedChain:
    reader = read_chain(source, found, format, salvage=salvage)
    messages = tuple(reader)
    envelope = reader.envelope
    return LoadedChain(messages, format.name, envelope, found.pointer, found.title, envelope.warnings)


def export_chain(messages: Sequence[Message], envelope: Envelope, format: Format | str, read: Read) -> bytes:
    """The chain's own document; `read` gives bytes of the upload's UTF-8 form. Messages without source are written."""
    form = get_format(format) if isinstance(format, str) else format
    fragments = [
        message.source or form.write(message, style_at(messages, index, envelope, form))
        for index, message in enumerate(messages)
    ]
    return b"".join(written(assemble(envelope, fragments, read, form.blocks_at, form.links), envelope.encoding))


def restyle(
    messages: Sequence[Message], index: int, message: Message, format: Format | str, envelope: Envelope
) -> Message:
    """`message` as the format holds it, with the source it writes for it, as it would stand at `index` of `messages`."""
    form = get_format(format) if isinstance(format, str) else format
    return form.message(message.role, form.write(message, style_at(messages, index, envelope, form, message.role)))


def style_at(
    messages: Sequence[Message], index: int, envelope: Envelope, format: Format, role: str | None = None
) -> Style:
    """How the document writes around a place: the nearest message of the role is the model."""
    role = role if role is not None else messages[index].role
    near = _nearest(messages, index, role)
    slot = bool(envelope.slot_key and envelope.inside) and role == SYSTEM and not any(
        message.role != SYSTEM for message in messages[:index]
    )
    return Style(near, near.isascii(), slot and (envelope.slot is None or index == 0))


def _nearest(messages: Sequence[Message], index: int, role: str) -> str:
    for distance in range(1, NEARBY):
        for place in (index - distance, index + distance):
            if 0 <= place < len(messages) and messages[place].role == role and messages[place].source:
                return messages[place].source[0].text
    return ""


def blank(format: Format) -> tuple[Envelope, bytes]:
    """A document without messages, for a chain that moves into this format."""
    if format.lines:
        return replace(EMPTY_ENVELOPE, region=Span(0, 1), lines=True, lead="\n", first_lead=""), b"\n"
    if not format.template:
        return EMPTY_ENVELOPE, b""
    text = format.template.encode()
    at = text.index(b"[") + 1
    envelope = replace(
        EMPTY_ENVELOPE,
        region=Span(0, len(text)),
        content=Span(at, at),
        pointer=("messages",),
        inside=("messages",),
        slot_key=format.slot_key,
    )
    return envelope, text


def document_in(format: Format, messages: Iterable[Message]) -> Iterator[bytes]:
    """A new document of the format, written while the messages are read."""
    envelope, text = blank(format)
    fragments = sources_in(format, messages, has_slot=bool(envelope.slot_key and envelope.inside))
    return assemble(envelope, fragments, lambda start, end: text[start:end], format.blocks_at, format.links)
