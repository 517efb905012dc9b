"""Text of a transcript as a terminal may show it: what cannot be seen is written out, so none of it reaches the terminal."""

from __future__ import annotations

import re
from collections.abc import Iterable

# C0 and C1 controls but tab, bidirectional controls, invisible spaces and tags, line separators, lone surrogates
_INVISIBLE = re.compile(
    "[\x00-\x08\x0a-\x1f\x7f-\x9f\xad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2064\u2066-\u206f\ufeff"
    "\ud800-\udfff\ufff9-\ufffb\ufffe\uffff\U000e0000-\U000e007f]"
)


def visible(text: str) -> str:
    """One line without invisible characters; each is shown as its escape, as JSON and Python write it."""
    return _INVISIBLE.sub(lambda found: _escape(ord(found[0])), text)


def visible_lines(lines: Iterable[str]) -> str:
    """The text of these lines, each of which stays one."""
    return "\n".join(map(visible, lines))


def _escape(code: int) -> str:
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def excerpt(text: str, most: int) -> str:
    """The beginning of a text on one line, white space folded."""
    short = " ".join(text[: most * 2].split())
    return visible(short if len(short) <= most and len(text) <= most * 2 else f"{short[: most - 1]}…")
