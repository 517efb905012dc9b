"""Words a person keeps, looked for as they are: whole words, upper and lower case alike.

RE2 finds where the first word of each entry begins; what stands there is compared with the entries, the longest first. So the
time does not grow with their number.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from chainviz.core.errors import OptionsError
from chainviz.core.secrets.rules.own_rules import MEMORY
from chainviz.core.secrets.rules.rule import Rule

MOST = 2_000
"""Words of one list."""
LONGEST = 200
_TOKEN = re.compile(r"[^\W_]+")
_SURROGATES = re.compile("[\ud800-\udfff]")


def words_in(text: str) -> tuple[str, ...]:
    """One a line, each once. Raises OptionsError, in one sentence, for what cannot be looked for."""
    words = tuple(dict.fromkeys(" ".join(line.split()) for line in text.splitlines() if line.strip()))
    if len(words) > MOST:
        raise OptionsError(f"There are {len(words):,} words; one list has at most {MOST:,}.")
    for word in words:
        if len(word) > LONGEST:
            raise OptionsError(f"A word has at most {LONGEST} characters; “{word[:40]}…” is longer.")
        if len(_TOKEN.sub("", word)) == len(word) or len(word) < 2:
            raise OptionsError(f"“{word[:40]}” has too few letters or digits to search for.")
    return words


def own_words(name: str, text: str, label: str = "") -> tuple[Rule, ...]:
    """One rule for all words of a text; none where it has no word. Raises OptionsError."""
    words = words_in(text)
    return (Rule(name, label or name, "own", _Words(words), ignores_case=True),) if words else ()  # type: ignore[arg-type]


@dataclass(frozen=True, slots=True)
class _Span:
    """What scanning asks a match for."""

    start: int
    end: int

    def span(self, group: str | int = 0) -> tuple[int, int]:
        return self.start, self.end


class _Words:
    def __init__(self, words: tuple[str, ...]) -> None:
        self._by_token: dict[str, list[tuple[int, str]]] = defaultdict(list)
        """By the first run of letters and digits of a word: where in the word that is, and the word."""
        for word in sorted(words, key=len, reverse=True):
            first = _TOKEN.search(word)
            assert first is not None
            self._by_token[first[0].casefold()].append((first.start(), word.casefold()))
        self._begins = _compiled(self._by_token)

    def finditer(self, text: str, /) -> Iterator[_Span]:
        end = 0
        for found in self._begins.finditer(_SURROGATES.sub("\ufffd", text)):
            token = _TOKEN.match(text, found.start(1))
            if token is None or token.start() < end:
                continue
            for before, word in self._by_token.get(token[0].casefold(), ()):
                start = token.start() - before
                stop = start + len(word)
                if start >= end and text[start:stop].casefold() == word and not _is_inside(text, stop):
                    yield _Span(start, stop)
                    end = stop
                    break


def _is_inside(text: str, place: int) -> bool:
    """Whether a run of letters and digits goes on over a place."""
    return 0 < place < len(text) and text[place - 1].isalnum() and text[place].isalnum()


def _compiled(tokens: Any) -> Any:
    """Finds tokens at the beginning of a run of letters and digits: a short one stands inside of many."""
    words = "|".join(map(re.escape, sorted(tokens)))
    try:
        import re2
    except ImportError:
        return re.compile(rf"(?i)(?<![^\W_])({words})")
    options = re2.Options()
    options.log_errors = False
    options.max_mem = MEMORY * 8
    return re2.compile(rf"(?i)(?:^|[^\pL\pN])({words})", options)
