"""Replaces values in bytes by as many other bytes, so that no offset of a document changes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import NamedTuple

from chainviz.core.secrets.known_values import Words
from chainviz.core.secrets.spellings import Decoded, base64_of, rounds

_DIGITS = re.compile(rb"[0-9.]+")
SPELLED = 4
"""A spelling is searched up to this many times the length of its value …"""
LONGEST_ESCAPE = 1 << 16
"""… and this many bytes."""
CONTEXT = 64


class Match(NamedTuple):
    """The place of a value, in any spelling, and the bytes that may replace it."""

    start: int
    blank: bytes

    @property
    def end(self) -> int:
        return self.start + len(self.blank)


class Blanks:
    """Values, compared both raw and decoded: escapes of JSON, addresses and HTML at any depth, base64, hex."""

    def __init__(self, values: Iterable[str]) -> None:
        words = {word for value in values for word in _bytes_of(value)}
        self._words = Words({spelling for word in words for spelling in _spellings(word)})
        self._codes = Words({letters.encode() for word in words for letters in base64_of(word)})
        self.reach = SPELLED * max(self._words.longest, self._codes.longest) + LONGEST_ESCAPE

    def find(self, pieces: Iterable[bytes]) -> Iterator[Match]:
        """Yield every place of every value, also across pieces; those inside others are left out."""
        held, before, covered = b"", 0, 0
        for piece, is_last in _with_end(pieces):
            held += piece
            if len(held) < 2 * self.reach and not is_last:
                continue  # long values in short pieces: each byte is looked at twice, not again with every piece
            decoded = rounds(held)
            # what begins later might go on in the next piece
            sure = len(held) if is_last else max(0, len(held) - self.reach)
            for start, end, is_code in sorted(self._places(held, decoded)):
                if start < sure and before + end > covered:
                    covered = before + end
                    yield Match(before + start, _blank(held[start:end], is_code))
            # an escape of an escape may reach over the cut
            cut = max(0, sure - CONTEXT)
            held, before = held[cut:], before + cut

    def _places(self, held: bytes, decoded: list[Decoded]) -> Iterator[tuple[int, int, bool]]:
        """Start, end, and whether it is base64."""
        contents = [held, *(each.content for each in decoded)]
        for number, content in enumerate(contents):
            for start, word in self._words.occurrences(content):
                yield *_source(decoded[:number], start, start + len(word)), False
        joined = Decoded(contents[-1], wrapped=True)
        for start, word in self._codes.occurrences(joined.content):
            yield *_source([*decoded, joined], start, start + len(word)), True

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
        """Blank the texts in JSON values, including keys."""
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
    """Yield each piece, and at the end an empty one with True."""
    for piece in pieces:
        yield piece, False
    yield b"", True


def _source(decoded: list[Decoded], start: int, end: int) -> tuple[int, int]:
    for each in reversed(decoded):
        start, end = each.source(start, end)
    return start, end


def _spellings(word: bytes) -> Iterator[bytes]:
    """Yield the spellings of a value: plain, decoded, with a form's `+` for spaces, and as hexadecimal digits."""
    last = ([word] + [each.content for each in rounds(word)])[-1]
    yield from (word, last, last.replace(b" ", b"+"), word.hex().encode(), word.hex().upper().encode())


def _bytes_of(value: str) -> set[bytes]:
    found = set()
    for errors in ("surrogatepass", "surrogateescape"):
        with suppress(UnicodeEncodeError):
            found.add(value.encode("utf-8", errors))
    return found - {b""}


def is_blank(value: str) -> bool:
    """Return True if the value is one that a purge inserted."""
    word = value.encode("utf-8", "surrogatepass")
    return word != b"" and word in (_blank(word, False), _blank(word, True))


def _blank(word: bytes, is_code: bool) -> bytes:
    """Return what may replace the word everywhere: in a JSON text, as a bare number, in an address, in base64."""
    if is_code:
        return b"A" * len(word)
    return (b"1" if _DIGITS.fullmatch(word) else b"x") * len(word)
