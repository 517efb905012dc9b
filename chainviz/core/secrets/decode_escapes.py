"""Bytes with their escapes decoded, and the way back to the raw bytes (issue 8).

A value may be written as JSON in JSON in an address in HTML. Decoding the text until nothing is left to decode finds all
of these spellings by one comparison; a list of spellings never ends.
"""

from __future__ import annotations

import html
import re
from array import array
from bisect import bisect_left, bisect_right

_ESCAPE = re.compile(
    rb"\\+u[dD][89abAB][0-9a-fA-F]{2}\\+u[dD][c-fC-F][0-9a-fA-F]{2}"
    rb"|\\+(?:u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|[nrtbf\"'/])|\\{2,}"
    rb"|%(?:25)*[0-9a-fA-F]{2}|&(?:amp;)*(?:#[0-9]{2,7}|#[xX][0-9a-fA-F]{2,6}|amp|lt|gt|quot|apos);"
)
_LINE_BREAK = re.compile(rb"(?<=[A-Za-z0-9+/_-]{16})\r?\n[ \t]*(?=[A-Za-z0-9+/_-])")
_LETTERS = {b"n": b"\n", b"r": b"\r", b"t": b"\t", b"b": b"\b", b"f": b"\f", b"": b"\\"}


_ESCAPED_ASCII = re.compile(r"\\u00[2-7][0-9a-fA-F]")


MOST_ROUNDS = 6


class Decoded:
    """Bytes decoded once. `content` holds them."""

    def __init__(self, content: bytes, *, wrapped: bool = False) -> None:
        """`wrapped` takes the line breaks out of base64 instead of decoding escapes."""
        self._starts, self._ends = array("Q"), array("Q")
        self._source_starts, self._source_ends = array("Q"), array("Q")
        decoded, last = bytearray(), 0
        for found in (_LINE_BREAK if wrapped else _ESCAPE).finditer(content):
            decoded += content[last : found.start()]
            last = found.end()
            self._starts.append(len(decoded))
            decoded += b"" if wrapped else _character(found[0])
            self._ends.append(len(decoded))
            self._source_starts.append(found.start())
            self._source_ends.append(last)
        self.content = bytes(decoded + content[last:])

    def source(self, start: int, end: int) -> tuple[int, int]:
        """Where a stretch of the decoded bytes is in the source. Escapes that it touches belong to it whole."""
        return self._source_of_start(start), self._source_of_end(end)

    def _source_of_start(self, place: int) -> int:
        at = bisect_right(self._ends, place)
        if at < len(self._ends) and place >= self._starts[at]:
            return self._source_starts[at]
        return self._behind(at - 1, place)

    def _source_of_end(self, place: int) -> int:
        at = bisect_left(self._ends, place)
        if at < len(self._ends) and place > self._starts[at]:
            return self._source_ends[at]
        return self._behind(at - 1, place)

    def _behind(self, at: int, place: int) -> int:
        return place if at < 0 else self._source_ends[at] + place - self._ends[at]


def rounds(content: bytes) -> list[Decoded]:
    """What each round of decoding gives, until nothing is left to decode."""
    found: list[Decoded] = []
    while len(found) < MOST_ROUNDS:
        decoded = Decoded(content)
        if decoded.content == content:
            break
        found.append(decoded)
        content = decoded.content
    return found


class DecodedText:
    """A text decoded until nothing is left to decode, and the way back to its characters."""

    def __init__(self, text: str) -> None:
        self._content = text.encode("utf-8", "surrogatepass")
        self._rounds = rounds(self._content)
        # decoding an address may give bytes that are not UTF-8
        self.text = (self._rounds[-1].content if self._rounds else self._content).decode("utf-8", "surrogateescape")

    def source(self, start: int, end: int) -> tuple[int, int]:
        """Returns where these characters of `text` are in the source, in characters."""
        first, last = (len(self.text[:place].encode("utf-8", "surrogateescape")) for place in (start, end))
        for each in reversed(self._rounds):
            first, last = each.source(first, last)
        before, within = self._content[:first], self._content[first:last]
        start = len(before.decode("utf-8", "surrogatepass"))
        return start, start + len(within.decode("utf-8", "surrogatepass"))


def hides_ascii(text: str) -> bool:
    """Whether JSON escapes stand for ASCII characters in it, so that words cannot be seen in the text as it is. What
    writers have to escape (control characters, quotes) and what some escape beside (non-ASCII) hides no word."""
    return bool(_ESCAPED_ASCII.search(text))


def _character(escape: bytes) -> bytes:
    """What an escape stands for, as UTF-8."""
    if escape[:1] == b"&":
        return html.unescape(re.sub(rb"&(?:amp;)*(?=[#a-z])", b"&", escape).decode()).encode("utf-8", "surrogatepass")
    if escape[:1] == b"%":
        return bytes((int(escape[-2:], 16),))
    letters = escape.lstrip(b"\\")
    if letters[:1] == b"u":
        units = bytes.fromhex(re.sub(rb"[\\u]", b"", escape).decode())
        return units.decode("utf-16-be", "surrogatepass").encode("utf-8", "surrogatepass")
    if letters[:1] == b"x":
        return bytes((int(letters[1:], 16),))
    return _LETTERS.get(letters, letters)
