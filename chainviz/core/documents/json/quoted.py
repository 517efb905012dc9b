"""JSON text inside a JSON string: decoded with a map of its bytes, and quoted again.

Trace exporters write messages as strings (OpenTelemetry's `gen_ai.input.messages`).
"""

from __future__ import annotations

import json
import re
from bisect import bisect_right

from chainviz.core.documents.json import edit as json_edit
from chainviz.core.documents.units import Span

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
