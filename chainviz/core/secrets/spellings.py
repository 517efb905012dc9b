"""The spellings of one value in a file: plain, escaped in JSON, in an address, in HTML, in base64."""

from __future__ import annotations

import base64
import html
import json
import re
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import quote, quote_plus

SHORTEST_BASE64 = 8
"""Base64 of fewer letters would match unrelated text by chance."""


@dataclass(frozen=True, slots=True)
class Spelling:
    text: str
    readable: bool = True
    """False for base64, which can be replaced only by a text of the same length."""


def spellings(value: str) -> tuple[str, ...]:
    """Return all spellings, each once, the longest first. None of them remains after a purge of the value."""
    return tuple(sorted({each.text for each in spelled(value)}, key=lambda text: (-len(text), text)))


def spelled(value: str) -> list[Spelling]:
    if not value:
        return []
    found = {value: True}
    for text in _readable(value):
        found.setdefault(text, True)
    for text in base64_of(value.encode("utf-8", "surrogatepass")):
        found.setdefault(text, False)
    return [Spelling(text, readable) for text, readable in found.items()]


def _readable(value: str) -> Iterator[str]:
    texts = {value}
    # JSON in JSON in JSON: a result in a file may quote a file whose arguments are a string
    for _ in range(3):
        texts = {escaped for text in texts for escaped in _json(text)}
        yield from texts
    for encoded in (_quoted(value, ""), _quoted(value, "/"), _quoted(value, None)):
        yield encoded
        yield _lower_escapes(encoded)
    yield html.escape(value)
    yield html.escape(value, quote=False)
    yield html.escape(value).replace("&#x27;", "&#39;")


def _json(value: str) -> Iterator[str]:
    for ascii_only in (True, False):
        text = json.dumps(value, ensure_ascii=ascii_only)[1:-1]
        yield text
        yield text.replace("/", "\\/")
    # as the HTML-safe writers of Go and others have it
    yield json.dumps(value)[1:-1].replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _quoted(value: str, safe: str | None) -> str:
    raw = value.encode("utf-8", "surrogatepass")
    return quote_plus(raw) if safe is None else quote(raw, safe=safe)


def _lower_escapes(text: str) -> str:
    pieces = text.split("%")
    return "%".join([pieces[0], *(piece[:2].lower() + piece[2:] for piece in pieces[1:])])


def base64_of(raw: bytes) -> Iterator[str]:
    """Yield the base64 letters of the value for each of its three possible offsets, without letters that depend on its
    neighbours."""
    for before in range(3):
        whole = base64.b64encode(b"\0" * before + raw).decode()
        first = (before * 8 + 5) // 6
        last = (before + len(raw)) * 8 // 6
        piece = whole[first:last]
        if len(piece) >= SHORTEST_BASE64:
            yield piece
            yield piece.replace("+", "-").replace("/", "_")


# A value may be written as JSON in JSON in an address in HTML. Decoding a text until nothing is left to decode finds
# all such spellings with one comparison; a list of spellings never ends.


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
    """Bytes decoded once, with a map of offsets to the source."""

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
        """Return the position in the source of a range of decoded bytes. Escapes that it touches are included as a whole."""
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
    """Return the result of each round of decoding, until nothing is left to decode."""
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
        """Return where these characters of `text` are in the source, in characters."""
        first, last = (len(self.text[:place].encode("utf-8", "surrogateescape")) for place in (start, end))
        for each in reversed(self._rounds):
            first, last = each.source(first, last)
        before, within = self._content[:first], self._content[first:last]
        start = len(before.decode("utf-8", "surrogatepass"))
        return start, start + len(within.decode("utf-8", "surrogatepass"))


def hides_ascii(text: str) -> bool:
    """Return True if JSON escapes hide ASCII characters, so that words cannot be found in the source. Escapes that
    writers need (control characters, quotes) and those of non-ASCII characters hide no word."""
    return bool(_ESCAPED_ASCII.search(text))


def _character(escape: bytes) -> bytes:
    """Decode one escape to UTF-8."""
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
