"""Images of a transcript: which bytes are a picture we serve ourselves, and what is only named, never fetched."""

from __future__ import annotations

import base64
import binascii
import re
import struct
from dataclasses import dataclass
from urllib.parse import urlsplit

from chainviz.core.messages import Binary, Image

MOST_BYTES = 8_000_000
_DATA_URL = re.compile(r"data:image/[a-z.+-]{1,40};base64,", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Picture:
    mime: str
    width: int
    height: int
    content: bytes


def picture(part: Image | Binary) -> Picture | None:
    """PNG, JPEG, GIF or WebP by its own first bytes, whatever the transcript calls it; SVG never."""
    content = part.content if isinstance(part, Binary) else _data_url_bytes(part.url)
    if not content or len(content) > MOST_BYTES:
        return None
    for mime, read in (("image/png", _png), ("image/gif", _gif), ("image/webp", _webp), ("image/jpeg", _jpeg)):
        found = read(content)
        if found and 0 < found[0] < 65536 and 0 < found[1] < 65536:
            return Picture(mime, found[0], found[1], content)
    return None


def host_of(url: str) -> str:
    """Where a remote image lies; "" for what is no web address."""
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


def _png(content: bytes) -> tuple[int, int] | None:
    if content[:8] != b"\x89PNG\r\n\x1a\n" or len(content) < 24:
        return None
    return struct.unpack(">II", content[16:24])


def _gif(content: bytes) -> tuple[int, int] | None:
    if content[:6] not in (b"GIF87a", b"GIF89a") or len(content) < 10:
        return None
    return struct.unpack("<HH", content[6:10])


def _webp(content: bytes) -> tuple[int, int] | None:
    if content[:4] != b"RIFF" or content[8:12] != b"WEBP" or len(content) < 30:
        return None
    kind = content[12:16]
    if kind == b"VP8 ":
        width, height = struct.unpack("<HH", content[26:30])
        return width & 0x3FFF, height & 0x3FFF
    if kind == b"VP8L":
        bits = int.from_bytes(content[21:25], "little")
        return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
    if kind == b"VP8X":
        return int.from_bytes(content[24:27], "little") + 1, int.from_bytes(content[27:30], "little") + 1
    return None


def _jpeg(content: bytes) -> tuple[int, int] | None:
    if content[:3] != b"\xff\xd8\xff":
        return None
    place = 2
    while place + 9 < len(content) and content[place] == 0xFF:
        marker = content[place + 1]
        if 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):
            height, width = struct.unpack(">HH", content[place + 5 : place + 9])
            return width, height
        place += 2 + int.from_bytes(content[place + 2 : place + 4], "big")
    return None
