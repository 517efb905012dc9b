"""Make text of a transcript safe for pages: escaped, with every invisible character shown as a mark."""

from __future__ import annotations

import re
from html import escape

# C0 and C1 controls but tab and line feed, bidirectional controls, invisible spaces and tags, lone surrogates
_INVISIBLE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2064\u2066-\u206f\ufeff"
    "\ud800-\udfff\ufff9-\ufffb\U000e0000-\U000e007f]"
)


def marks(text: str) -> str:
    """Show control characters as symbols (␀), and all other invisible ones as ⟦U+202E⟧. CR LF counts as a line end."""
    if text.isascii() and text.isprintable():
        return text
    return _INVISIBLE.sub(_mark, text.replace("\r\n", "\n"))


def _mark(found: re.Match[str]) -> str:
    code = ord(found[0])
    if code < 0x20:
        return chr(0x2400 + code)
    return "␡" if code == 0x7F else f"⟦U+{code:04X}⟧"


def safe(text: str) -> str:
    """Escaped for an element and for a quoted attribute."""
    return escape(marks(text))


def one_line(text: str, limit: int) -> str:
    """Return the beginning of a text as a title or teaser; not escaped."""
    words = " ".join(text[: limit * 4].split())
    return words if len(words) <= limit else words[: limit - 1].rstrip() + "…"
