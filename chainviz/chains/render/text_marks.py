"""A stretch of a long text, and the ranges of a part's text that somebody commented on, marked in the HTML that shows it.

A stretch is the first 400 lines or 20 kB, then bigger steps. It says what it leaves out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from html import unescape
from itertools import pairwise

from chainviz.chains.render.json_text import place_in_layout
from chainviz.chains.render.visible_text import marks, safe
from chainviz.core.documents.json.long_values import breaks_in, length_of, part_of
from chainviz.core.review import words_pattern

FIRST_LINES, FIRST_BYTES = 400, 20_000
STEP_LINES, STEP_BYTES = 4_000, 200_000


@dataclass(frozen=True, slots=True)
class Stretch:
    text: str
    start: int
    end: int
    """The start and the end in the whole text, in characters."""
    left: int
    """The number of characters after the end."""
    lines_left: int


def stretch(text: str, start: int = 0, until: int | None = None) -> Stretch:
    """Return the part of a text to show from `start`, cut at a line end if one is near. `until`: the assumed end of the
    text."""
    whole = length_of(text)
    stop = whole if until is None else min(until, whole)
    start = max(0, min(start, stop))
    lines, size = (STEP_LINES, STEP_BYTES) if start else (FIRST_LINES, FIRST_BYTES)
    ahead = part_of(text, start, min(start + size, stop))
    shown = _first_lines(_first_bytes(ahead, size, is_all=start + len(ahead) == stop), lines)
    end = start + len(shown)
    return Stretch(shown, start, end, stop - end, _count_lines(text, end, stop))


def _count_lines(text: str, start: int, stop: int) -> int:
    return 0 if start == stop else breaks_in(text, start, stop) + (part_of(text, stop - 1, stop) != "\n")


def _first_bytes(ahead: str, size: int, is_all: bool) -> str:
    part = ahead
    if not part.isascii():
        coded = part.encode("utf-8", "surrogatepass")
        cut = min(size, len(coded))
        while cut < len(coded) and coded[cut] & 0xC0 == 0x80:  # not inside a character
            cut -= 1
        part = coded[:cut].decode("utf-8", "surrogatepass")
    if is_all and len(part) == len(ahead):
        return part
    line_end = part.rfind("\n", len(part) // 2)
    return part if line_end < 0 else part[: line_end + 1]


def _first_lines(text: str, lines: int) -> str:
    place = 0
    for _ in range(lines):
        found = text.find("\n", place)
        if found < 0:
            return text
        place = found + 1
    return text[:place]


_TAG = re.compile(r"(<[^>]*>)")
_LINK_TARGET = re.compile(r"(?<=\]\()[^)\s]*")
_ADDED = re.compile(r"(?<=<small>)[^<]*")
"""Text that the page adds to a link."""


@dataclass(frozen=True, slots=True)
class TextMark:
    start: int
    end: int
    """The start and the end in characters of the part's text."""
    quote: str
    """The text of the range."""
    href: str
    """The address of the notes on it."""
    label: str
    state: str
    """The state, which gives the colour."""

    def is_in(self, text: str) -> bool:
        """Return True if the mark still fits the text, since a purge changes texts without moving their marks."""
        return part_of(text, self.start, self.end) == self.quote


Span = tuple[int, int, TextMark]
"""The range of a mark in the visible characters of the HTML, and the mark."""


def in_layout(found: Iterable[TextMark], text: str) -> list[TextMark]:
    """Return the marks of a JSON text with their places in the formatted text."""
    # the place of the first character itself: whitespace may have been added in front of it
    places = ((mark, place_in_layout(text, mark.start + 1) - 1, place_in_layout(text, mark.end)) for mark in found)
    return [replace(mark, start=start, end=end) for mark, start, end in places]


def mark_text(html: str, shown: Stretch, found: Sequence[TextMark]) -> str:
    """Mark a text. `html` shows the range word for word; the marks refer to the text that contains the range."""
    return _marked(html, list(_spans_of_text(shown, found))) if found else html


def _spans_of_text(shown: Stretch, found: Iterable[TextMark]) -> Iterator[Span]:
    for mark in found:
        start, end = (min(max(0, place - shown.start), len(shown.text)) for place in (mark.start, mark.end))
        if start < end:
            yield len(marks(shown.text[:start])), len(marks(shown.text[:end])), mark


def mark_prose(html: str, shown: Stretch, found: Sequence[TextMark]) -> str:
    """Mark a text in rendered Markdown: the words of each mark are searched in `html`, in the same order as in the text."""
    if html.startswith("<pre") or not found:
        return mark_text(html, shown, found)
    own = _ADDED.sub(lambda added: " " * len(unescape(added[0])), html)
    visible = "".join(unescape(piece) for piece in _TAG.split(own) if not piece.startswith("<"))
    return _marked(html, list(_spans_of_words(visible, shown, found)))


def _spans_of_words(visible: str, shown: Stretch, found: Iterable[TextMark]) -> Iterator[Span]:
    text = _LINK_TARGET.sub(lambda target: " " * len(target[0]), shown.text)
    for mark in found:
        start, end = mark.start - shown.start, mark.end - shown.start
        words = words_pattern(text[start:end]) if 0 <= start < end <= len(text) else None
        if words is None:
            continue
        first = words.search(text, start)
        before = sum(each.start() < first.start() for each in _overlapping(words, text)) if first else 0
        places = list(_overlapping(words, visible))
        if places:
            place = places[min(before, len(places) - 1)]
            yield place.start(1), place.end(1), mark


def _overlapping(words: re.Pattern[str], text: str) -> Iterator[re.Match[str]]:
    return re.finditer(f"(?=({words.pattern}))", text)


def _marked(html: str, spans: Sequence[Span]) -> str:
    """Return the marked HTML. A link cannot contain a link, so the link to a comment follows the link of the text."""
    out: list[str] = []
    after_link: list[str] = []
    place, is_in_link = 0, False
    for piece in _TAG.split(html) if spans else (html,):
        if not spans or piece.startswith("<"):
            out.append(piece)
            is_in_link = piece.startswith("<a ") or (is_in_link and piece != "</a>")
            if not is_in_link:
                out += after_link
                after_link = []
            continue
        text = unescape(piece)
        for start, end in _stretches(place, len(text), spans):
            out.append(_wrapped(text[start - place : end - place], [span for span in spans if span[0] <= start and end <= span[1]]))
            (after_link if is_in_link else out).extend(_link(mark) for _, last, mark in spans if start < last == end)
        place += len(text)
    return "".join(out)


def _stretches(place: int, length: int, spans: Sequence[Span]) -> Iterator[tuple[int, int]]:
    edges = {place, place + length, *(edge for span in spans for edge in span[:2] if place < edge < place + length)}
    return pairwise(sorted(edges))


def _wrapped(text: str, over: Sequence[Span]) -> str:
    if not over or not text.strip():
        return safe(text)
    return f'<mark class="anchor" data-state="{over[0][2].state}">{safe(text)}</mark>'


def _link(mark: TextMark) -> str:
    """Render a link without text: nothing is added to what a person selects or copies."""
    label = safe(mark.label)
    return f'<a class="anchor-link" href="{safe(mark.href)}" data-state="{mark.state}" aria-label="{label}" title="{label}"></a>'
