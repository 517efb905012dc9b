"""The source lines around a place in a broken file, short enough to show, with the place marked."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypedDict

from chainviz.chains.render.visible_text import marks

BEFORE, AFTER = 1200, 300
"""Bytes read on either side of the place."""
LEFT, WIDTH = 30, 110
"""Characters shown before the place in its own line, so few that a phone shows the place, and of a line in all."""


class SourceLine(TypedDict):
    number: int
    text: str
    mark: int
    """Characters before the place in the marked line; -1 in the others."""


def excerpt(read: Callable[[int, int], bytes], offset: int, line: int) -> list[SourceLine]:
    """Up to three lines that end with the one the place is in; none where there is no place."""
    if line < 1:
        return []
    before = _text(read(max(0, offset - BEFORE), offset)).split("\n")
    after = _text(read(offset, offset + AFTER)).split("\n")[0]
    start = before[-1]
    cut = max(0, len(start) - LEFT)
    shown = ("…" if cut else "") + start[cut:]
    lines: list[SourceLine] = [
        {"number": line - back, "text": _clip(before[-1 - back]), "mark": -1}
        for back in (2, 1)
        if back < len(before) and line - back > 0
    ]
    lines.append({"number": line, "text": _clip(shown + after), "mark": len(shown)})
    return lines


def _text(content: bytes) -> str:
    # A tab is one character for the mark below it, so it must be one wide.
    return marks(content.decode("utf-8", "replace").replace("\r\n", "\n").replace("\t", " "))


def _clip(text: str) -> str:
    return text if len(text) <= WIDTH else text[: WIDTH - 1] + "…"
