"""Blanks values out of bytes: as many bytes stand there afterwards, so that every place in a document stays what it was."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from chainviz.core.secrets.spellings import spelled
from chainviz.core.secrets.word_search import Words

_DIGITS = re.compile(rb"[0-9.]+")


class Found(NamedTuple):
    """A value in some spelling, and what may stand there."""

    start: int
    blank: bytes

    @property
    def end(self) -> int:
        return self.start + len(self.blank)


class Blanks:
    """Values in every spelling: as they are, escaped in JSON, in an address, in HTML, in base64."""

    def __init__(self, values: Iterable[str]) -> None:
        self._blanks: dict[bytes, bytes] = {}
        for value in values:
            for spelling in spelled(value):
                for errors in ("surrogatepass", "surrogateescape"):
                    try:
                        word = spelling.text.encode("utf-8", errors)
                    except UnicodeEncodeError:
                        continue
                    self._blanks.setdefault(word, _blank(word, spelling.readable))
        self._words = Words(self._blanks)

    def find(self, pieces: Iterable[bytes]) -> Iterator[Found]:
        """Every spelling of every value, also across pieces; those that lie inside others are left out."""
        held, before, covered = b"", 0, 0
        for piece, is_last in _with_end(pieces):
            held += piece
            if len(held) < 2 * self._words.longest and not is_last:
                continue  # long values in short pieces: each byte is looked at twice, not again with every piece
            # what begins later might go on in the next piece
            sure = len(held) if is_last else max(0, len(held) - self._words.longest + 1)
            for start, word in self._words.occurrences(held):
                if start < sure and before + start + len(word) > covered:
                    covered = before + start + len(word)
                    yield Found(before + start, self._blanks[word])
            held, before = held[sure:], before + sure

    def blank(self, content: bytes) -> bytes:
        blanked = None
        for found in self.find((content,)):
            blanked = blanked or bytearray(content)
            blanked[found.start : found.end] = found.blank
        return content if blanked is None else bytes(blanked)

    def text(self, text: str) -> str:
        content = text.encode("utf-8", "surrogatepass")
        blanked = self.blank(content)
        return text if blanked == content else blanked.decode("utf-8", "surrogatepass")

    def plain(self, value: object) -> object:
        """Texts inside JSON values, keys too."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, list):
            return [self.plain(item) for item in value]
        if isinstance(value, dict):
            return {self.plain(key): self.plain(item) for key, item in value.items()}
        if isinstance(value, int | float) and not isinstance(value, bool):
            return value if self.text(str(value)) == str(value) else 0
        return value

    def count(self, pieces: Iterable[bytes]) -> int:
        return sum(1 for _ in self.find(pieces))


def _with_end(pieces: Iterable[bytes]) -> Iterator[tuple[bytes, bool]]:
    """Each piece, and at the end an empty one that says so."""
    for piece in pieces:
        yield piece, False
    yield b"", True


def _blank(word: bytes, is_readable: bool) -> bytes:
    """What may stand wherever the word stood: in a JSON text, as a bare number, in an address, in base64."""
    if not is_readable:
        return b"A" * len(word)
    return (b"1" if _DIGITS.fullmatch(word) else b"x") * len(word)
