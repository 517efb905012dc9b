"""The ways in which one value may be written in a file: as it is, escaped in JSON, in an address, in HTML, in base64."""

from __future__ import annotations

import base64
import html
import json
from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import quote, quote_plus

SHORTEST_BASE64 = 8
"""Base64 of fewer letters would match unrelated text by chance."""


@dataclass(frozen=True, slots=True)
class Spelling:
    text: str
    readable: bool = True
    """False for base64, which only a text of the same length can replace."""


def spellings(value: str) -> tuple[str, ...]:
    """All spellings, each once, the longest first. None of them occurs where the value was purged."""
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
    """The letters that the value gives at each of the three places it can begin at; those shared with others left out."""
    for before in range(3):
        whole = base64.b64encode(b"\0" * before + raw).decode()
        first = (before * 8 + 5) // 6
        last = (before + len(raw)) * 8 // 6
        piece = whole[first:last]
        if len(piece) >= SHORTEST_BASE64:
            yield piece
            yield piece.replace("+", "-").replace("/", "_")
