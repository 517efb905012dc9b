"""Finds known values in any place and any spelling, also where no rule would find them."""

from __future__ import annotations

import re
from bisect import bisect_right, insort
from collections.abc import Collection, Mapping
from dataclasses import replace

from chainviz.core.chain.messages import Message
from chainviz.core.secrets.decode_escapes import DecodedText, hides_ascii
from chainviz.core.secrets.masking import Span, mask_text, with_spans
from chainviz.core.secrets.scan import is_free
from chainviz.core.secrets.spellings import spelled
from chainviz.core.secrets.word_search import Words

_BARE = re.compile(r"-?[0-9][0-9.]*")
_VALUE_END = re.compile(r"\s*(?:[],}]|\Z)")
LONG = 12
"""A shorter word goes only as a whole: replacing `ada` inside `adapter` would damage what is no secret."""


class Values:
    """Values and the replacement of each, prepared once for many texts. `Masker.placeholders` is such a mapping."""

    def __init__(self, placeholders: Mapping[str, str], words: Collection[str] = ()) -> None:
        """`words`: those that a person looks for; an underscore ends them, as it does where they are found."""
        self._instead: dict[bytes, str | None] = {}
        """By spelling; None where as many letters have to stand, since what is beside them could not be read else."""
        for value, placeholder in placeholders.items():
            for spelling in spelled(value):
                self._instead.setdefault(_bytes(spelling.text), placeholder if spelling.readable else None)
        self._words = Words(self._instead)
        self._own = {_bytes(spelling.text) for word in words for spelling in spelled(word)}

    def source_spans(self, text: str) -> list[Span]:
        """The same for a text as its source spells it: also values that JSON escapes hide."""
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
        """Every spelling of every value, the longest first where they overlap, and its replacement."""
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
        """The message without the values in its parts; the same object where it has none. Call ids stay."""
        return with_spans(message, lambda part, place, text: self.spans(text))

    def mask_raw(self, text: str) -> str:
        """Text that belongs to no part: carried lines, the envelope, members of a unit that no part was read from."""
        spans = self.source_spans(text)
        return mask_text(text, spans, json=True) if spans else text

    def mask_piece(self, text: str) -> str:
        """A piece of a JSON document, which alone is not JSON: a bare number is replaced by a string."""
        pieces: list[str] = []
        at = 0
        for start, end, new in self.source_spans(text):
            is_value = text[at:start].rstrip()[-1:] in (":", ",", "[") and _VALUE_END.match(text, end)
            quoted = is_value and _BARE.fullmatch(text, start, end)
            pieces += (text[at:start], f'"{new}"' if quoted else new)
            at = end
        return "".join((*pieces, text[at:]))

    def mask_source(self, message: Message) -> Message:
        """The message with source units that hold no value, in no member; its format has to read it again from them.

        Do it last, on what the format wrote: signed reasoning must be gone by then, and ids that hold a value change.
        """
        source = []
        for fragment in message.source:
            text = self.mask_raw(fragment.text)
            source.append(fragment if text == fragment.text else replace(fragment, text=text, start=-1))
        if all(new is old for new, old in zip(source, message.source, strict=True)):
            return message
        return replace(message, source=tuple(source))


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


class _Places:
    """Characters before a byte; the bytes are asked for in any order."""

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
    """`joins`: what belongs to a word beside letters and digits."""

    def in_word(letter: str) -> bool:
        return letter.isalnum() or (letter != "" and letter in joins)

    before, after = text[start - 1 : start], text[end : end + 1]
    return not (in_word(before) and in_word(text[start])) and not (in_word(after) and in_word(text[end - 1]))
