"""Reads the text around findings, and names their places: the text of a part, a field of a message, a line, a JSON pointer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from chainviz.chains.secrets.findings import Spot
from chainviz.core import formats
from chainviz.core.chain.messages import Message
from chainviz.core.chain.paths import Path, parse_path
from chainviz.core.documents.json.pointers import Pointers
from chainviz.core.documents.units import Envelope
from chainviz.core.secrets.part_texts import texts_of
from chainviz.core.secrets.scan import place_number
from chainviz.core.secrets.unknown_fields import SourceField, fields
from chainviz.store.content.chain import StoredChain

CONTEXT = 70
"""Characters that an excerpt shows on either side."""


@dataclass(frozen=True, slots=True)
class Excerpt:
    before: str
    value: str
    behind: str


class Reader:
    """Reads the text around spots, each message once."""

    def __init__(self, chain: StoredChain) -> None:
        self._chain = chain
        self._texts: dict[str, dict[str, str]] = {}
        self._outside = _Outside(chain)

    def place(self, spot: Spot) -> str:
        """In words."""
        return self._outside.where(spot.path, spot.place, spot.start) if spot.is_outside else spot.place

    def excerpt(self, spot: Spot) -> Excerpt:
        texts = self._of(spot.path) if not spot.is_outside else {spot.place: self._outside.text(spot.path, spot.place)}
        text = texts.get(spot.place, "")
        return Excerpt(
            text[max(0, spot.start - CONTEXT) : spot.start],
            text[spot.start : spot.end],
            text[spot.end : spot.end + CONTEXT],
        )

    def _of(self, where: str) -> dict[str, str]:
        if where not in self._texts:
            path = parse_path(where)
            self._texts[where] = _texts(self._chain.at(Path(path.section, path.pair, path.message)), path.part)
        return self._texts[where]


def _texts(messages: Sequence[Message], part: int | None) -> dict[str, str]:
    if not messages or part is None or part >= len(messages[0].parts):
        return {}
    return dict(texts_of(messages[0].parts[part]))


class _Outside:
    """Reads text outside of parts, and says where it is: a JSON pointer, a line."""

    def __init__(self, chain: StoredChain) -> None:
        self._chain = chain
        self._fields: dict[str, list[SourceField]] = {}

    def text(self, path: str, place: str) -> str:
        texts = [field.text for field in self._of(path)] if path else self._pieces
        return texts[place_number(place)] if place_number(place) < len(texts) else ""

    def where(self, path: str, place: str, start: int) -> str:
        number = place_number(place)
        if path:
            found = self._of(path)
            return found[number].pointer if number < len(found) else ""
        carried = number - self._before
        if 0 <= carried < len(self._envelope.carried):
            what = "line" if formats.get_format(self._chain.format).lines else "item"
            pointer = Pointers(self._pieces[number][:start]).at(start)
            return f"{what} {self._envelope.carried[carried].ordinal + 1:,} {pointer}".rstrip()
        return self._outer.at(sum(len(piece) for piece in self._outer_pieces(number)) + start)

    @cached_property
    def _envelope(self) -> Envelope:
        return self._chain.surroundings.envelope

    @cached_property
    def _before(self) -> int:
        """Pieces before the first carried unit."""
        slot, envelope = self._envelope.slot, self._envelope
        return 3 if slot and envelope.region.start <= slot.start <= slot.end <= envelope.content.start else 1

    def _outer_pieces(self, stop: int) -> Iterator[str]:
        """Of the document without its units."""
        units = range(self._before, self._before + len(self._envelope.carried))
        return (piece for i, piece in enumerate(self._pieces[:stop]) if i not in units)

    @cached_property
    def _outer(self) -> Pointers:
        return Pointers("".join(self._outer_pieces(len(self._pieces))))

    @cached_property
    def _pieces(self) -> list[str]:
        return self._chain.surroundings.texts()

    def _of(self, path: str) -> list[SourceField]:
        if path not in self._fields:
            messages = self._chain.at(parse_path(path))
            self._fields[path] = list(fields(messages[0], formats.get_format(self._chain.format).blocks_at)) if messages else []
        return self._fields[path]
