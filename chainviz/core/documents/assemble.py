"""Write the fragments of messages and the envelope around them as the bytes of a document. Unchanged content keeps every byte.

The messages are split into ranges with rising ordinals. Within a range, fragments are sorted by ordinal, so messages whose lines
were interleaved in the file are interleaved again. Neighbouring fragments of one unit are joined.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain as link

from chainviz.core.chain.messages import NEW, SLOT, Fragment
from chainviz.core.chain.surroundings import Rewrite
from chainviz.core.documents.document_context import between
from chainviz.core.documents.json import edit as json_edit
from chainviz.core.documents.json.scan import to_bytes
from chainviz.core.documents.units import CarriedSpan, Envelope, Pointer, Read, Span
from chainviz.core.documents.written_lists import Linker, Links, ListWriter, Piece, by_list, single, with_leads

_BREAK = re.compile(r"\s*[\r\n]\s*")


@dataclass(frozen=True, slots=True)
class Untouched:
    """A range of the upload with consecutive unchanged units, including the carried units between them."""

    ordinal: int
    """Ordinal of the first unit."""
    last: int
    """Ordinal of the last unit."""
    lead: str
    start: int
    """Offset of the first unit, after its lead."""
    end: int


ASIDE = 1 << 32
"""Added to the index of a block that no message shows. A message of the same unit stores the block, after its own block."""
Source = Fragment | Untouched
Join = Callable[[Sequence[Fragment]], str]
"""Joins the fragments of several messages into their unit. A negative block index means the result half of a block."""


@dataclass(frozen=True, slots=True)
class UnitForm:
    """The form of a document's units: where they have their blocks, and how fragments are joined into a unit. The sources of a
    format with links or its own join contain no Untouched ranges."""

    blocks_at: Pointer = ()
    """Where a unit has its blocks; () if it is plain text."""
    links: Links | None = None
    join: Join | None = None
    """None to join the blocks of all fragments in order."""
    takes: Callable[[Sequence[Fragment], Fragment], bool] | None = None
    """Whether a new fragment joins the unit of the fragments before it; None if only the result half of a call does."""


def assemble(envelope: Envelope, sources: Iterable[tuple[Source, ...]], read: Read, form: UnitForm = UnitForm()) -> Iterator[bytes]:
    """Yield the bytes of a chain's document. `sources` are the fragments of each message, in chain order."""
    slots, rest = _leading_slots(iter(sources))
    value = _one_slot(slots, form.blocks_at)
    head, tail = _shell(envelope, value, read)
    yield from head
    if envelope.lists is not None:
        rest = by_list(rest, envelope.lists)
    found = _joined(_in_file_order(rest), form)
    if envelope.lines and form.blocks_at:
        found = map(_on_one_line, found)
    pieces = _carry(envelope, found, _with_new_slot(envelope, value, read))
    if envelope.lists is not None:
        yield from ListWriter(envelope, envelope.lists, read).written(pieces)
    else:
        if form.links:
            pieces = _linked(pieces, Linker(form.links))
        units = (link([to_bytes(lead)], piece.content) for lead, piece in with_leads(envelope, pieces))
        yield from single(map(b"".join, units)) if envelope.single else link.from_iterable(units)
    yield from tail


def units_of(sources: Iterable[tuple[Fragment, ...]], form: UnitForm) -> Iterator[str]:
    """Yield the text of each unit of the messages, in file order, without the text around them."""
    return (unit.text for unit in _joined(_in_file_order(iter(sources)), form) if isinstance(unit, Fragment))


def _on_one_line(fragment: Source) -> Source:
    """Return new text of a JSON Lines file on one line. Line breaks between JSON tokens are white space, so the value is the same."""
    if isinstance(fragment, Untouched) or fragment.start >= 0 or "\n" not in fragment.text:
        return fragment
    return fragment.with_text(_BREAK.sub(" ", fragment.text))


def _leading_slots(sources: Iterator[tuple[Source, ...]]) -> tuple[list[Fragment], Iterator[tuple[Source, ...]]]:
    slots: list[Fragment] = []
    for source in sources:
        own = [fragment for fragment in source if isinstance(fragment, Fragment) and fragment.ordinal == SLOT]
        slots += own
        if len(own) != len(source) or not source:
            rest = tuple(fragment for fragment in source if fragment.ordinal != SLOT)
            return slots, link([rest], sources)
    return slots, sources


def _in_file_order(sources: Iterator[tuple[Source, ...]]) -> Iterator[Source]:
    """Yield the fragments, sorted within ranges of rising ordinals. A new fragment stays after the one before it."""
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
        # no later fragment of this range can precede `first`
        ready = next((place for place, item in enumerate(waiting) if item[0] > first), len(waiting))
        yield from (fragment for _, fragment in waiting[:ready])
        del waiting[:ready]
    yield from (fragment for _, fragment in waiting)


def _joined(fragments: Iterator[Source], form: UnitForm) -> Iterator[Source]:
    group: list[Fragment] = []
    for fragment in fragments:
        if group and not (isinstance(fragment, Fragment) and _belongs(fragment, group, form)):
            yield _join(group, form)
            group = []
        if isinstance(fragment, Fragment) and (form.join or fragment.blocks is not None):
            group.append(fragment)
        else:
            yield fragment
    if group:
        yield _join(group, form)


def _belongs(fragment: Fragment, group: Sequence[Fragment], form: UnitForm) -> bool:
    """Return True if a fragment belongs to the same unit; a new result is written into the unit of its call."""
    if fragment.ordinal == NEW and form.takes is not None:
        return form.takes(group, fragment)
    if fragment.blocks is None:
        return False
    if fragment.ordinal == NEW and form.join is not None and fragment.blocks and fragment.blocks[0] < 0:
        return True
    last = group[-1]
    is_same = fragment.ordinal >= 0 or (fragment.text == last.text and follows(fragment.blocks, last.blocks))
    return fragment.ordinal == group[0].ordinal and is_same


def follows(blocks: tuple[int, ...], before: tuple[int, ...] | None) -> bool:
    """Return True if two fragments without a place in the document may belong to the same new unit, by their block indexes."""
    return bool(before) and bool(blocks) and blocks[0] > before[-1]  # type: ignore[index]


def _join(group: list[Fragment], form: UnitForm) -> Fragment:
    """Return the fragments of a unit as one."""
    first = group[0]
    if len(group) == 1 and first.blocks is None:
        return first
    text = form.join(group) if form.join else joined_blocks(group, form.blocks_at)
    return replace(first.with_text(text), blocks=None)


def joined_blocks(group: Sequence[Fragment], blocks_at: Pointer) -> str:
    """Return the text of the first fragment, with the blocks of all fragments in order."""
    first = group[0]
    if all(fragment.text == first.text for fragment in group):
        return with_blocks(first.text, blocks_at, [index for fragment in group for index in fragment.blocks or ()])
    items: list[str] = []
    for fragment in group:
        blocks = json_edit.load_array(json_edit.raw_at(fragment.text, blocks_at) or "[]")
        items += [blocks.raw(index) for index in fragment.blocks or ()]
    return with_items(first.text, blocks_at, items)


def with_items(text: str, blocks_at: Pointer, items: Sequence[str]) -> str:
    """Return the unit with these blocks, spaced like its old ones."""
    shell = json_edit.load_array(json_edit.raw_at(text, blocks_at) or "[]")
    shell.rebuild([*range(min(len(shell), len(items)))])
    for index, item in enumerate(items[: len(shell)]):
        shell.set(index, item)
    shell.rebuild([*range(len(shell)), *items[len(shell) :]])
    return json_edit.replace_at(text, blocks_at, str(shell))


def own_blocks(fragment: Fragment, blocks_at: Pointer) -> Fragment:
    """Return the fragment without the blocks of other messages in the same unit. The result half of block i has the index ~i."""
    if fragment.blocks is None:
        return fragment
    text = with_blocks(fragment.text, blocks_at, [place_of(index) for index in fragment.blocks])
    blocks = tuple(place + index - place_of(index) if index >= 0 else ~place for place, index in enumerate(fragment.blocks))
    return replace(fragment.with_text(text), blocks=blocks)


def place_of(index: int) -> int:
    """Return the position in its unit of a block, of a result half, or of a block that no message shows."""
    return (index if index >= 0 else ~index) % ASIDE


def with_blocks(text: str, blocks_at: Pointer, places: list[int]) -> str:
    """Return the unit with only these of its blocks, in this order. A unit without a list counts as one block."""
    if not (json_edit.raw_at(text, blocks_at) or "").startswith("["):
        return text
    blocks = json_edit.load_array(json_edit.raw_at(text, blocks_at) or "[]")
    if places == list(range(len(blocks))):
        return text
    blocks.rebuild([place for place in places if place < len(blocks)])  # a message may be beside an empty list
    return json_edit.replace_at(text, blocks_at, str(blocks))


def _carry(envelope: Envelope, fragments: Iterator[Source], read: Read) -> Iterator[Piece]:
    """Yield the units of messages with the carried units back in their places. Carried units at the start of a document, such as the
    head of a session, also precede new messages."""
    carried, place, is_begun = envelope.carried, 0, False
    for fragment in fragments:
        while not is_begun and place < len(carried) and carried[place].ordinal == place:
            yield _carried(carried[place], read)
            place += 1
        is_begun = True
        while place < len(carried) and carried[place].ordinal < fragment.ordinal:
            yield _carried(carried[place], read)
            place += 1
        if isinstance(fragment, Fragment):
            yield Piece(fragment.ordinal, fragment.ordinal, fragment.lead, [to_bytes(fragment.text)])
            continue
        written = [one for one in carried[:place] if one.ordinal > fragment.ordinal]
        yield Piece(fragment.ordinal, fragment.last, fragment.lead, _without(written, fragment, read))
        while place < len(carried) and carried[place].ordinal < fragment.last:
            place += 1
    for one in carried[place:]:
        yield _carried(one, read)


def _linked(pieces: Iterator[Piece], linker: Linker) -> Iterator[Piece]:
    for piece in pieces:
        text = b"".join(piece.content).decode("utf-8", "surrogateescape")
        linked = linker.beside(piece.ordinal, text) if piece.is_aside else linker.linked(piece.ordinal, text)
        yield replace(piece, content=[to_bytes(linked)])


def _without(written: Iterable[CarriedSpan], units: Untouched, read: Read) -> Iterator[bytes]:
    """Yield the bytes of the units, without carried units that were already written before a message that moved up."""
    start = units.start
    for one in written:
        if one.ordinal < units.last:
            yield from _pieces(Span(start, one.start - one.lead), read)
            start = one.end
    yield from _pieces(Span(start, units.end), read)


def _carried(span: CarriedSpan, read: Read) -> Piece:
    lead = read(span.start - span.lead, span.start).decode("utf-8", "surrogateescape")
    return Piece(span.ordinal, span.ordinal, lead, [read(span.start, span.end)], is_carried=True, is_aside=span.is_aside)


def _shell(envelope: Envelope, value: str | None, read: Read) -> tuple[Iterable[bytes], Iterable[bytes]]:
    """Return the bytes before and after the units, with the current value of the slot written into them."""
    region, content = envelope.region, envelope.content
    head, tail = Span(region.start, content.start), Span(content.end, region.end)
    if envelope.region == envelope.content == Span(0, 0) and not envelope.lines:
        return [b"["], [b"\n]\n"]
    old = envelope.slot
    same = (old is None and value is None) or (old is not None and value is not None and to_bytes(value) == read(old.start, old.end))
    if same or not envelope.slot_key or not envelope.inside:
        return _pieces(head, read), _pieces(tail, read)
    if envelope.lists is not None and old is not None:
        # a chain in several lists has no single shell, so the value changes in place
        new = to_bytes(value if value is not None else '""')
        return [_with_slot(head, old, new, read)], [_with_slot(tail, old, new, read)]
    cut = [b"null"] if envelope.single else []
    text = b"".join([*_pieces(head, read), *cut, *_pieces(tail, read)]).decode("utf-8", "surrogateescape")
    mark = text[:1] if text.startswith("\ufeff") else ""
    before, behind = _set_slot(text[len(mark) :], envelope, value)
    return [to_bytes(mark + before)], [to_bytes(behind)]


def _with_new_slot(envelope: Envelope, value: str | None, read: Read) -> Read:
    """Return `read` with the slot's current value in ranges that have the whole slot, such as the text between two lists."""
    old = envelope.slot
    if envelope.lists is None or old is None:
        return read
    new = to_bytes(value if value is not None else '""')
    return lambda start, end: _with_slot(Span(start, end), old, new, read)


def _with_slot(span: Span, slot: Span, value: bytes, read: Read) -> bytes:
    """Return a range of the document with the slot's value replaced, if the slot is in it."""
    if not span.start <= slot.start <= slot.end <= span.end:
        return read(span.start, span.end)
    return read(span.start, slot.start) + value + read(slot.end, span.end)


def _one_slot(slots: list[Fragment], blocks_at: Pointer) -> str | None:
    """Return the new value of the slot. Several messages in one slot become one list of blocks; a slot that is an object has its list
    in the same place as a unit."""
    if len(slots) < 2:
        return slots[0].text if slots else None
    blocks: list[str] = []
    for slot in slots:
        raw = json_edit.raw_at(slot.text, blocks_at) or "[]" if slot.text.startswith("{") else slot.text.strip()
        if raw.startswith("["):
            array = json_edit.load_array(raw)
            places = range(len(array)) if slot.blocks is None else slot.blocks
            blocks += [array.raw(index) for index in places]
        else:
            blocks.append('{"type": "text", "text": ' + raw + "}")
    joined = f"[{', '.join(blocks)}]"
    return json_edit.replace_at(slots[0].text, blocks_at, joined) if slots[0].text.startswith("{") else joined


def _set_slot(shell: str, envelope: Envelope, value: str | None) -> tuple[str, str]:
    """Set, create or remove the slot in the shell with an empty list, or with null in place of a single message. Return the text before
    and after the messages."""
    at = envelope.inside[:-1]
    holder = json_edit.load_object(json_edit.raw_at(shell, at) or "{}")
    if value is None:
        holder.remove(envelope.slot_key)
    else:
        holder.set_first(envelope.slot_key, value, before=str(envelope.inside[-1]))
    shell = json_edit.replace_at(shell, at, str(holder))
    place = json_edit.span_of(shell, envelope.inside)
    assert place is not None
    start, end = place if envelope.single else (place[0] + 1, place[0] + 1)
    return shell[:start], shell[end:]


def _pieces(span: Span, read: Read, size: int = 1 << 20) -> Iterator[bytes]:
    for start in range(span.start, span.end, size):
        yield read(start, min(start + size, span.end))


def whole_file(size: int, regions: Iterable[tuple[Span, Iterable[bytes]]], read: Read, rewrite: Rewrite | None = None) -> Iterator[bytes]:
    """Yield the upload with each region replaced by the current document of its chain. The text between regions is unchanged, or
    rewritten by `rewrite`. Regions do not overlap."""
    place = 0
    for region, document in (*sorted(regions, key=lambda item: item[0].start), (Span(size, size), ())):
        gap = _pieces(Span(place, region.start), read)
        yield from between(gap, rewrite) if rewrite else gap
        yield from document
        place = region.end
