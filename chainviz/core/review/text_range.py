"""Finds a range of a text again after the text changed."""

from __future__ import annotations

import re
from dataclasses import dataclass

from chainviz.core.diff.align import Equal, align
from chainviz.core.diff.words import common_head, common_tail

MOST_CHARACTERS = 200_000
"""Of longer changed stretches the words are not compared."""
_WORDS = re.compile(r"\w+|\s+|[^\w\s]")


@dataclass(frozen=True, slots=True)
class TextRange:
    """Characters `start : end` of a text."""

    start: int
    end: int

    def of(self, text: str) -> str:
        return text[self.start : self.end]

    def moved(self, by: int) -> TextRange:
        return TextRange(self.start + by, self.end + by)


def words_pattern(text: str) -> re.Pattern[str] | None:
    """Finds the words of a text whatever stands between them: a page shows them without the signs of Markdown.

    Returns None where the text has no words.
    """
    words = re.findall(r"[^\W_]+", text)
    return re.compile(r"[\W_]+".join(words)) if words else None


def range_after(old: str, new: str, range: TextRange) -> TextRange | None:
    """Returns where the text of the range stands in `new`; None where it was changed or removed."""
    head = common_head(old, new)
    if range.end <= head:
        return range
    tail = common_tail(old, new, min(len(old), len(new)) - head)
    if range.start >= len(old) - tail:
        return range.moved(len(new) - len(old))
    return _in_equal_words(old, new, range) or _only_place(old, new, range)


def _in_equal_words(old: str, new: str, range: TextRange) -> TextRange | None:
    if max(len(old), len(new)) > MOST_CHARACTERS:
        return None
    words, others = _WORDS.findall(old), _WORDS.findall(new)
    at, there = _starts(words), _starts(others)
    for step in align(words, others).steps():
        if isinstance(step, Equal) and at[step.old] <= range.start and range.end <= at[step.old + step.length]:
            return range.moved(there[step.new] - at[step.old])
    return None


def _starts(words: list[str]) -> list[int]:
    starts = [0]
    for word in words:
        starts.append(starts[-1] + len(word))
    return starts


def _only_place(old: str, new: str, range: TextRange) -> TextRange | None:
    """Text that occurs once before and once after has moved."""
    quote = range.of(old)
    if not quote or old.count(quote) != 1 or new.count(quote) != 1:
        return None
    start = new.index(quote)
    return TextRange(start, start + len(quote))
