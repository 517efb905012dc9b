"""What a rule is: a pattern as data, hints that make scanning fast, and a check for what a pattern cannot say."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Literal, Protocol

Group = Literal["secret", "personal", "own"]


Found = re.Match[str]
"""What a check may look at. RE2's matches have the same methods."""


class Pattern(Protocol):
    def finditer(self, text: str, /) -> Iterator[Found]: ...


def lower(text: str) -> str:
    """In lower case, with all places where they were: one letter would grow."""
    return text.replace("\u0130", "i").lower()


class Anchored:
    """A pattern whose matches begin with one of a few words: finding the words first is many times faster."""

    def __init__(self, words: tuple[str, ...], pattern: str, *, ignore_case: bool = False) -> None:
        self.words = words
        self._pattern = re.compile(pattern, re.ASCII | (re.IGNORECASE if ignore_case else 0))
        self._ignore_case = ignore_case

    def finditer(self, text: str, /) -> Iterator[Found]:
        searched = lower(text) if self._ignore_case else text
        for word in self.words:
            at = searched.find(word)
            while at >= 0:
                found = self._pattern.match(text, at)
                if found:
                    yield found
                at = searched.find(word, found.end() if found else at + 1)


@dataclass(frozen=True, slots=True)
class Rule:
    name: str
    """Stable: decisions and audit name it."""
    label: str
    group: Group
    pattern: Pattern = field(repr=False)
    hints: tuple[str, ...] = ()
    """Every text with a match holds one of these; empty: the text must be searched."""
    check: Callable[[str, Found], bool] = field(default=lambda value, found: True, repr=False)
    value: str | int = 0
    """The group of the match that is the secret; 0 is all of it."""
    head: int = 0
    """Characters of the value that a mask leaves at the start: a public prefix."""
    tail: int = 0
    """Characters that a mask leaves at the end."""
    ignores_case: bool = False
    """Values that differ only in upper and lower case are one value."""

    def same(self, value: str) -> str:
        """What equal values share."""
        return value.casefold() if self.ignores_case else value

    @property
    def words(self) -> tuple[str, ...]:
        """Every text with a match holds one of these, in upper or lower case; empty where nothing is known."""
        return self.pattern.words if isinstance(self.pattern, Anchored) else self.hints
