"""A parsed text as lines with the ranges of its sections."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush
from itertools import pairwise

from django.utils.safestring import SafeString, mark_safe

from chainviz.chains.render.visible_text import safe
from chainviz.core.text_formats.contract import FoundSection, IgnoredRange, ParsedText

# Find the innermost section of each range of a text, in one pass over the text.


IGNORED = -1
"""The owner of text that belongs to no section."""


@dataclass(frozen=True, slots=True)
class Span:
    start: int
    end: int
    owner: int | None
    """Index of the section, IGNORED, or None for white space between them."""


def spans(text: str, sections: Sequence[FoundSection], ignored: Sequence[IgnoredRange]) -> Iterator[Span]:
    """Neighbouring spans that cover the whole text."""
    owned = [(section.outer_start, section.outer_end, index) for index, section in enumerate(sections)]
    owned += [(each.start, each.end, IGNORED) for each in ignored]
    owned.sort()
    ends = {end for _, end, _ in owned} | {start for start, _, _ in owned}
    places = sorted(ends | {0, len(text)})
    covering: list[tuple[int, int, int]] = []
    """A heap of the sections that have begun, the latest first."""
    following = 0
    for start, end in pairwise(places):
        while following < len(owned) and owned[following][0] <= start:
            begin, until, owner = owned[following]
            heappush(covering, (-begin, until, owner))
            following += 1
        while covering and covering[0][1] <= start:
            heappop(covering)
        yield Span(start, end, covering[0][2] if covering else None)


LINES = 1_000
"""The number of lines that are shown at once."""
LONGEST_LINE = 4_000
"""The most characters that are shown of a line."""
HUES = 5
"""The number of colours, which sections have in turn."""


@dataclass(frozen=True, slots=True)
class SourceLine:
    number: int
    html: SafeString
    state: str = ""
    """The colour of the line's section; "" for a line of none or of several."""
    label: str = ""
    range: int | None = None
    is_ignored: bool = False


@dataclass(frozen=True, slots=True)
class SourceWindow:
    lines: tuple[SourceLine, ...]
    total: int
    first: int
    next: int | None


@dataclass(frozen=True, slots=True)
class Labels:
    """The names and colours of the ranges of a parsed text."""

    names: Sequence[str]
    """The name of each section; the other members are by section too."""
    places: Sequence[tuple[int, int]]
    """By section: its number among the sections of its name, and how many there are."""
    hues: Sequence[str]

    def label(self, section: int) -> str:
        number, count = self.places[section]
        return f"{self.names[section]} {number}" if count > 1 else self.names[section]


def source_window(text: str, parsed: ParsedText, labels: Labels, first: int = 0) -> SourceWindow:
    """Return the lines from number `first` on, counted from 0."""
    lines = text.split("\n")
    shown = lines[first : first + LINES]
    begin = sum(len(line) + 1 for line in lines[:first])
    painter = _Painter(text, parsed, labels)
    found = []
    for number, line in enumerate(shown, first + 1):
        found.append(painter.line(number, begin, begin + len(line)))
        begin += len(line) + 1
    stop = first + len(shown)
    return SourceWindow(tuple(found), len(lines), first, stop if stop < len(lines) else None)


class _Painter:
    """Decorates lines. They must be passed from top to bottom."""

    def __init__(self, text: str, parsed: ParsedText, labels: Labels) -> None:
        self._text = text
        self._parsed = parsed
        self._labels = labels
        self._spans = list(spans(text, parsed.sections, parsed.ignored))
        self._ignored = {each.start for each in parsed.ignored}
        self._ambiguities = sorted(parsed.ambiguities, key=lambda each: each.start)
        self._at = 0
        self._labelled: set[tuple[int, int]] = set()

    def line(self, number: int, start: int, end: int) -> SourceLine:
        end -= self._text[start:end].endswith("\r")
        pieces = list(self._pieces(start, end))
        owners = {piece.owner for piece in pieces if self._text[piece.start : piece.end].strip()}
        html = "".join(self._piece(piece, alone=len(owners) < 2) for piece in pieces)
        if end - start > LONGEST_LINE:
            html += f'<span class="faint"> … {end - start - LONGEST_LINE:,} more characters</span>'
        names = [name for piece in pieces if (name := self._label(piece))]
        owner = owners.pop() if len(owners) == 1 else None
        is_section = owner is not None and owner != IGNORED
        return SourceLine(
            number,
            mark_safe(html or " "),  # escaped piece by piece
            state=self._labels.hues[owner] if is_section and owner is not None else "",
            label=", ".join(names),
            range=owner if is_section else None,
            is_ignored=owner == IGNORED,
        )

    def _pieces(self, start: int, end: int) -> Iterator[Span]:
        end = min(end, start + LONGEST_LINE)
        while self._at < len(self._spans) and self._spans[self._at].end <= start:
            self._at += 1
        at = self._at
        while at < len(self._spans) and self._spans[at].start < end:
            span = self._spans[at]
            yield Span(max(start, span.start), min(end, span.end), span.owner)
            at += 1

    def _label(self, piece: Span) -> str:
        """Return the label of a range for its first line; "" for others."""
        if piece.owner is None or not self._text[piece.start : piece.end].strip():
            return ""
        if piece.owner == IGNORED:
            return "ignored" if piece.start in self._ignored else ""
        key = (piece.owner, self._parsed.sections[piece.owner].outer_start)
        if key in self._labelled or piece.start < key[1]:
            return ""
        self._labelled.add(key)
        return self._labels.label(piece.owner)

    def _piece(self, piece: Span, *, alone: bool) -> str:
        html = "".join(self._marked(piece))
        if alone or piece.owner is None:
            return html
        if piece.owner == IGNORED:
            return f'<span class="src-piece" data-ignored>{html}</span>'
        return f'<span class="src-piece" data-state="{self._labels.hues[piece.owner]}">{html}</span>'

    def _marked(self, piece: Span) -> Iterator[str]:
        """Yield a line as HTML. Tags and headers are bold; the tags that strict mode refuses are marked."""
        marks = sorted(self._marks(piece))
        place = piece.start
        for start, end, tag in marks:
            start, end = max(start, place), min(end, piece.end)
            if start < end:
                yield f"{safe(self._text[place:start])}<{tag}>{safe(self._text[start:end])}</{tag.split()[0]}>"
                place = end
        yield safe(self._text[place : piece.end])

    def _marks(self, piece: Span) -> Iterator[tuple[int, int, str]]:
        if piece.owner is not None and piece.owner != IGNORED:
            section = self._parsed.sections[piece.owner]
            for start, end in ((section.outer_start, section.start), (section.end, section.outer_end)):
                yield start, start + len(self._text[start:end].rstrip()), "b"
        at = bisect_left(self._ambiguities, piece.start, key=lambda each: each.start)
        while at < len(self._ambiguities) and (found := self._ambiguities[at]).start < piece.end:
            yield found.start, found.start + len(found.tag), 'mark class="ambiguous"'
            at += 1
