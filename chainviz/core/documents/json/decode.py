"""Decode one JSON value from a sliding window, or describe its fault, and JSON text inside a JSON string.

Covers the gaps of Python's decoder. A quoted text is decoded with a map of its bytes, and quoted again: trace exporters write messages
as strings (OpenTelemetry's `gen_ai.input.messages`).
"""

from __future__ import annotations

import json
import re
from bisect import bisect_right

from chainviz.core.documents.json import edit as json_edit
from chainviz.core.documents.json.scan import Oddities, Scan, Window, decoder, in_words, skip_string
from chainviz.core.documents.source import CHUNK, Source
from chainviz.core.documents.units import Span
from chainviz.core.errors import DocumentError

CUT_OFF = "the file ends in the middle of a message: it is cut off"
NO_END = "the file ends in the middle of a text: it is cut off, or a closing quote is missing"
LONG_STRING = 1 << 22
_NEAR_END = 16
"""An error within this many characters of the window's end may be caused by the end of the window."""


class Broken(Exception):
    """Raised for a value that cannot be read: the position of the fault in the window, the reason, and the value's new start."""

    def __init__(self, position: int, what: str, begin: int = 0) -> None:
        self.position = position
        self.what = what
        self.begin = begin


def _spans_lines(window: Window, begin: int) -> bool:
    """Return True if a value with line breaks inside its strings ends at the end of a line."""
    try:
        _, end = decoder(Oddities(), careful=True)(window.text, begin)
    except (ValueError, RecursionError):
        return False
    return window.text[end : end + 1] in ("", "\r", "\n")


class Values:
    """Reads values from a window, and slides the window for a value that does not fit."""

    def __init__(self, source: Source, oddities: Oddities, *, lines: bool) -> None:
        self._source = source
        self._odd = oddities
        self._lines = lines

    def read(self, window: Window, begin: int, keep: int = 0, scan: Scan | None = None) -> tuple[object, int, int]:
        """Return the value at `begin`, its end and its new start. The window slides to `keep` until the value is complete."""
        scan = scan or decoder(self._odd)
        while True:
            until = 0
            try:
                value, end = scan(window.text, begin)
                # a number may continue beyond the window
                if end < len(window.text) or window.complete or window.text[begin] in '{["':
                    return value, end, begin
                broken = Broken(end, "")
            except json.JSONDecodeError as error:
                if self._is_control_character(window, error, begin):
                    scan = decoder(self._odd, careful=True)
                    continue
                broken, until = self._wrong(window, error, begin)
            except RecursionError:
                raise Broken(begin, "values are nested too deep", begin) from None
            except ValueError:
                scan = decoder(self._odd, careful=True)
                continue
            broken.begin = begin
            if broken.position < len(window.text) - _NEAR_END or not window.more(keep, until):
                raise broken
            del self._odd.seen[:]
            begin -= keep
            keep = 0

    def alone(self, window: Window, begin: int, keep: int, scan: Scan) -> tuple[object, int, int]:
        """Return the value of one line, parsed without the text after it, because Python counts all lines for every error."""
        end = window.text.find("\n", begin)
        if end < 0:
            return self.read(window, begin, keep, scan)
        try:
            value, length = scan(window.text[begin:end], 0)
        except (ValueError, RecursionError):
            raise Broken(begin, "the line is not JSON", begin) from None
        return value, begin + length, begin

    def _missing(self, window: Window, position: int) -> Broken:
        rest = window.text[position:].strip() if len(window.text) - position < _NEAR_END else "?"
        if window.complete and any(word.startswith(rest) for word in ("true", "false", "null", "-")):
            return Broken(len(window.text), CUT_OFF)
        return Broken(position, in_words("Expecting value"))

    def _is_control_character(self, window: Window, error: json.JSONDecodeError, begin: int) -> bool:
        """Return True for an acceptable control character in a string. In JSON Lines, the end of a line ends the value unless the value
        continues on the next line."""
        if "control character" not in error.msg:
            return False
        if self._lines and window.text[error.pos] == "\n" and not _spans_lines(window, begin):
            return False
        self._odd.see_bare(window.text[begin : error.pos], window.offset(error.pos))
        return True

    def _wrong(self, window: Window, error: json.JSONDecodeError, begin: int) -> tuple[Broken, int]:
        """Return the fault, and the byte that the window must reach if it only ends too early; otherwise 0."""
        if error.msg == "Expecting value":
            return self._missing(window, error.pos), 0
        if "control character" in error.msg:
            return Broken(error.pos, "a string is cut off by the end of the line"), 0
        if window.complete and not window.text[error.pos :].strip():
            return Broken(len(window.text), CUT_OFF), 0
        if not error.msg.startswith("Unterminated string"):
            return Broken(error.pos, in_words(error.msg)), 0
        if window.complete:
            raise Broken(error.pos if self._lines else len(window.text), NO_END, begin)
        return Broken(len(window.text), NO_END), self._string_end(window, error.pos, begin)

    def _string_end(self, window: Window, position: int, begin: int) -> int:
        """Return the byte that the window must reach for a long string; 0 for a short one. Raises Broken if the string has no end."""
        if len(window.text) - position < LONG_STRING:
            return 0
        start = window.offset(position)
        ahead = Window(self._source, start, window.end)
        try:
            return ahead.offset(skip_string(ahead, 0)) + CHUNK
        except DocumentError:
            raise Broken(position, "a string is never closed", begin) from None


_ESCAPE = re.compile(rb"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|.)?", re.DOTALL)


class Quoted:
    """The text of a JSON string, with the offset of each of its bytes in the source. Raises ValueError if the string
    has an invalid escape, or a lone surrogate, which UTF-8 cannot encode."""

    def __init__(self, spelled: bytes, span: Span) -> None:
        self.span = span
        """The string in the source, without its quotation marks."""
        self._ends, self._spelled_ends = [0], [0]
        """The end of each escape, in the text and in its spelling."""
        pieces: list[bytes] = []
        length = place = 0
        for found in _ESCAPE.finditer(spelled):
            text = _decoded(found[0])
            pieces += (spelled[place : found.start()], text)
            length += found.start() - place + len(text)
            place = found.end()
            self._ends.append(length)
            self._spelled_ends.append(place)
        pieces.append(spelled[place:])
        self.text = b"".join(pieces)
        self.text.decode()

    def offset(self, place: int) -> int:
        """Return the offset in the source of the byte at `place` of the text."""
        last = bisect_right(self._ends, place) - 1
        return self.span.start + self._spelled_ends[last] + place - self._ends[last]


def _decoded(escape: bytes) -> bytes:
    text: str = json.loads(b'"' + escape + b'"')
    return text.encode()


def unquoted(spelled: bytes) -> bytes | None:
    """Return the text of a piece of a JSON string, or None if it is invalid."""
    try:
        return Quoted(spelled, Span(0, len(spelled))).text
    except ValueError:
        return None


def quoted(text: str, *, ascii_only: bool) -> str:
    """Return `text` as a JSON string."""
    return json_edit.quote(text, ascii_only)[1:-1]
