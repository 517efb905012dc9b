"""Known values, wherever they stand and however they are spelled: also where no rule would find them."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping
from dataclasses import replace

from chainviz.core.messages import Message
from chainviz.core.secrets.masking import Span, mask_text, with_spans
from chainviz.core.secrets.spellings import spelled

LONG = 12
"""A shorter word goes only as a whole: replacing `ada` inside `adapter` would damage what is no secret."""


class Values:
    """Values and what is to stand for each, prepared once for many texts. `Masker.placeholders` is such a mapping."""

    def __init__(self, placeholders: Mapping[str, str]) -> None:
        self._instead: dict[str, str | None] = {}
        """By spelling; None where as many letters have to stand, since what is beside them could not be read else."""
        for value, placeholder in placeholders.items():
            for spelling in spelled(value):
                self._instead.setdefault(spelling.text, placeholder if spelling.readable else None)
        self._words = sorted(self._instead, key=lambda word: (-len(word), word))

    def spans(self, text: str) -> list[Span]:
        """Every spelling of every value, the longest first where they overlap, and what is to stand there."""
        found: list[Span] = []
        for word in self._words:
            for start in _places(text, word):
                end = start + len(word)
                at = bisect_left(found, (start, end, ""))
                if not (at and found[at - 1][1] > start) and not (at < len(found) and found[at][0] < end):
                    new = self._instead[word]
                    found.insert(at, (start, end, "A" * len(word) if new is None else new))
        return found

    def mask(self, message: Message) -> Message:
        """The message without the values in its parts; the same object where it has none. Call ids stay."""
        return with_spans(message, lambda part, place, text: self.spans(text))

    def mask_raw(self, text: str) -> str:
        """Text that belongs to no part: carried lines, the envelope, members of a unit that no part was read from."""
        spans = self.spans(text)
        return mask_text(text, spans, json=True) if spans else text

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


def _places(text: str, word: str) -> Iterator[int]:
    start = text.find(word)
    while start >= 0:
        end = start + len(word)
        if len(word) >= LONG or _is_whole(text, start, end):
            yield start
        start = text.find(word, start + 1)


def _is_whole(text: str, start: int, end: int) -> bool:
    before, after = text[start - 1 : start], text[end : end + 1]
    return not (_in_word(before) and _in_word(text[start])) and not (_in_word(after) and _in_word(text[end - 1]))


def _in_word(letter: str) -> bool:
    return letter.isalnum() or letter == "_"
