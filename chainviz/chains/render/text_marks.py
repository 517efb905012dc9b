"""Ranges of a part's text that somebody commented on, marked in the HTML that shows the text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from html import unescape
from itertools import pairwise

from chainviz.chains.render.excerpt import Stretch
from chainviz.chains.render.json_text import place_in_layout
from chainviz.chains.render.visible_text import marks, safe
from chainviz.core.documents.json.long_values import part_of
from chainviz.core.review import words_pattern

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
