"""Halves of characters: JSON can spell one as an escape, UTF-8 cannot hold it, and APIs refuse the request.

Bytes that are not UTF-8 are read as surrogates too (U+DC80 to U+DCFF); those are none of a program's text.
"""

from __future__ import annotations

import re
from dataclasses import replace

from chainviz.core.chain.messages import Part, Text, ToolResult

_HALF = re.compile("[\ud800-\udc7f\udd00-\udfff]")


def has_lone_surrogate(part: Part) -> bool:
    text = _text_of(part)
    return not text.isascii() and _HALF.search(text) is not None


def without_surrogates(part: Part) -> Part:
    """With U+FFFD in their places, as most programs write them."""
    text = _HALF.sub("\ufffd", _text_of(part))
    if isinstance(part, Text):
        return replace(part, text=text)
    return replace(part, content=text) if isinstance(part, ToolResult) else part


def _text_of(part: Part) -> str:
    return part.text if isinstance(part, Text) else part.content if isinstance(part, ToolResult) else ""
