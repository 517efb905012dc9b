"""The findings of a scan of a chain: places and rules, never values, so that they may be stored with a job."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import islice
from typing import Any

from django.conf import settings

from chainviz.core import formats
from chainviz.core.chain.messages import Message
from chainviz.core.chain.paths import Path, parse_path
from chainviz.core.documents.json.scan import Pointers
from chainviz.core.documents.units import Envelope
from chainviz.core.errors import Refused
from chainviz.core.progress import Progress, counted, ignore_progress
from chainviz.core.secrets import RULES, Occurrence, fingerprint, get_rule, scan_chain
from chainviz.core.secrets.part_texts import SourceField, fields, texts_of
from chainviz.core.secrets.rule import Rule
from chainviz.core.secrets.scan import is_outside, occurrence_id, place_number
from chainviz.store.content.chain import StoredChain

AT_ONCE, MESSAGES_AT_ONCE = 2_000_000, 10_000
"""The most stored bytes and messages that are scanned while the person waits; a job scans more."""
MOST = 50_000
"""The most findings that are listed."""
TOO_WIDE = "Your own patterns match more than {:,} times here; make them narrower."


@dataclass(frozen=True, slots=True)
class Spot:
    """A finding without its value."""

    path: str
    """The path of the part, or of the message for one of its unknown fields; empty around the messages."""
    rule: str
    place: str
    """The text of the part that it is in."""
    start: int
    end: int
    mark: str
    """Equal for equal values; keyed, so that it reveals nothing else."""
    own: Rule | None = field(default=None, repr=False)
    """The rule itself if the person wrote it for this scan; it is never stored."""

    @property
    def id(self) -> str:
        """The name of the place in the mask operation."""
        return occurrence_id(self.path, self.place, self.start)

    @property
    def is_outside(self) -> bool:
        """True if the place is outside all parts."""
        return is_outside(self.place)

    @property
    def of_rule(self) -> Rule:
        found = self.own or get_rule(self.rule)
        assert found is not None
        return found

    def packed(self) -> list[Any]:
        return [self.path, self.rule, self.place, self.start, self.end, self.mark]


def scan(chain: StoredChain, report: Progress = ignore_progress, rules: Sequence[Rule] = RULES) -> Iterator[Spot]:
    """Yield everything of the chain that an export contains, in the order of `scan_chain`."""
    return (_spot(each) for each in scan_chain(chain, rules, report))


def together(spots: Iterable[Spot]) -> list[Spot]:
    """Sort places in the order of `scan_chain`."""
    return sorted(spots, key=_order)


def scan_own(chain: StoredChain, own: Sequence[Rule], report: Progress = ignore_progress) -> Iterator[Spot]:
    """Yield the findings of the person's own rules beside the known ones. Raises Refused if there are too many."""
    _refuse_too_many(chain, own, lambda done, text: report(done / 2, text))
    found = (spot for spot in scan(chain, lambda done, text: report((1 + done) / 2, text), (*RULES, *own)) if spot.own)
    for count, spot in enumerate(found):
        if count >= MOST:
            raise Refused(TOO_WIDE.format(MOST))
        yield spot


def _refuse_too_many(chain: StoredChain, own: Sequence[Rule], report: Progress) -> None:
    """Count without keeping: a pattern that matches every character would fill the memory."""
    left = MOST
    for message in counted(chain.stream(0, len(chain)), len(chain), report, "read"):
        left -= sum(1 for _ in islice(_matches(message, own), left + 1))
        if left < 0:
            raise Refused(TOO_WIDE.format(MOST))


def _matches(message: Message, rules: Sequence[Rule]) -> Iterator[object]:
    for part in message.parts:
        for _, text in texts_of(part):
            for rule in rules:
                yield from rule.pattern.finditer(text)


def _spot(each: Occurrence) -> Spot:
    found = each.finding
    own = found.rule if found.rule.group == "own" else None
    return Spot(each.path, found.rule.name, found.place, found.start, found.end, mark_of(found.rule.same(found.value)), own)


def mark_of(value: str) -> str:
    return fingerprint(value, settings.SECRET_KEY.encode())


def _order(spot: Spot) -> tuple[int, ...]:
    if not spot.path:
        return 1, place_number(spot.place), spot.start
    path = parse_path(spot.path)
    last = (1, place_number(spot.place)) if spot.is_outside else (0, path.part or 0)
    return 0, path.section, path.pair or 0, path.message or 0, *last, spot.start


def unpacked(rows: Iterable[Sequence[Any]], own: Sequence[Rule] = ()) -> list[Spot]:
    """Return the spots of a job, without those of rules that were removed since."""
    rules = {rule.name: rule for rule in own}
    spots = (replace(Spot(*row), own=rules.get(row[1])) for row in rows)
    return [spot for spot in spots if spot.own is not None or get_rule(spot.rule) is not None]


def is_long(chain: StoredChain) -> bool:
    return len(chain) > MESSAGES_AT_ONCE or chain.snapshot.stored + chain.surroundings.size > AT_ONCE


# Reads the text around findings, and names their places: the text of a part, a field of a message, a line, a JSON
# pointer.


CONTEXT = 70
"""The number of characters that an excerpt shows on either side."""


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
        """Name the place in words."""
        return self._outside.where(spot.path, spot.place, spot.start) if spot.is_outside else spot.place

    def excerpt(self, spot: Spot) -> Excerpt:
        texts = self._of(spot.path) if not spot.is_outside else {spot.place: self._outside.text(spot.path, spot.place)}
        text = texts.get(spot.place, "")
        return Excerpt(text[max(0, spot.start - CONTEXT) : spot.start], text[spot.start : spot.end], text[spot.end : spot.end + CONTEXT])

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
    """Reads text outside parts, and names its place: a JSON pointer, a line."""

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
        if 0 <= carried < len(self._units_of_pieces):
            what = "line" if formats.get_format(self._chain.format).lines else "item"
            pointer = Pointers(self._pieces[number][:start]).at(start)
            unit = self._envelope.carried[self._units_of_pieces[carried]]
            return f"{what} {unit.ordinal + 1:,} {pointer}".rstrip()
        return self._outer.at(sum(len(piece) for piece in self._outer_pieces(number)) + start)

    @cached_property
    def _envelope(self) -> Envelope:
        return self._chain.surroundings.envelope

    @cached_property
    def _before(self) -> int:
        """Return the number of pieces before the first carried unit."""
        slot, envelope = self._envelope.slot, self._envelope
        return 3 if slot and envelope.region.start <= slot.start <= slot.end <= envelope.content.start else 1

    @cached_property
    def _units_of_pieces(self) -> list[int]:
        """Return the carried unit of each of their pieces, by its index. One that has the slot has three pieces."""
        slot = self._envelope.slot
        has_slot = (slot is not None and unit.start <= slot.start <= slot.end <= unit.end for unit in self._envelope.carried)
        return [index for index, has in enumerate(has_slot) for _ in range(3 if has else 1)]

    def _outer_pieces(self, stop: int) -> Iterator[str]:
        """Yield the pieces of the document without its units."""
        units = range(self._before, self._before + len(self._units_of_pieces))
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
