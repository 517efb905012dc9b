"""Units back into their lists: each behind its separator, each list in its place, inside a string with its escapes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TypeVar

from chainviz.core.chain.messages import NEW, Fragment
from chainviz.core.documents.json.quoted import quoted, unquoted
from chainviz.core.documents.json.scan import to_bytes
from chainviz.core.documents.units import LIST_STEP, Envelope, Lists, Read

_NOWHERE = -10


@dataclass(frozen=True, slots=True)
class Piece:
    """One unit, or some that lie behind one another in the upload."""

    ordinal: int
    last: int
    lead: str
    content: Iterable[bytes]
    is_carried: bool = False
    """It comes from the upload as it is."""
    is_aside: bool = False
    """It is of another chain of the document."""


def with_leads(envelope: Envelope, pieces: Iterable[Piece], number: int = 0) -> Iterator[tuple[str, Piece]]:
    """Each unit of a list with its separator: its own where its place is unchanged, else one that fits the new place."""
    before: int | None = None
    for piece in pieces:
        stays = piece.ordinal >= 0 and piece.ordinal - 1 == (number * LIST_STEP - 1 if before is None else before)
        if stays:
            lead = piece.lead
        elif before is None:
            lead = envelope.first_lead if not number else ""
        else:
            lead = _inner_lead(envelope, piece)
        before = piece.last if piece.last >= 0 else _NOWHERE
        yield lead, piece


def _inner_lead(envelope: Envelope, piece: Piece) -> str:
    mark, usual = ("\n", "\n") if envelope.lines else (",", ", ")
    for lead in (piece.lead if piece.ordinal >= 0 else "", envelope.lead):
        if mark in lead:
            return lead
    return usual


def single(units: Iterator[bytes]) -> Iterator[bytes]:
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


Part = TypeVar("Part")


def by_list(sources: Iterable[tuple[Part, ...]], lists: Lists) -> Iterator[tuple[Part, ...]]:
    """The sources of a chain's messages in file order of their lists.

    The order of the chain holds: a message that was moved behind one of a later list joins that list. A new message
    joins the list of the one before it, a leading one that of the one behind it.
    """
    ranks = {number: rank for rank, number in enumerate(lists.order)}
    filed: list[list[tuple[Part, ...]]] = [[] for _ in lists.order]
    leading: list[tuple[Part, ...]] = []
    rank = NEW
    for source in sources:
        own = next((each.ordinal for each in source if isinstance(each, Fragment) and each.ordinal >= 0), NEW)
        if own >= 0:
            rank = max(rank, ranks[own // LIST_STEP])
        if rank == NEW:
            leading.append(source)
            continue
        filed[lists.order[rank]] += [*leading, source]
        leading = []
    filed[lists.order[0]] += leading
    for number in range(len(filed)):
        yield from filed[number]


class ListWriter:
    """Writes the units of a chain in several lists, with what lies between the lists."""

    def __init__(self, envelope: Envelope, lists: Lists, read: Read) -> None:
        self._envelope = envelope
        self._lists = lists
        self._read = read
        self._spelled = {span.ordinal: span for span in lists.spelled}

    def written(self, pieces: Iterable[Piece]) -> Iterator[bytes]:
        number = 0
        units: list[Piece] = []
        for piece in pieces:
            if piece.is_carried and piece.ordinal == (number + 1) * LIST_STEP - 1:
                yield from self._list(number, units)
                yield from piece.content
                number, units = number + 1, []
            else:
                units.append(piece)
        yield from self._list(number, units)

    def _list(self, number: int, pieces: list[Piece]) -> Iterator[bytes]:
        led = with_leads(self._envelope, pieces, number)
        if number in self._lists.quoted:
            units = (self._quoted(lead, piece) for lead, piece in led)
        else:
            units = (to_bytes(lead) + b"".join(piece.content) for lead, piece in led)
        return single(units) if number in self._lists.singles else units

    def _quoted(self, lead: str, piece: Piece) -> bytes:
        """The unit inside a string: as the upload spells it where it is unchanged."""
        content = b"".join(piece.content)
        if piece.is_carried:
            return to_bytes(lead) + content
        unit = to_bytes(lead) + content
        span = self._spelled.get(piece.ordinal)
        spelled = self._read(span.start - span.lead, span.end) if span else b""
        if span and unquoted(spelled) == unit:
            return spelled
        model = spelled or b"".join(self._read(each.start, each.end) for each in self._lists.spelled[:1])
        return to_bytes(quoted(unit.decode("utf-8", "surrogateescape"), ascii_only=model.isascii()))
