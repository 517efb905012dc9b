"""Text of a transcript in a browser's text field: what a field cannot carry goes out as a mark and comes back unharmed.

A field cannot hold NUL, other controls, lone surrogates or a lone carriage return, and sends every line break as CR LF.
"""

from __future__ import annotations

import re

NOT_IN_FIELDS = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff]|\r(?!\n)")
MARK = re.compile("⟦U\\+([0-9A-F]{4})⟧")


def for_field(text: str) -> str:
    """Return `text` in a form for a text field."""
    return NOT_IN_FIELDS.sub(lambda found: f"⟦U+{ord(found[0]):04X}⟧", text)


def from_field(given: str, original: str) -> str:
    """Return the text that the person means: `original` itself if nothing was changed, since browsers send every line
    break as CR LF."""
    lines = given.replace("\r\n", "\n")
    shown = for_field(original).replace("\r\n", "\n")
    if lines == shown:
        return original
    if "\r\n" in original and "\n" not in original.replace("\r\n", ""):
        lines = lines.replace("\n", "\r\n")
    if NOT_IN_FIELDS.search(original):
        lines = MARK.sub(_unmarked, lines)
    return lines


def _unmarked(found: re.Match[str]) -> str:
    character = chr(int(found[1], 16))
    return character if NOT_IN_FIELDS.match(character) else found[0]


def place_in(original: str, place: int) -> int:
    """Return the place in `original` that is `place` in its field, where a CR LF is one character and a mark is eight."""
    passed = shorter = 0
    for found in re.finditer(f"\r\n|{NOT_IN_FIELDS.pattern}", original):
        shown = 1 if found[0] == "\r\n" else 8
        if found.start() - passed + shorter + shown > place:
            break
        passed, shorter = passed + len(found[0]), shorter + shown
    return min(place - shorter + passed, len(original))
