"""Files of pictures judged by their headers and their structure: nothing is decoded into pixels, and few bytes are looked at."""

from __future__ import annotations

import re
from base64 import b64decode
from binascii import Error
from functools import lru_cache
from typing import Literal

Fault = Literal["", "base64", "unknown", "cut"]
"""What is wrong with a picture's content: it is no base64, no picture that is known here, or a picture that breaks off."""

_HEAD, _TAIL = 4_096, 65_536
"""Bytes at the start and at the end of a file that are looked at."""
_BASE64 = re.compile(r"[A-Za-z0-9+/_-]*={0,2}")
_SPACE = re.compile(r"\s")
_STARTS = (
    (b"\x89PNG\r\n\x1a\n", "image/png"), (b"\xff\xd8\xff", "image/jpeg"), (b"GIF87a", "image/gif"), (b"GIF89a", "image/gif"),
    (b"BM", "image/bmp"), (b"II*\x00", "image/tiff"), (b"MM\x00*", "image/tiff"), (b"II+\x00", "image/tiff"),
    (b"\x00\x00\x01\x00", "image/x-icon"), (b"8BPS", "image/vnd.adobe.photoshop"), (b"\xff\x0a", "image/jxl"),
    (b"\x00\x00\x00\x0cJXL ", "image/jxl"), (b"%PDF-", "application/pdf"),
)  # fmt: skip
_BRANDS = {
    b"heic": "image/heic", b"heix": "image/heic", b"hevc": "image/heic", b"heim": "image/heic", b"heis": "image/heic",
    b"mif1": "image/heif", b"msf1": "image/heif", b"avif": "image/avif", b"avis": "image/avif",
}  # fmt: skip
"""Types by the brand of an ISO media file."""
_SVG = re.compile(rb"\s*(?:<\?xml[^>]*>|<!--.*?-->|<!DOCTYPE[^>]*>|\s)*<svg[\s>]", re.DOTALL | re.IGNORECASE)


def type_of(head: bytes) -> str:
    """The media type that the first bytes of a file show; "" for a file of another kind."""
    if head[:4] == b"RIFF" and head[8:12] == b"WEBP":
        return "image/webp"
    if head[4:8] == b"ftyp":
        return _BRANDS.get(head[8:12], "")
    if _SVG.match(head.removeprefix(b"\xef\xbb\xbf")):
        return "image/svg+xml"
    return next((mime for start, mime in _STARTS if head.startswith(start)), "")


@lru_cache(maxsize=256)
def judge_base64(text: str) -> tuple[str, Fault]:
    """The media type of a picture that is written as base64, "" where nobody knows it, and what is wrong with it. Both
    alphabets are taken, and white space."""
    plain = _SPACE.sub("", text) if _SPACE.search(text) else text
    digits = plain.rstrip("=")
    if not _BASE64.fullmatch(plain) or len(digits) % 4 == 1 or (len(plain) % 4 in (1, 2, 3) and "=" in plain):
        head = _decoded(digits[: min(_HEAD, len(digits) // 4 * 4)]) if _BASE64.match(plain) else b""
        return type_of(head), "base64"
    start = max(0, (len(digits) - _TAIL) // 4 * 4)
    return judge(_decoded(digits[: 2 * _HEAD // 4 * 4]), _decoded(digits[start:]), len(digits) * 3 // 4)


def judge(head: bytes, tail: bytes, length: int) -> tuple[str, Fault]:
    """The media type and the fault of a file of so many bytes, by its first and its last ones."""
    mime = type_of(head)
    return mime, "unknown" if not mime else "cut" if _is_cut(mime, head, tail, length) else ""


def _is_cut(mime: str, head: bytes, tail: bytes, length: int) -> bool:
    """Whether a file breaks off. A file may have other bytes behind its picture."""
    if mime == "image/png":
        end = tail.rfind(b"IEND")
        return length < 45 or end < 0 or end + 8 > len(tail)  # a checksum follows
    if mime == "image/jpeg":
        return b"\xff\xd9" not in tail
    if mime == "image/gif":
        return length < 14
    if mime == "image/webp":
        return length < 30 or int.from_bytes(head[4:8], "little") + 8 > length + 1
    return False


def _decoded(digits: str) -> bytes:
    """The bytes of base64 without padding; b"" where it is none."""
    try:
        return b64decode(digits.translate(_PLAIN) + "=" * (-len(digits) % 4))
    except (Error, ValueError):
        return b""


_PLAIN = str.maketrans("-_", "+/")
