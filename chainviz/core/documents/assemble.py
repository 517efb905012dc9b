"""Fragments and envelope back to the bytes of a document, streamed. What nobody touched comes out as it went in (DESIGN 4.1).

Fragments are cut into rising stretches of messages; inside a stretch they are sorted by ordinal, so the lines of
messages that interleave in the file interleave again. Neighbouring fragments of one unit are joined to one unit.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import chain as link

from chainviz.core.chain.messages import NEW, SLOT, Fragment
from chainviz.core.documents import json_edit
from chainviz.core.documents.context import Rewrite, between
from chainviz.core.documents.json_scan import to_bytes
from chainviz.core.documents.links import Linker, Links
from chainviz.core.documents.units import CarriedSpan, Envelope, Pointer, Read, Span

_BREAK = re.compile(r"\s*[\r\n]\s*")


@dataclass(frozen=True, slots=True)
class Untouched:
    """Neighbouring units that stand as they stood, carried ones between them included: one stretch of the upload."""

    ordinal: int
    """Of the first unit."""
    last: int
    """Of the last one."""
    lead: str
    start: int
    """Where the first unit begins, behind its lead."""
    end: int


Source = Fragment | Untouched


def assemble(
    envelope: Envelope,
    sources: Iterable[tuple[Source, ...]],
    read: Read,
    blocks_at: Pointer = (),
    links: Links | None = None,
) -> Iterator[bytes]:
    """The chain's own document. `sources` are those of the messages in chain order; the rest is the format's.

    With `links` every unit is read, so there are no stretches among the sources.
    """
    slots, rest = _leading_slots(iter(sources))
    head, tail = _shell(envelope, slots, read)
    yield from head
    found = _joined(_in_file_order(rest), blocks_at)
    if envelope.lines and blocks_at:
        found = map(_on_one_line, found)
    pieces = _carry(envelope, found, read)
    units = _with_leads(envelope, _linked(pieces, Linker(links)) if links else pieces)
    if envelope.single:
        yield from _single(map(b"".join, units))
    else:
        yield from link.from_iterable(units)
    yield from tail


def _on_one_line(fragment: Source) -> Source:
    """What is new in a JSON Lines file stays on its line; a bare line break in JSON is white space."""
    if isinstance(fragment, Untouched) or fragment.start >= 0 or "\n" not in fragment.text:
        return fragment
    return replace(fragment, text=_BREAK.sub(" ", fragment.text))


def _leading_slots(
    sources: Iterator[tuple[Source, ...]],
) -> tuple[list[Fragment], Iterator[tuple[Source, ...]]]:
    slots: list[Fragment] = []
    for source in sources:
        own = [fragment for fragment in source if isinstance(fragment, Fragment) and fragment.ordinal == SLOT]
        slots += own
        if len(own) != len(source) or not source:
            rest = tuple(fragment for fragment in source if fragment.ordinal != SLOT)
            return slots, link([rest], sources)
    return slots, sources


def _in_file_order(sources: Iterator[tuple[Source, ...]]) -> Iterator[Source]:
    """Fragments sorted inside rising stretches; a new one stays behind what precedes it."""
    waiting: list[tuple[int, Source]] = []
    first = NEW
    for source in sources:
        kept = next((fragment for fragment in source if fragment.ordinal >= 0), None)
        if kept is not None:
            if kept.ordinal < first:
                yield from (fragment for _, fragment in waiting)
                waiting = []
            first = kept.last if isinstance(kept, Untouched) else kept.ordinal
        at = waiting[-1][0] if waiting else first
        for fragment in source:
            at = fragment.ordinal if fragment.ordinal >= 0 else at
            waiting.append((at, fragment))
        waiting.sort(key=lambda item: item[0])
        # nothing that comes later in this stretch can lie before `first`
        ready = next((place for place, item in enumerate(waiting) if item[0] > first), len(waiting))
        yield from (fragment for _, fragment in waiting[:ready])
        del waiting[:ready]
    yield from (fragment for _, fragment in waiting)


def _joined(fragments: Iterator[Source], blocks_at: Pointer) -> Iterator[Source]:
    group: list[Fragment] = []
    for fragment in fragments:
        part = fragment if isinstance(fragment, Fragment) and fragment.blocks is not None else None
        if group and (part is None or not part.ordinal == group[0].ordinal >= 0):
            yield _join(group, blocks_at)
            group = []
        if part is None:
            yield fragment
        else:
            group.append(part)
    if group:
        yield _join(group, blocks_at)


def _join(group: list[Fragment], blocks_at: Pointer) -> Fragment:
    """One unit again: the shell of the first, the blocks of each in order."""
    first = group[0]
    if all(fragment.text == first.text for fragment in group):
        places = [index for fragment in group for index in fragment.blocks or ()]
        return replace(first, text=with_blocks(first.text, blocks_at, places), blocks=None)
    items: list[str] = []
    for fragment in group:
        blocks = json_edit.load_array(json_edit.raw_at(fragment.text, blocks_at) or "[]")
        items += [blocks.raw(index) for index in fragment.blocks or ()]
    shell = json_edit.load_array(json_edit.raw_at(first.text, blocks_at) or "[]")
    shell.rebuild([*range(min(len(shell), len(items)))])
    for index, item in enumerate(items[: len(shell)]):
        shell.set(index, item)
    shell.rebuild([*range(len(shell)), *items[len(shell) :]])
    return replace(first, text=json_edit.replace_at(first.text, blocks_at, str(shell)), blocks=None)


def with_blocks(text: str, blocks_at: Pointer, places: list[int]) -> str:
    """The unit with only these of its blocks, in this order."""
    blocks = json_edit.load_array(json_edit.raw_at(text, blocks_at) or "[]")
    if places == list(range(len(blocks))):
        return text
    blocks.rebuild(places)
    return json_edit.replace_at(text, blocks_at, str(blocks))


@dataclass(slots=True)
class _Piece:
    """One unit, or some that lie behind one another in the upload."""

    ordinal: int
    last: int
    lead: str
    content: Iterable[bytes]


def _carry(envelope: Envelope, fragments: Iterator[Source], read: Read) -> Iterator[_Piece]:
    """Units of messages with the carried units back in their places."""
    carried, place = envelope.carried, 0
    for fragment in fragments:
        while place < len(carried) and carried[place].ordinal < fragment.ordinal:
            yield _carried(carried[place], read)
            place += 1
        if isinstance(fragment, Fragment):
            yield _Piece(fragment.ordinal, fragment.ordinal, fragment.lead, [to_bytes(fragment.text)])
            continue
        written = [one for one in carried[:place] if one.ordinal > fragment.ordinal]
        yield _Piece(fragment.ordinal, fragment.last, fragment.lead, _without(written, fragment, read))
        while place < len(carried) and carried[place].ordinal < fragment.last:
            place += 1
    for one in carried[place:]:
        yield _carried(one, read)


def _linked(pieces: Iterator[_Piece], linker: Linker) -> Iterator[_Piece]:
    for piece in pieces:
        text = b"".join(piece.content).decode("utf-8", "surrogateescape")
        yield replace(piece, content=[to_bytes(linker.linked(piece.ordinal, text))])


def _without(written: Iterable[CarriedSpan], units: Untouched, read: Read) -> Iterator[bytes]:
    """The bytes of the units, but for carried ones that were written already: before a message that was moved ahead."""
    start = units.start
    for one in written:
        if one.ordinal < units.last:
            yield from _pieces(Span(start, one.start - one.lead), read)
            start = one.end
    yield from _pieces(Span(start, units.end), read)


def _carried(span: CarriedSpan, read: Read) -> _Piece:
    lead = read(span.start - span.lead, span.start).decode("utf-8", "surrogateescape")
    return _Piece(span.ordinal, span.ordinal, lead, [read(span.start, span.end)])


def _with_leads(envelope: Envelope, pieces: Iterator[_Piece]) -> Iterator[Iterable[bytes]]:
    """Each unit behind its separator: its own where it stands where it stood, else one that fits its new place."""
    before: int | None = None
    for piece in pieces:
        stays = piece.ordinal >= 0 and piece.ordinal - 1 == (NEW if before is None else before)
        if stays:
            lead = piece.lead
        elif before is None:
            lead = envelope.first_lead
        else:
            lead = _inner_lead(envelope, piece)
        before = piece.last if piece.last >= 0 else _NOWHERE
        yield link([to_bytes(lead)], piece.content)


_NOWHERE = -10


def _inner_lead(envelope: Envelope, piece: _Piece) -> str:
    mark, usual = ("\n", "\n") if envelope.lines else (",", ", ")
    for lead in (piece.lead if piece.ordinal >= 0 else "", envelope.lead):
        if mark in lead:
            return lead
    return usual


def _single(units: Iterator[bytes]) -> Iterator[bytes]:
    """One message where the document has one; none is null and several are a list."""
    first = next(units, b"null")
    second = next(units, None)
    if second is None:
        yield first
        return
    yield b"["
    yield first
    yield second
    yield from units
    yield b"]"


def _shell(envelope: Envelope, slots: list[Fragment], read: Read) -> tuple[Iterable[bytes], Iterable[bytes]]:
    """What lies before and behind the units, with the slot as it now is."""
    region, content = envelope.region, envelope.content
    head, tail = Span(region.start, content.start), Span(content.end, region.end)
    if envelope.region == envelope.content == Span(0, 0) and not envelope.lines:
        return [b"["], [b"\n]\n"]
    old = envelope.slot
    value = _slot_value(slots)
    same = (old is None and value is None) or (
        old is not None and value is not None and len(slots) == 1 and to_bytes(value) == read(old.start, old.end)
    )
    if same or not envelope.slot_key or not envelope.inside:
        return _pieces(head, read), _pieces(tail, read)
    text = b"".join([*_pieces(head, read), *_pieces(tail, read)]).decode("utf-8", "surrogateescape")
    mark = text[:1] if text.startswith("\ufeff") else ""
    before, behind = _set_slot(text[len(mark) :], envelope, value)
    return [to_bytes(mark + before)], [to_bytes(behind)]


def _slot_value(slots: list[Fragment]) -> str | None:
    """The slot's new text. Several messages in one slot become one list of their blocks."""
    if len(slots) < 2:
        return slots[0].text if slots else None
    blocks: list[str] = []
    for slot in slots:
        if slot.text.lstrip().startswith("["):
            array = json_edit.load_array(slot.text)
            places = range(len(array)) if slot.blocks is None else slot.blocks
            blocks += [array.raw(index) for index in places]
        else:
            blocks.append('{"type": "text", "text": ' + slot.text.strip() + "}")
    return f"[{', '.join(blocks)}]"


def _set_slot(shell: str, envelope: Envelope, value: str | None) -> tuple[str, str]:
    """Set, create or remove the slot in the shell, whose list is empty; then part it at the list again."""
    at = envelope.inside[:-1]
    holder = json_edit.load_object(json_edit.raw_at(shell, at) or "{}")
    if value is None:
        holder.remove(envelope.slot_key)
    else:
        holder.set_first(envelope.slot_key, value, before=str(envelope.inside[-1]))
    shell = json_edit.replace_at(shell, at, str(holder))
    place = json_edit.span_of(shell, envelope.inside)
    assert place is not None
    return shell[: place[0] + 1], shell[place[0] + 1 :]


def _pieces(span: Span, read: Read, size: int = 1 << 20) -> Iterator[bytes]:
    for start in range(span.start, span.end, size):
        yield read(start, min(start + size, span.end))


def whole_file(
    size: int, regions: Iterable[tuple[Span, Iterable[bytes]]], read: Read, rewrite: Rewrite | None = None
) -> Iterator[bytes]:
    """The upload with each region replaced by its chain's current document, and what lies between them as it is or
    rewritten. Regions do not overlap."""
    place = 0
    for region, document in (*sorted(regions, key=lambda item: item[0].start), (Span(size, size), ())):
        gap = _pieces(Span(place, region.start), read)
        yield from between(gap, rewrite) if rewrite else gap
        yield from document
        place = region.end
