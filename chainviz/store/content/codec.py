"""Small values as bytes: JSON in ASCII (so NUL and lone surrogates survive), deflated when it pays."""

from __future__ import annotations

import json
import zlib
from typing import Any

WORTH_DEFLATING = 200
DEFLATED = b"\x78"
"""The first byte of a zlib stream; no JSON text begins with it."""

_encoder = json.JSONEncoder(check_circular=False, separators=(",", ":"))
_decoder = json.JSONDecoder()


def pack(value: Any) -> bytes:
    return pack_text(to_text(value))


def to_text(value: Any) -> str:
    return _encoder.encode(value)


def pack_text(text: str) -> bytes:
    """Pack a value that is already JSON in ASCII, as `pack` writes it."""
    plain = text.encode("ascii")
    if len(plain) < WORTH_DEFLATING:
        return plain
    deflated = zlib.compress(plain, 1)
    return deflated if len(deflated) < len(plain) * 0.9 else plain


def unpack(packed: bytes | memoryview) -> Any:
    return _decoder.raw_decode(inflated(bytes(packed)).decode("ascii"))[0]


def inflated(packed: bytes) -> bytes:
    """Return the JSON text of a packed value."""
    return zlib.decompress(packed) if packed[:1] == DEFLATED else packed


def pack_body(content: bytes) -> bytes:
    """Pack text of any size; the first byte tells whether it is deflated."""
    if len(content) >= WORTH_DEFLATING:
        deflated = zlib.compress(content, 6)
        if len(deflated) < len(content) * 0.9:
            return b"z" + deflated
    return b"=" + content


def unpack_body(packed: bytes | memoryview) -> bytes:
    content = bytes(packed)
    return zlib.decompress(content[1:]) if content[:1] == b"z" else content[1:]
