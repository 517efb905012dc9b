"""Sentences of APIs that recognise themselves in any text, whatever ids, numbers, paths and quotes they are filled with.

Only words count: a sentence is found where its words follow one another, with anything in place of each variable. Numbers, signs and
steps of a path such as `messages.3.content.0` are passed over, and so is a path in front of a sentence.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

_WORD = re.compile(r"[A-Za-z_]+")
_STEPS = re.compile(
    r"\b\w+(?:\.?\[(?:\d+|\{\w+\})\]|\.(?:\d+|\{\w+\})(?![\w-]))\.?|\b(?:messages|contents|content|parts|input|body)\.(?=[A-Za-z_{])"
)
"""Steps of a path with an index, and names of lists in front of a further step."""
_PREFIX = re.compile(r"\A[\w.\[\]{}'’`]+:\s+")
_PIECES = re.compile(r"[^\s,'\"`“”‘’()\[\]{}<>]+")
_SENTENCE_END = re.compile(r"\.\s|\n")
_IDS = frozenset(("id", "ids", "call_id", "item_id"))
"""Names of variables that stand for ids."""
FEWEST_LETTERS = 10
"""A shorter sentence recognises nothing."""
TRUNCATED_AFTER = 8
"""Words after which a sentence may break off where the text ends."""


@dataclass(frozen=True)
class Words:
    """A text as its words in lower case."""

    text: str

    @cached_property
    def _found(self) -> list[re.Match[str]]:
        return list(_WORD.finditer(_without_steps(self.text)))

    @cached_property
    def words(self) -> tuple[str, ...]:
        return tuple(word[0].lower() for word in self._found)

    @cached_property
    def places(self) -> Mapping[str, Sequence[int]]:
        """The places of each word."""
        places: dict[str, list[int]] = {}
        for place, word in enumerate(self.words):
            places.setdefault(word, []).append(place)
        return places

    def between(self, first: int, last: int) -> str:
        """What is written behind the word before `first`, up to the word `last`."""
        start = self._found[first - 1].end() if first else 0
        return self.text[start : self._found[last].start() if last < len(self._found) else None]

    def behind(self, last: int) -> str:
        """What is written behind a word, to the end of its sentence."""
        return _SENTENCE_END.split(self.text[self._found[last].end() :], maxsplit=1)[0]


@dataclass(frozen=True, slots=True)
class Match:
    score: int
    """How many words of the sentence were found."""
    ids: tuple[str, ...]
    """Ids that are written in place of its variables."""


@dataclass(frozen=True)
class Sentence:
    """A sentence with variables such as `{id}`."""

    says: str

    @cached_property
    def _prefix(self) -> tuple[str, ...]:
        found = _PREFIX.match(self.says)
        return Words(found[0]).words if found else ()

    @cached_property
    def _texts(self) -> list[str]:
        """What is between the variables, and the names of these, in turn."""
        return re.split(r"\{([a-z_]+)\}", _without_steps(_PREFIX.sub("", self.says, count=1)))

    @cached_property
    def _steps(self) -> tuple[tuple[str, tuple[str, ...]], ...]:
        """The words between variables, each with the name of the variable in front of them."""
        texts = ["", *self._texts]
        named = [(texts[place], Words(texts[place + 1]).words) for place in range(0, len(texts), 2)]
        return tuple((name, words) for name, words in named if words)

    @property
    def can_tell(self) -> bool:
        """Whether it is long enough to recognise anything."""
        return sum(len(word) for _, words in self._steps for word in words) >= FEWEST_LETTERS

    def match(self, text: Words) -> Match | None:
        """Return what of the text is the sentence; None where it is not there."""
        starts = text.places.get(self._steps[0][1][0], ()) if self._steps else ()
        return next((found for start in starts if (found := self._match_at(text, start))), None)

    def _match_at(self, text: Words, start: int) -> Match | None:
        place, score = start, 0
        ids: list[str] = []
        for number, (variable, words) in enumerate(self._steps):
            begin = _place_of(words, text, place) if number else start
            size = _common(words, text.words, begin)
            ids += _ids(variable, text.between(place, begin)) if number else []
            place, score = begin + size, score + size
            if size < len(words):
                if place < len(text.words) or score < TRUNCATED_AFTER:
                    return None
                break
        if len(self._texts) > 1 and not self._texts[-1].strip(" .'\"`"):
            ids += _ids(self._texts[-2], text.behind(place - 1))
        if self._prefix and text.words[max(0, start - len(self._prefix)) : start] == self._prefix:
            score += len(self._prefix)
        return Match(score, tuple(ids))


def _ids(variable: str, written: str) -> list[str]:
    """The id that is written in place of a variable that stands for one, or the list of them."""
    if variable not in _IDS:
        return []
    pieces = [piece.strip(".:;") for piece in _PIECES.findall(written)]
    found = [piece for piece in pieces if piece]
    return found if variable == "ids" else found[:1]


def _without_steps(text: str) -> str:
    """The text with spaces in place of steps of paths, so that places stay."""
    return _STEPS.sub(lambda found: " " * len(found[0]), text)


def _place_of(words: Sequence[str], text: Words, start: int) -> int:
    """Where words are found from `start` on, all of them or as many as the text has; its end where they are not there."""
    for place in text.places.get(words[0], ()):
        if place >= start and (size := _common(words, text.words, place)) in (len(words), len(text.words) - place):
            return place if size else len(text.words)
    return len(text.words)


def _common(expected: Sequence[str], words: Sequence[str], start: int) -> int:
    """How many of the expected words follow one another from `start` on."""
    pairs = zip(expected, words[start : start + len(expected)], strict=False)
    return next((size for size, (one, other) in enumerate(pairs) if one != other), min(len(expected), len(words) - start))
