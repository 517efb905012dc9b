"""Text files that a text carries as data: URLs in base64."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator

from chainviz.core.dialects.patching import encode_base64

_CARRIED = re.compile(
    r"data:(?!image\\?/)[\w.+-]{1,80}\\?/[\w.+-]{1,80}(?:;[\w.+=-]{1,80}){0,8}?;base64,"
    r"((?:[A-Za-z0-9+/_-]|\\/)[A-Za-z0-9+/_-]*(?:\\/[A-Za-z0-9+/_-]*)*={0,2})"
)
"""JSON may spell / as \\/."""


def text_in(content: bytes) -> str | None:
    """The text that the bytes of a file are; None where they are none."""
    if b"\0" in content[:4096]:
        return None
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError:
        return None


def carried_texts(text: str) -> Iterator[tuple[int, str]]:
    """The number of each URL that carries a text, and that text."""
    for number, match in enumerate(_CARRIED.finditer(text) if ";base64," in text else ()):
        found = _decoded(match[1])
        if found is not None:
            yield number, found


def with_carried(text: str, number: int, new: str) -> str:
    """The same with another text in the URL of this number."""
    match = list(_CARRIED.finditer(text))[number]
    return text[: match.start(1)] + encode_base64(new.encode("utf-8", "surrogatepass")) + text[match.end(1) :]


def _decoded(encoded: str) -> str | None:
    plain = encoded.replace("\\/", "/").rstrip("=")
    try:
        return text_in(base64.b64decode(plain + "=" * (-len(plain) % 4), altchars=b"-_" if set("-_") & set(plain) else None))
    except (ValueError, binascii.Error):
        return None
