"""A run as its page words and draws it: numbers before and after, the trace, the messages around the cut, the strip."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from chainviz.chains.explorer.message_words import MessageWords, words_of
from chainviz.core.chain.messages import HUMAN
from chainviz.drafts.operations.compact.run import Change, Ran, Step
from chainviz.store.content.chain import StoredChain
from chainviz.store.outline.reader import SectionPlace
from chainviz.web.formatting import bar_step, byte_text

WORDS = {
    "not_run": ("not run", "quiet", "quiet"),
    "not_triggered": ("within its limit", "quiet", "close"),
    "triggered": ("true", "ok", "ok"),
    "no_change": ("removed nothing", "changed", "next"),
    "changed": ("applied", "removed", "removed"),
}
"""For each verdict: its name, its colour and its icon."""
_PLACE = re.compile(r"\b(compactor|trigger)s\[(\d+)\]")
_PLACE_WORDS = {"compactor": "step", "trigger": "trigger"}
LETTERS = {"A": "answer", "C": "calls", "T": "tool result", "U": "human", "S": "system", "X": "another role"}


@dataclass(frozen=True, slots=True)
class Measure:
    name: str
    before: str
    after: str
    saved: str
    percent: int | None
    """Percent of the size before, or None if the two are not counted in the same way."""


@dataclass(frozen=True, slots=True)
class Part:
    """A compactor or trigger inside of another."""

    label: str
    reason: str
    state: str
    icon: str


@dataclass(frozen=True, slots=True)
class Item:
    """A compactor of the strategy, in the order in which they are tried."""

    label: str
    verdict: str
    reason: str
    state: str
    icon: str
    is_winner: bool
    falls_through: bool
    parts: tuple[Part, ...] = ()


@dataclass(frozen=True, slots=True)
class Chip:
    """A message beside the cut, or a mark between two."""

    letter: str = ""
    word: str = ""
    is_gone: bool = False
    is_moved: bool = False
    """True if it is removed only because the cut moved on to a human message."""
    mark: str = ""
    """`target` or `cut`."""


@dataclass(frozen=True, slots=True)
class Bar:
    x: float
    width: float
    is_gone: bool


@dataclass(frozen=True)
class Result:
    ran: Ran

    @property
    def remaining(self) -> int:
        return self.ran.before.messages - self.ran.removed

    def measures(self) -> Iterator[Measure]:
        before, after = self.ran.before, self.ran.after
        yield self._tokens()
        yield _measure("Bytes", before.size, after.size, is_bytes=True)
        yield _measure("Messages", before.messages, after.messages)
        yield _measure("Turns", before.turns, after.turns)

    def _tokens(self) -> Measure:
        """Return the measure in tokens. A recorded or given number is not compared with an estimate."""
        before, after, source = self.ran.before.tokens, self.ran.after.tokens, self.ran.tokens_source
        if source in ("recorded", "given"):
            return Measure("Tokens of the next call", f"{before:,} {source}", f"≈ {after:,}", "", None)
        return _measure(f"Tokens of the next call, {source}", before, after)

    def items(self) -> Iterator[Item]:
        top = 1 if any(step.depth == 0 and step.label == "Composite" for step in self.ran.steps) else 0
        found = [(step, list(_below(self.ran.steps, step))) for step in self.ran.steps if step.depth == top]
        for number, (step, below) in enumerate(found):
            word, state, icon = WORDS[step.verdict]
            is_winner = step.verdict == "changed"
            falls = step.verdict == "no_change" and number + 1 < len(found)
            yield Item(step.label, word, _worded(step.reason), state, icon, is_winner, falls, tuple(map(_part, below)))

    def chips(self) -> Iterator[Chip]:
        cut = self.ran.cut
        if cut is None:
            return
        for place, letter in cut.around:
            if place == cut.wanted != cut.at:
                yield Chip(mark="target")
            if place == cut.at:
                yield Chip(mark="cut")
            yield Chip(letter, LETTERS[letter], place < cut.at, cut.wanted <= place < cut.at)
        if cut.at == self.ran.before.messages:
            yield Chip(mark="cut")

    def letters(self) -> list[tuple[str, str]]:
        """Return the letters beside the cut, each with its meaning."""
        shown = {chip.letter for chip in self.chips()}
        return [(letter, word) for letter, word in LETTERS.items() if letter in shown]

    @property
    def cut_count(self) -> int:
        """The number of messages that are removed at the start; 0 if all are."""
        cut = self.ran.cut
        return cut.at if cut and cut.at < self.ran.before.messages else 0

    def strip(self) -> Iterator[Bar]:
        whole = sum(block.size for block in self.ran.blocks) or 1
        done = 0
        for block in self.ran.blocks:
            width = max(0.4, 1000 * block.size / whole - 0.6)
            yield Bar(round(1000 * done / whole, 1), round(width, 1), block.is_gone)
            done += block.size


def _below(steps: tuple[Step, ...], above: Step) -> Iterator[Step]:
    """Yield the steps inside a step that contain no other step."""
    places = [step.place for step in steps]
    for step in steps:
        inside = step.place.startswith(f"{above.place}.") if above.place else bool(step.place)
        if inside and not any(place.startswith(f"{step.place}.") for place in places):
            yield step


def _part(step: Step) -> Part:
    _, state, icon = WORDS[step.verdict]
    return Part(step.label, _worded(step.reason), state, icon)


def _worded(reason: str) -> str:
    """Return the reason with `compactors[0]` as step 1, and `triggers[0]` as trigger 1."""
    return _PLACE.sub(lambda found: f"{_PLACE_WORDS[found[1]]} {int(found[2]) + 1}", reason)


def _measure(name: str, before: int, after: int, *, is_bytes: bool = False) -> Measure:
    text = byte_text if is_bytes else "{:,}".format
    percent = round(100 * after / before) if before else 100
    saved = f"−{100 - percent}%" if after < before else ""
    return Measure(name, text(before), text(after), saved, min(100, percent))


# The open chain before and after a run: its sections, with the messages that go struck through.


SECTIONS = 40
"""The number of sections in a window."""
MEMBERS = 40
"""The number of messages that an open section shows on either side of a cut."""


@dataclass(frozen=True, slots=True)
class MessageRow:
    number: int
    """The number among the stored messages, from 0."""
    words: MessageWords
    size: int
    is_gone: bool


@dataclass(frozen=True, slots=True)
class CutRow:
    """A line between messages: here the removed ones end."""

    change: Change


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Messages of a section that the page leaves out."""

    count: int


@dataclass(frozen=True, slots=True)
class SectionRow:
    number: int
    title: str
    messages: int
    size: int
    bar: int
    gone: int
    """The number of its messages that are removed."""
    rows: tuple[MessageRow | CutRow | LeftOut, ...]
    """Rows of its messages; empty if it is closed."""
    cuts: tuple[CutRow, ...]
    """The changes that end with it."""

    @property
    def is_gone(self) -> bool:
        return 0 < self.gone == self.messages


@dataclass(frozen=True, slots=True)
class BeforeAfter:
    sections: tuple[SectionRow, ...]
    first: int
    last: int
    total: int

    @property
    def previous(self) -> int | None:
        return max(1, self.first - SECTIONS) if self.first > 1 else None

    @property
    def following(self) -> int | None:
        return self.last + 1 if self.last < self.total else None


def before_after(chain: StoredChain, ran: Ran, start: int | None = None) -> BeforeAfter:
    """Return a window of sections from number `start` on, or around the last change if it is None."""
    outline = chain.outline
    total = outline.listing.section_count
    if not total:
        return BeforeAfter((), 1, 0, 0)
    at = _section_of(chain, ran.changes[-1].stop) if ran.changes else 1
    first = max(1, min(start or at - SECTIONS // 2, total))
    found = list(outline.sections(first, first + SECTIONS))
    largest = max((section.measure.size for section in found), default=0)
    rows = tuple(_section(chain, ran, section, largest) for section in found)
    return BeforeAfter(rows, first, found[-1].number, total)


def _section_of(chain: StoredChain, place: int) -> int:
    outline = chain.outline
    return outline.section_of_row(outline.row_of_message(min(place, len(chain) - 1))).number


def _section(chain: StoredChain, ran: Ran, section: SectionPlace, largest: int) -> SectionRow:
    start, stop = max(section.start, ran.leading), section.start + section.measure.messages
    changes = [change for change in ran.changes if change.start < stop and change.stop > start]
    gone = sum(min(change.stop, stop) - max(change.start, start) for change in changes)
    edges = [change.stop for change in ran.changes if start <= change.stop <= stop]
    rows = tuple(_members(chain, ran, (start, stop), edges)) if edges else ()
    cuts = tuple(CutRow(change) for change in changes if change.stop == stop)
    size = section.measure.size - (ran.leading_size if section.start < ran.leading else 0)
    title = _title(chain, section)
    return SectionRow(section.number, title, stop - start, size, bar_step(size, largest), gone, rows, cuts)


def _title(chain: StoredChain, section: SectionPlace) -> str:
    headers = [row.shape for row in chain.rows(section.start, section.start + max(1, min(section.measure.headers, 4)))]
    first = next((shape for shape in headers if shape.role == HUMAN), headers[0])
    words = words_of(first)
    return words.teaser or words.name


def _members(chain: StoredChain, ran: Ran, span: tuple[int, int], edges: Sequence[int]) -> Iterator[MessageRow | CutRow | LeftOut]:
    """Yield the messages of a section near the ends of changes, with a line at each end."""
    done = span[0]
    for low, high in _stretches(span, edges):
        if low > done:
            yield LeftOut(low - done)
        yield from _rows(chain, ran, low, high)
        done = high
    if done < span[1]:
        yield LeftOut(span[1] - done)


def _stretches(span: tuple[int, int], edges: Sequence[int]) -> Iterator[tuple[int, int]]:
    low = high = span[0]
    for edge in edges:
        if edge - MEMBERS > high:
            if high > low:
                yield low, high
            low = edge - MEMBERS
        high = min(span[1], edge + MEMBERS)
    if high > low:
        yield low, high


def _rows(chain: StoredChain, ran: Ran, low: int, high: int) -> Iterator[MessageRow | CutRow]:
    shapes = [row.shape for row in chain.rows(low, high)]
    tools = {call.id: call.name for shape in shapes for call in shape.calls}
    # a change that ends with the section before is shown there
    ends = {change.stop: change for change in ran.changes if change.stop > low}
    for place, shape in enumerate(shapes, low):
        # a cut between two sections is drawn between them, not in the second one too
        if place in ends and place > low:
            yield CutRow(ends[place])
        is_gone = any(change.start <= place < change.stop for change in ran.changes)
        yield MessageRow(place - ran.leading, words_of(shape, tools), shape.size, is_gone)
