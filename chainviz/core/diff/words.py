"""Marks what differs inside one line, by words. Long lines are compared and shown only where they differ."""

from __future__ import annotations

import re
from typing import NamedTuple

from chainviz.core.diff.align import Equal, align

_WORDS = re.compile(r"\w+|\s+|[^\w\s]")
_INSIDE = re.compile(r"\w\w")
MOST_CHARACTERS = 20_000
"""Longer differing stretches are marked as a whole."""
LONG_LINE, KEPT_AROUND = 2_000, 200
LEAST_ALIKE = 0.2
"""Lines that share less are marked whole: confetti helps nobody."""


CR = "\r"


class Span(NamedTuple):
    text: str
    marked: bool
    skipped: int = 0
    """This many characters are left out here; then `text` is empty."""


Spans = tuple[Span, ...]


def plain(line: str, *, marked: bool = False) -> Spans:
    """A line with nothing, or all of it, marked. The CR of a line end is none of its words."""
    line = line.removesuffix(CR)
    return _shortened([Span(line, marked)], len(line))


def mark_words(old: str, new: str) -> tuple[Spans, Spans]:
    """Both lines in spans, those that differ marked; among them a CR that ends only one of the two."""
    if old.endswith(CR) and new.endswith(CR):
        old, new = old[:-1], new[:-1]
    head = common_head(old, new)
    tail = common_tail(old, new, min(len(old), len(new)) - head)
    head, tail = _to_word_border(old, new, head, tail)
    old_middle, new_middle = old[head : len(old) - tail], new[head : len(new) - tail]
    if max(len(old_middle), len(new_middle)) > MOST_CHARACTERS:
        old_spans, new_spans = [Span(old_middle, True)], [Span(new_middle, True)]
    else:
        old_spans, new_spans = _by_words(old_middle, new_middle)
    ends = Span(old[:head], False), Span(old[len(old) - tail :], False)
    whole_old, whole_new = [ends[0], *old_spans, ends[1]], [ends[0], *new_spans, ends[1]]
    if _alike(whole_old, whole_new) < LEAST_ALIKE:
        return plain(old, marked=True), plain(new, marked=True)
    return _shortened(whole_old, len(old)), _shortened(whole_new, len(new))


def common_head(old: str, new: str) -> int:
    """Length of the common beginning; by halving, since comparing slices is fast and characters are not."""
    low, high = 0, min(len(old), len(new))
    while low < high:
        middle = (low + high + 1) // 2
        if old[low:middle] == new[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def common_tail(old: str, new: str, most: int) -> int:
    """Length of the common end, `most` characters at most."""
    low, high = 0, most
    while low < high:
        middle = (low + high + 1) // 2
        if old[len(old) - middle : len(old) - low] == new[len(new) - middle : len(new) - low]:
            low = middle
        else:
            high = middle - 1
    return low


def _to_word_border(old: str, new: str, head: int, tail: int) -> tuple[int, int]:
    """The common ends shortened so that no word is cut (a word of more than 50 characters is)."""

    def inside_word(text: str, place: int) -> bool:
        return 0 < place < len(text) and bool(_INSIDE.fullmatch(text[place - 1 : place + 1]))

    for _ in range(50):
        if not (head and (inside_word(old, head) or inside_word(new, head))):
            break
        head -= 1
    for _ in range(50):
        if not (tail and (inside_word(old, len(old) - tail) or inside_word(new, len(new) - tail))):
            break
        tail -= 1
    return head, tail


def _by_words(old: str, new: str) -> tuple[list[Span], list[Span]]:
    a, b = _WORDS.findall(old), _WORDS.findall(new)
    old_spans: list[Span] = []
    new_spans: list[Span] = []
    steps = list(align(a, b).steps())
    for i, step in enumerate(steps):
        if isinstance(step, Equal):
            text = "".join(a[step.old : step.old + step.length])
            # one space between two changed words is no resting place for the eye
            marked = text == " " and 0 < i < len(steps) - 1
            old_spans.append(Span(text, marked))
            new_spans.append(Span(text, marked))
        else:
            old_spans.append(Span("".join(a[step.old_start : step.old_stop]), True))
            new_spans.append(Span("".join(b[step.new_start : step.new_stop]), True))
    return old_spans, new_spans


def _alike(old: list[Span], new: list[Span]) -> float:
    longest = max(sum(len(span.text.strip()) for span in spans) for spans in (old, new))
    same = sum(len(span.text.strip()) for span in old if not span.marked)
    return same / longest if longest else 1.0


def _shortened(spans: list[Span], length: int) -> Spans:
    """Neighbours of one kind joined; of a long line's spans only the ends are kept."""
    joined: list[Span] = []
    for span in spans:
        if not span.text:
            continue
        if joined and joined[-1].marked == span.marked:
            joined[-1] = Span(joined[-1].text + span.text, span.marked)
        else:
            joined.append(span)
    if length <= LONG_LINE:
        return tuple(joined)
    return tuple(part for span in joined for part in _ends(span))


def _ends(span: Span) -> Spans:
    keep = LONG_LINE // 2 if span.marked else KEPT_AROUND
    if len(span.text) <= 2 * keep + 1:
        return (span,)
    skipped = Span("", span.marked, len(span.text) - 2 * keep)
    return Span(span.text[:keep], span.marked), skipped, Span(span.text[-keep:], span.marked)
