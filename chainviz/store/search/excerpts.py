"""Find phrases in a text, and cut out the words around them."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence

from chainviz.store.search.lookup import Phrase
from chainviz.store.search.words import LONGEST_WORD, SPELLED, folded, meant

BEFORE, AFTER = 50, 110
"""The number of characters before and after the first place."""
AT_ONCE, OVERLAP = 8_000, 1_500
"""The number of characters that are searched together, and how many of them the next ones repeat."""

Excerpt = tuple[tuple[str, bool], ...]
"""Pieces of a text, each with whether it is one of the phrases."""


def pattern_of(phrases: Sequence[Phrase]) -> re.Pattern[str]:
    """Find any of the phrases in a folded text, as the index does."""
    return re.compile("|".join(f"(?:{_pattern(phrase)})" for phrase in phrases))


def _pattern(phrase: Phrase) -> str:
    found = ""
    for place, word in enumerate(phrase.words):
        is_spelled = bool(SPELLED.match(word))
        begin = rf"(?<!{SPELLED.pattern})" if is_spelled and not place else ""
        if place:
            begin = r"[\W_]+" if is_spelled and SPELLED.fullmatch(phrase.words[place - 1][-1:]) else r"[\W_]*"
        is_open = len(word) == LONGEST_WORD or (phrase.is_prefix and place == len(phrase.words) - 1)
        end = f"{SPELLED.pattern}*" if is_open else f"(?!{SPELLED.pattern})" if is_spelled else ""
        found += begin + re.escape(word) + end
    return found


def excerpt(text: str, pattern: re.Pattern[str]) -> Excerpt | None:
    """Return the first place of a phrase with the words around it, or None. Escapes of JSON are decoded."""
    for source in dict.fromkeys((meant(text), text)):
        for start in range(0, max(1, len(source)), AT_ONCE - OVERLAP):
            some = source[start : start + AT_ONCE]
            found = pattern.search(folded(some))
            if found and found.group():
                _, places = _with_places(some)
                return _around(source, start + places[found.start()], start + places[found.end()], pattern)
            if start + AT_ONCE >= len(source):
                break
    return None


def _around(text: str, begin: int, stop: int, pattern: re.Pattern[str]) -> Excerpt:
    """Return the excerpt around the first place, which is `begin:stop`."""
    at, end = _whole_words(text, max(0, begin - BEFORE), begin), min(len(text), stop + AFTER)
    start = max(0, begin - 1)
    plain, places = _with_places(text[start : stop + OVERLAP])
    pieces: list[tuple[str, bool]] = []
    for found in pattern.finditer(plain, bisect_left(places, begin - start)):
        begin, stop = start + places[found.start()], start + places[found.end()]
        if stop > end:
            break
        pieces += [(text[at:begin], False), (text[begin:stop], True)]
        at = stop
    return tuple(piece for piece in (*pieces, (text[at:end], False)) if piece[0])


def _whole_words(text: str, at: int, begin: int) -> int:
    """Return the first start of a whole word between the two; `at` if no white space ends the cut one."""
    cut = at and not text[at - 1].isspace() and re.compile(r"\S+\s+").match(text, at, begin)
    return cut.end() if cut else at


def _with_places(text: str) -> tuple[str, Sequence[int]]:
    """Return the folded text, and for each of its letters the index of the letter in the text."""
    plain = folded(text)
    if len(plain) == len(text):
        return plain, range(len(text) + 1)
    letters = [letter.lower() if letter.isascii() else folded(letter) for letter in text]
    places = [place for place, letter in enumerate(letters) for _ in letter]
    return "".join(letters), [*places, len(text)]
