"""Text of a transcript as a terminal may show it: control characters are written out, so none reaches the terminal."""

from __future__ import annotations

import re

_CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def visible(text: str) -> str:
    """One line without control characters; each is shown as its escape."""
    return _CONTROL.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def excerpt(text: str, most: int) -> str:
    """The beginning of a text on one line, white space folded."""
    short = " ".join(text[: most * 2].split())
    return visible(short if len(short) <= most and len(text) <= most * 2 else f"{short[: most - 1]}…")
