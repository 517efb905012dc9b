"""Find text in a chain without an index: scan the raw bytes of its upload and bodies, then confirm each match in its message."""

from __future__ import annotations

import json
from bisect import bisect_left, bisect_right
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from heapq import merge
from itertools import islice, pairwise
from sys import maxsize
from typing import NamedTuple

from chainviz.core.chain.messages import Image, Opaque, Part, Text, Thinking, ToolCall, ToolResult
from chainviz.core.chain.paths import Path
from chainviz.core.documents.json.long_values import length_of, part_of
from chainviz.store.content.chain import StoredChain
from chainviz.store.content.message_reader import StoredMessage, pieces_of, read_bodies, read_rows, read_skeletons
from chainviz.store.content.message_shapes import UNKNOWN, clean, has_unknown_part
from chainviz.store.content.pieces import Piece, Places
from chainviz.store.content.runs import unpack_starts
from chainviz.store.content.spans import stored_bytes, unpack_spans
from chainviz.store.content.uploads import CHUNK, UploadReader
from chainviz.store.models import Run, Template
from chainviz.store.query.search_pattern import Needle

AROUND = 60
"""The number of characters of a snippet on each side of the match."""
CONFIRMED = 16
"""The number of candidate messages read at once."""
TOGETHER = 64
"""The number of parts read at once, in a message with very many parts."""


@dataclass(frozen=True, slots=True)
class Hit:
    """A part that contains the text, with its first occurrence."""

    path: Path
    message: int
    part: int
    before: str
    match: str
    after: str


class Place(NamedTuple):
    """A part of the chain, in the order of the chain."""

    message: int
    part: int = maxsize
    """The index of the part; by default after the last one."""


@dataclass(frozen=True, slots=True)
class HitPage:
    hits: tuple[Hit, ...]
    next: Place | None
    """The value of `after` for the next page; None if the whole chain was searched."""


def find(chain: StoredChain, text: str, *, case_sensitive: bool = False, limit: int = 50, after: Place | None = None) -> HitPage:
    """Return matches in chain order, starting after `after`."""
    if not text:
        return HitPage((), None)
    needle = Needle(text, case_sensitive)
    after = after or Place(-1)
    hits: list[Hit] = []
    near = candidates(chain, needle, after.message - (after.part < maxsize))
    while group := list(islice(near, CONFIRMED)):
        for index, parts in zip(group, _read(chain, needle, group, after), strict=True):
            for hit in _hits(chain, needle, index, parts):
                hits.append(hit)
                if len(hits) >= limit:
                    return HitPage(tuple(hits), Place(index, hit.part))
    return HitPage(tuple(hits), None)


Parts = Iterable[tuple[int, Part]]
"""Numbered."""


def _read(chain: StoredChain, needle: Needle, group: Sequence[int], after: Place) -> Iterator[Parts]:
    """Yield for each message the parts behind `after` that may contain the text."""
    rows = chain.rows_at(group)
    short = iter(chain.bodies.begun([row for row in rows if not row.has_many_parts]))
    for index, row in zip(group, rows, strict=True):
        start = after.part + 1 if index == after.message else 0
        if row.has_many_parts:
            yield _of_many(chain, needle, row, start)
        else:
            yield islice(enumerate(next(short).parts), start, None)


def _of_many(chain: StoredChain, needle: Needle, row: StoredMessage, start: int) -> Parts:
    """Yield the parts from `start` on whose source may contain the text, a few at a time; all if it may be outside of them."""
    window = chain.bodies.part_window(row)
    shown = [part.kind == "opaque" for part in row.shape.parts]
    if window is not None and window.fits and not any(needle.may_be_in(text, as_json=any(shown)) for text in window.beside()):
        near = (number for number, text in window.items(start) if needle.may_be_in(text, as_json=shown[number]))
        for wanted in _close_together(near):
            parts = window.parts(wanted)
            if parts is None:
                break
            yield from zip(wanted, parts, strict=True)
            start = wanted.stop
        else:
            return
    yield from islice(enumerate(chain.bodies.begun([row])[0].parts), start, None)


def _close_together(numbers: Iterator[int]) -> Iterator[range]:
    """Yield ranges of at most TOGETHER that contain the rising numbers and begin with one of them."""
    first = last = next(numbers, None)
    while first is not None and last is not None:
        number = next(numbers, None)
        if number is None or number >= first + TOGETHER:
            yield range(first, last + 1)
            first = number
        last = number


def _hits(chain: StoredChain, needle: Needle, index: int, parts: Parts) -> Iterator[Hit]:
    node: Path | None = None
    for number, part in parts:
        for text in part_texts(part):
            place = needle.find_in(text)
            if place < 0:
                continue
            node = node or chain.outline.path_at(index)
            path = Path(node.section, node.pair, node.message, number)
            end = place + len(needle.text)
            before, match = part_of(text, max(0, place - AROUND), place), part_of(text, place, end)
            behind = part_of(text, end, end + AROUND)
            yield Hit(path, index, number, clean(before), clean(match), clean(behind))
            break


def part_texts(part: Part) -> Iterator[str]:
    """Yield the searchable texts of a part."""
    match part:
        case Text() | Opaque():
            yield part.text
        case Thinking():
            yield part.content
        case ToolCall():
            yield part.name
            yield part.arguments
            arguments = part_of(part.arguments, 0, length_of(part.arguments))
            if "\\" in arguments:
                yield from _unescaped(arguments)
            yield part.id
        case ToolResult():
            yield part.content
            yield part.name
            yield part.call_id
        case Image():
            yield part.url
    reasoning = getattr(part, "reasoning", None)
    if reasoning is not None:
        yield reasoning.content


def _unescaped(arguments: str) -> Iterator[str]:
    """Yield the decoded strings inside the JSON of arguments."""
    try:
        values = deque([json.loads(arguments)])
    except (ValueError, RecursionError):
        return
    while values:
        value = values.popleft()
        if isinstance(value, str):
            yield value
        elif isinstance(value, dict):
            values += [*value.keys(), *value.values()]
        elif isinstance(value, list):
            values += value


def candidates(chain: StoredChain, needle: Needle, after: int) -> Iterator[int]:
    """Yield messages behind `after` that may contain the text, in order, each once."""
    places = Places(pieces_of(chain.snapshot))
    runs = {piece.run for piece in places.pieces}
    imports = Run.objects.filter(pk__in=runs, kind=Run.IMPORT, upload__isnull=False)
    streams = [_in_upload(places, needle, run, after) for run in imports]
    own = runs - {run.pk for run in imports}
    streams.append(iter(sorted(_in_bodies(places, needle, own, after))))
    for run in imports:
        streams.append(iter(sorted(_in_bodies(places, needle, {run.pk}, after, mixed=False))))
    last = after
    for index in merge(*streams):
        if index > last:
            last = index
            yield index


def _in_bodies(places: Places, needle: Needle, runs: set[int], after: int, mixed: bool = True) -> Iterator[int]:
    """Yield messages whose own bodies may contain the text, and all that are partly stored in the upload."""
    pieces = [piece for piece in places.pieces if piece.run in runs]
    for run, position, content in read_bodies(pieces):
        if needle.place_in(needle.prepared(content)) >= 0:
            yield from _behind(after, places.index(run, position))
    for row in read_rows(pieces) if mixed else ():
        if any(span.start >= 0 for span in unpack_spans(row.source)):
            yield from _behind(after, places.index(row.run, row.position))


def _behind(after: int, index: int) -> Iterator[int]:
    if index > after:
        yield index


@dataclass(frozen=True)
class Fragments:
    """The start of each fragment of a run in its upload, in order, and the position of its message."""

    run: int
    starts: Sequence[int]
    positions: Sequence[int]
    rises: bool
    """Whether the positions rise with the starts."""

    @cached_property
    def _unknown(self) -> frozenset[int]:
        """Messages with parts that pages show as JSON."""
        everything = Piece(self.run, 0, max(self.positions) + 1)
        return frozenset(place for place, skeleton in read_skeletons([everything], UNKNOWN) if has_unknown_part(skeleton))

    def at(self, place: int) -> range:
        """Return the fragments of the unit at this byte."""
        last = bisect_right(self.starts, place)
        return range(bisect_left(self.starts, self.starts[last - 1], hi=last), last)

    def end(self, unit: range) -> int | None:
        """Return where a unit ends, or None if that is the upload's end."""
        return self.starts[unit.stop] if unit.stop < len(self.starts) else None

    def unknown(self, fragments: range) -> Iterator[int]:
        return (position for position in self.of(fragments) if position in self._unknown)

    def of(self, fragments: range) -> Sequence[int]:
        """Return the messages of some fragments."""
        return self.positions[fragments.start : fragments.stop]


@lru_cache(maxsize=4)
def _fragments(run: int, packed: bytes) -> Fragments:
    # the packed starts are part of the key: the database uses a number again after a rollback
    starts, positions = unpack_starts(packed)
    if all(a <= b for a, b in pairwise(starts)):
        return Fragments(run, starts, positions, all(a <= b for a, b in pairwise(positions)))
    order = sorted(range(len(starts)), key=lambda i: (starts[i], positions[i]))
    return Fragments(run, [starts[i] for i in order], [positions[i] for i in order], False)


def _in_upload(places: Places, needle: Needle, run: Run, after: int) -> Iterator[int]:
    fragments = _fragments(run.pk, bytes(Template.objects.values_list("starts", flat=True).get(pk=run.pk)))
    starts, positions = fragments.starts, fragments.positions
    if not starts:
        return
    upload = UploadReader(run.upload_id or 0)
    if not fragments.rises or not places.rises(run.pk):
        found = {places.index(run.pk, position) for position in _scan(upload, needle, fragments, starts[0])}
        yield from sorted(index for index in found if index > after)
        return
    first = starts[0]
    if after >= 0:
        # the search begins at the first message of this run after `after`
        kept = (p for p in positions if places.index(run.pk, p) > after)
        position = next(kept, None)
        if position is None:
            return
        first = starts[bisect_left(positions, position)]
    for position in _scan(upload, needle, fragments, first):
        yield from _behind(after, places.index(run.pk, position))


def _scan(upload: UploadReader, needle: Needle, fragments: Fragments, first: int) -> Iterator[int]:
    """Yield the positions of the messages that may contain the text, in the order of the upload."""
    tail = b""
    resume = first
    structure_from = -1  # the upload is only structure from this byte up to here
    for index, content in upload.chunks(first // CHUNK):
        hay = tail + needle.prepared(content)
        base, end = index * CHUNK - len(tail), index * CHUNK + len(content)
        start = max(0, resume - base)
        place = needle.place_in(hay, start)
        is_structure = place >= 0 and needle.is_structure(hay, start, len(hay))
        if is_structure:
            begun = fragments.at(base)
            if structure_from < 0 or fragments.starts[begun.start] < structure_from:
                yield from fragments.of(begun)  # a fragment that begins before may be JSON that pages show
            else:
                yield from fragments.unknown(begun)
            yield from fragments.unknown(range(begun.stop, fragments.at(end - 1).stop))
            place = -1
        structure_from = (structure_from if structure_from >= 0 else base + start) if is_structure else -1
        while place >= 0:
            unit = fragments.at(base + place)
            resume = fragments.end(unit) or end
            start = fragments.starts[unit.start] - base
            hides = start >= 0 and resume <= end and needle.is_structure(hay, start, resume - base)
            yield from fragments.unknown(unit) if hides else fragments.of(unit)
            place = needle.place_in(hay, resume - base) if resume < end else -1
        tail = hay[-needle.reach :]


LOOKED_AT = 50
"""The most messages in which an id is looked up."""
LONGEST = 1_000_000
"""The largest source of a message, in bytes, that is read to find the id of an item."""


def messages_with_id(chain: StoredChain, id: str, most: int) -> list[int]:
    """Return the indexes of messages with this id (of a call, a result or an item of the API), at most so many, in order."""
    near = list(islice(candidates(chain, Needle(id, case_sensitive=True), -1), LOOKED_AT))
    rows = chain.rows_at(near)
    found = [index for index, row in zip(near, rows, strict=True) if id in {ref.id for ref in (*row.shape.calls, *row.shape.results)}]
    others = [(index, row) for index, row in zip(near, rows, strict=True) if index not in found and stored_bytes(row.source) <= LONGEST]
    sources = chain.bodies.sources([row for _, row in others])
    found += [index for (index, _), source in zip(others, sources, strict=True) if any(f'"{id}"' in fragment.text for fragment in source)]
    return sorted(found)[:most]
