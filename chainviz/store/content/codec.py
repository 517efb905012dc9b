"""Small values as bytes: JSON in ASCII (so NUL and lone surrogates survive), deflated when it pays."""

from __future__ import annotations

import json
import zlib
from json.encoder import c_make_encoder, encode_basestring_ascii  # type: ignore[attr-defined]
from typing import Any

WORTH_DEFLATING = 200
_DEFLATED = 0x78
"""First byte of a zlib stream; no JSON text begins with it."""


def _refuse(value: Any) -> Any:
    raise TypeError(f"{type(value).__name__} has no packed form")


_pieces = c_make_encoder(None, _refuse, encode_basestring_ascii, None, ":", ",", False, False, True)
"""What JSONEncoder makes anew for every value: most of what packing something small would cost."""

_value_at = json.JSONDecoder().scan_once  # type: ignore[attr-defined]
"""What json.loads calls in the end; the rest of it looks for an encoding and for white space."""


def pack(value: Any) -> bytes:
    plain = "".join(_pieces(value, 0)).encode("ascii")
    if len(plain) < WORTH_DEFLATING:
        return plain
    deflated = zlib.compress(plain, 1)
    return deflated if len(deflated) < len(plain) * 0.9 else plain


def unpack(packed: bytes | memoryview) -> Any:
    content = bytes(packed)
    plain = zlib.decompress(content) if content[0] == _DEFLATED else content
    return _value_at(plain.decode("ascii"), 0)[0]


def pack_body(content: bytes) -> bytes:
    """Text of any size; the first byte says whether it is deflated."""
    if len(content) >= WORTH_DEFLATING:
        deflated = zlib.compress(content, 6)
        if len(deflated) < len(content) * 0.9:
            return b"z" + deflated
    return b"=" + content


def unpack_body(packed: bytes | memoryview) -> bytes:
    content = bytes(packed)
    return zlib.decompress(content[1:]) if content[:1] == b"z" else content[1:]
