"""Finds known values in any place and any spelling, also where no rule would find them."""

from __future__ import annotations

import re
from bisect import bisect_right, insort
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from chainviz.core.chain.messages import Message
from chainviz.core.secrets.masking import Span, mask_text, with_spans
from chainviz.core.secrets.scan import is_free
from chainviz.core.secrets.spellings import DecodedText, hides_ascii, spelled

_BARE = re.compile(r"-?[0-9][0-9.]*")
_VALUE_END = re.compile(r"\s*(?:[],}]|\Z)")
LONG = 12
"""A shorter word is replaced only as a whole word: replacing `ada` inside `adapter` would damage other text."""


class Values:
    """Values and the replacement of each, prepared once for many texts. `Masker.placeholders` is such a mapping."""

    def __init__(self, placeholders: Mapping[str, str], words: Collection[str] = ()) -> None:
        """Prepare the search. `words` are those that a person searches for; an underscore ends them, both here and in a
        text."""
        self._instead: dict[bytes, str | None] = {}
        """The replacement by spelling; None if it must have the same length, because the surrounding text could not be
        read otherwise."""
        for value, placeholder in placeholders.items():
            for spelling in spelled(value):
                self._instead.setdefault(_bytes(spelling.text), placeholder if spelling.readable else None)
        self._words = Words(self._instead)
        self._own = {_bytes(spelling.text) for word in words for spelling in spelled(word)}

    def source_spans(self, text: str) -> list[Span]:
        """Return the spans of known values in a text in its source spelling, including values that JSON escapes hide."""
        found = self.spans(text)
        if not hides_ascii(text):
            return found
        decoded = DecodedText(text)
        taken = [(start, end) for start, end, _ in found]
        for first, last, new in self.spans(decoded.text):
            start, end = decoded.source(first, last)
            if is_free(taken, start, end):
                insort(taken, (start, end))
                found.append((start, end, new))
        return sorted(found)

    def spans(self, text: str) -> list[Span]:
        """Return each occurrence of a value in any spelling with its replacement, the longest first where they overlap."""
        content = _bytes(text)
        near = sorted(self._words.occurrences(content), key=lambda each: (-len(each[1]), each))
        places = _Places(content)
        found: list[Span] = []
        taken: list[tuple[int, int]] = []
        for first, word in near:
            last = first + len(word)
            if not is_free(taken, first, last):
                continue
            start, end = places[first], places[last]
            if end - start >= LONG or _is_whole(text, start, end, "" if word in self._own else "_"):
                insort(taken, (first, last))
                new = self._instead[word]
                found.append((start, end, "A" * len(word) if new is None else new))
        return sorted(found)

    def mask(self, message: Message) -> Message:
        """Return the message without the values in its parts; the same object if it has none. Call ids stay."""
        return with_spans(message, lambda part, place, text: self.spans(text))

    def mask_raw(self, text: str) -> str:
        """Mask text that belongs to no part: carried lines, the envelope, members of a unit from which no part was read."""
        spans = self.source_spans(text)
        return mask_text(text, spans, json=True) if spans else text

    def mask_piece(self, text: str) -> str:
        """Mask a piece of a JSON document, which alone is not JSON: a bare number is replaced by a string."""
        pieces: list[str] = []
        at = 0
        for start, end, new in self.source_spans(text):
            is_value = text[at:start].rstrip()[-1:] in (":", ",", "[") and _VALUE_END.match(text, end)
            quoted = is_value and _BARE.fullmatch(text, start, end)
            pieces += (text[at:start], f'"{new}"' if quoted else new)
            at = end
        return "".join((*pieces, text[at:]))

    def mask_source(self, message: Message) -> Message:
        """Return the message with source units that contain no value in any member; its format has to read it again
        from them.
        Do this last, on what the format wrote: signed reasoning must be gone by then, and ids that contain a value
        change.
        """
        source = []
        for fragment in message.source:
            text = self.mask_raw(fragment.text)
            source.append(fragment.with_text(text))
        if all(new is old for new, old in zip(source, message.source, strict=True)):
            return message
        return replace(message, source=tuple(source))


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


class _Places:
    """The number of characters before a byte, for bytes in any order."""

    def __init__(self, content: bytes) -> None:
        self._content = content
        self._is_plain = content.isascii()
        self._known = [(0, 0)]

    def __getitem__(self, place: int) -> int:
        if self._is_plain:
            return place
        at = bisect_right(self._known, (place, place)) - 1
        before, characters = self._known[at]
        characters += len(self._content[before:place].decode("utf-8", "surrogatepass"))
        self._known.insert(at + 1, (place, characters))
        return characters


def _is_whole(text: str, start: int, end: int, joins: str) -> bool:
    """Return True if the match is a whole word. `joins` contains the characters that belong to a word besides letters
    and digits."""

    def in_word(letter: str) -> bool:
        return letter.isalnum() or (letter != "" and letter in joins)

    before, after = text[start - 1 : start], text[end : end + 1]
    return not (in_word(before) and in_word(text[start])) and not (in_word(after) and in_word(text[end - 1]))


# Many words are found in one pass over the bytes of a text. RE2 finds the beginnings of words (its time does not grow
# with their number; `re` replaces it where it is absent), and what begins there is compared with the words
# themselves.


HEAD = 24
"""The number of bytes of a word that are searched; the rest of a long word is compared afterwards."""
GROUP = 4000
"""The most words of one pattern; RE2 takes minutes to compile many more."""
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
        """Yield each occurrence of a word with its start, in order, at one place the longest first. Words may overlap."""
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
