"""The open chain before and after a run: its sections, with the messages that go struck through."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from chainviz.chains.explorer.message_words import MessageWords, words_of
from chainviz.chains.render.numbers import bar_step
from chainviz.core.chain.messages import HUMAN
from chainviz.drafts.operations.compact.run import Change, Ran
from chainviz.store.content.chain import StoredChain
from chainviz.store.outline.reader import SectionPlace

SECTIONS = 40
"""Sections of one window."""
MEMBERS = 40
"""Messages that an open section shows on either side of a cut."""


@dataclass(frozen=True, slots=True)
class MessageRow:
    number: int
    words: MessageWords
    size: int
    is_gone: bool


@dataclass(frozen=True, slots=True)
class CutRow:
    """A line between messages: here the removed ones end."""

    change: Change


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Messages of a section that are not shown."""

    count: int


@dataclass(frozen=True, slots=True)
class SectionRow:
    number: int
    title: str
    messages: int
    size: int
    bar: int
    gone: int
    """How many of its messages go."""
    rows: tuple[MessageRow | CutRow | LeftOut, ...]
    """Of its messages; none where it is closed."""
    cuts: tuple[CutRow, ...]
    """Changes that end with it."""

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
    """A window of sections from number `start` on; None: around the last change."""
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


def _members(
    chain: StoredChain, ran: Ran, span: tuple[int, int], edges: Sequence[int]
) -> Iterator[MessageRow | CutRow | LeftOut]:
    """The messages of a section near the ends of changes, with a line at each."""
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
        number = place - ran.leading + 1
        yield MessageRow(number, words_of(shape, tools), shape.size, is_gone)
