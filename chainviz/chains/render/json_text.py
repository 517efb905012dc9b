"""JSON laid out for reading. Every token keeps its own spelling, so nothing is rounded, merged or reordered."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from chainviz.chains.render.visible_text import safe
from chainviz.core.documents.json.long_values import length_of

MOST_BYTES = 256_000
MOST_TOKENS = 160
"""The most coloured tokens of a text; more would fill the page with elements."""
DEEPEST = 12
"""The most indented levels; deeper ones would leave their column."""

_STRING = r'"[^"\\]*(?:\\.[^"\\]*)*"'
_TOKEN = re.compile(rf"{_STRING}|[{{}}\[\],:]|[^\s{{}}\[\],:\"]+", re.DOTALL)
_PAINT = re.compile(rf"(?P<string>{_STRING})(?P<colon>\s*:)?|(?P<number>-?\b\d[\d.eE+-]*)|(?P<literal>\b(?:true|false|null)\b)", re.DOTALL)
_LINE_BREAK = re.compile(r"(?<!\\)((?:\\\\)*)\\n")


def lay_out(text: str) -> str | None:
    """Return the JSON object or list in `text`, indented, or None for anything else. A line break in a string is shown
    as ↵ and a new line."""
    head = text.lstrip()[:1]
    if head not in ("{", "[") or length_of(text) > MOST_BYTES or not _is_json(text):
        return None
    return "".join(lead + shown for _, lead, shown in _layout_tokens(text))


def place_in_layout(text: str, place: int) -> int:
    """Return where the characters before `place` of a JSON text end in what `lay_out` makes of it."""
    end = 0
    for start, lead, shown in _layout_tokens(text):
        if start >= place:
            break
        end += len(lead) + min(place - start, len(shown))
    return end


def _layout_tokens(text: str) -> Iterator[tuple[int, str, str]]:
    """Yield the place of each token in the text, the white space before it, and its display form."""
    depth = 0
    previous = ""
    for found in _TOKEN.finditer(text):
        token, lead = found[0], ""
        if token in "}]":
            depth -= 1
            if previous not in ("{", "["):
                lead = _line(depth)
        elif previous in ("{", "[", ","):
            lead = _line(depth)
        elif previous == ":":
            lead = " "
        yield found.start(), lead, _break_lines(token)
        if token in ("{", "["):
            depth += 1
        previous = token


def _line(depth: int) -> str:
    return "\n" + "  " * min(depth, DEEPEST)


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def _break_lines(token: str) -> str:
    return _LINE_BREAK.sub(r"\1↵\n", token) if token.startswith('"') and "\\n" in token else token


def paint(text: str) -> str:
    """Render formatted JSON as escaped HTML, with colours for keys and values unless there are too many."""
    found = list(_PAINT.finditer(text))
    if len(found) > MOST_TOKENS:
        return safe(text)
    out: list[str] = []
    place = 0
    for token in found:
        out.append(safe(text[place : token.start()]))
        kind = "key" if token["colon"] else token.lastgroup
        word = token["string"] or token[0]
        out.append(f'<span class="json-{kind}">{safe(word)}</span>{token["colon"] or ""}')
        place = token.end()
    out.append(safe(text[place:]))
    return "".join(out)
