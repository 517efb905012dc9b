"""Render the pieces of an open node in steps, with links to those before and behind."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from chainviz.chains.render.parts import Reading
from chainviz.core.chain.paths import Path
from chainviz.core.counts import count_text
from chainviz.web.templatetags.chainviz import icon

MOST_PIECES = 12
MOST_HTML = 90_000
"""A step of an opened node ends after this many pieces or characters, whichever comes first."""


class Piece(NamedTuple):
    """A piece of an open node."""

    html: Callable[[], str]
    shows: Sequence[tuple[int | None, int | None]] = ()
    """Numbers of messages and parts; the part is None for a whole message."""


@dataclass(frozen=True, slots=True)
class StepQuery:
    """The pieces of a node to show: a step from `start` on, not beyond `until`, and the one that shows `part`."""

    start: int = 0
    until: int | None = None
    part: Path | None = None


ALL = StepQuery()


class LazyPieces(Sequence[Piece]):
    """Pieces that are rendered on demand."""

    @abstractmethod
    def place_of(self, part: Path) -> int | None:
        """Return which piece shows the part."""


def step(reading: Reading, path: Path, pieces: Sequence[Piece], asked: StepQuery) -> str:
    out: list[str] = []
    end = min(len(pieces), asked.until or len(pieces))

    def show(start: int) -> int:
        """Show as much as a step may contain, and return its end."""
        size, place = 0, start
        while place < end and place - start < MOST_PIECES and size < MOST_HTML:
            out.append(pieces[place].html())
            size += len(out[-1])
            place += 1
        return place

    place = show(asked.start)
    sought = _sought(pieces, asked.part)
    if sought is not None and sought >= place:
        if sought > place:
            out.append(_more(reading, path, f"Show the {count_text(sought - place, 'part')} between", place, sought))
        place = show(sought)
    if place < end:
        out.append(_more(reading, path, f"Show more: {count_text(end - place, 'part')} left", place, asked.until))
    return "".join(out)


def _sought(pieces: Sequence[Piece], part: Path | None) -> int | None:
    if part is None:
        return None
    if isinstance(pieces, LazyPieces):
        return pieces.place_of(part)
    wanted = (part.message, part.part), (part.message, None)
    return next((i for i, piece in enumerate(pieces) if any(each in piece.shows for each in wanted)), None)


def _more(reading: Reading, path: Path, words: str, start: int, until: int | None) -> str:
    query = {"from": start} if until is None else {"from": start, "until": until}
    return f'<a class="more" data-more href="{reading.url("node", path, **query)}">{icon("expand")}{words}</a>'
