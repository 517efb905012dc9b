"""Many known words looked for at once, in bytes: each text is walked once, however many the words are.

RE2 finds the beginnings of words (its time does not grow with their number; `re` stands in where it is absent), and what
begins there is compared with the words themselves.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Any

HEAD = 24
"""Bytes of a word that are looked for; the rest of a long one is only compared."""
GROUP = 4000
"""Words of one pattern: far more of them take RE2 minutes to compile."""
MEMORY = 256 << 20
KEY = 4


class Words:
    """`longest`: how many bytes the longest word has."""

    def __init__(self, words: Iterable[bytes]) -> None:
        known = sorted(set(words) - {b""}, key=lambda word: (-len(word), word))
        self.longest = len(known[0]) if known else 0
        self._key = min(KEY, len(known[-1])) if known else KEY
        self._by_key: dict[bytes, list[bytes]] = defaultdict(list)
        for word in known:
            self._by_key[word[: self._key]].append(word)
        heads = list(dict.fromkeys(word[:HEAD] for word in known))
        self._patterns = [_compiled(heads[start : start + GROUP]) for start in range(0, len(heads), GROUP)]

    def occurrences(self, content: bytes) -> Iterator[tuple[int, bytes]]:
        """Where which word begins, in order, the longest first; words that overlap are all told."""
        places: set[int] = set()
        for pattern in self._patterns:
            found = pattern.search(content)
            while found is not None:
                places.add(found.start())
                found = pattern.search(content, found.start() + 1)
        for start in sorted(places):
            for word in self._by_key.get(content[start : start + self._key], ()):
                if content.startswith(word, start):
                    yield start, word


def _compiled(heads: list[bytes]) -> Any:
    pattern = b"|".join(map(re.escape, heads))
    try:
        import re2
    except ImportError:
        return re.compile(pattern)
    options = re2.Options()
    options.log_errors = False
    options.never_capture = True
    options.max_mem = MEMORY
    options.encoding = re2.Options.Encoding.LATIN1
    return re2.compile(pattern, options)
