"""Images of a transcript: decide which bytes are an image that we serve, and what is only named, never fetched."""

from __future__ import annotations

import base64
import binascii
import re
from dataclasses import dataclass
from urllib.parse import urlsplit

from chainviz.core.chain.messages import Binary, Image
from chainviz.core.pictures import measured

MOST_BYTES = 8_000_000
_DATA_URL = re.compile(r"data:image/[a-z.+-]{1,40};base64,", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Picture:
    mime: str
    width: int
    height: int
    content: bytes


def picture(part: Image | Binary) -> Picture | None:
    """Return a PNG, JPEG, GIF or WebP, recognised by its first bytes, whatever type the transcript gives it; never an
    SVG."""
    content = part.content if isinstance(part, Binary) else _data_url_bytes(part.url)
    if not content or len(content) > MOST_BYTES:
        return None
    found = measured(content)
    if found is None or not (0 < found[1] < 65536 and 0 < found[2] < 65536):
        return None
    return Picture(*found, content)


def host_of(url: str) -> str:
    """Return the host of a remote image; "" if this is not a web address."""
    try:
        parts = urlsplit(url.strip())
    except ValueError:
        return ""
    return parts.hostname or "" if parts.scheme in ("http", "https") else ""


def _data_url_bytes(url: str) -> bytes:
    head = _DATA_URL.match(url)
    if not head or len(url) > MOST_BYTES * 4 // 3 + 100:
        return b""
    try:
        return base64.b64decode(url[head.end() :], validate=False)
    except (binascii.Error, ValueError):
        return b""
