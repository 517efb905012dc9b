"""The arguments of a call in a form: JSON on one long line is edited indented, and written back on one line in its own style."""

from __future__ import annotations

import json
from functools import partial
from itertools import product

SHORT = 80
"""The longest arguments, in characters, that stay on one line."""
_STYLES = [
    partial(json.dumps, separators=separators, ensure_ascii=is_ascii)
    for separators, is_ascii in product(((",", ":"), (", ", ": ")), (False, True))
]


def indented(arguments: str) -> str:
    """Return arguments indented. Those that would not be written back byte for byte are returned unchanged."""
    style = _style_of(arguments)
    return arguments if style is None else style(json.loads(arguments), indent=2, separators=(",", ": "))


def on_one_line(typed: str, original: str) -> str:
    """Return typed arguments in the style of the original ones; invalid JSON is returned as it was typed."""
    style = _style_of(original)
    try:
        return typed if style is None else style(json.loads(typed))
    except (ValueError, RecursionError):
        return typed


def _style_of(arguments: str) -> partial[str] | None:
    """Return the function that writes the same line from its value; None for other texts."""
    if len(arguments) <= SHORT or not arguments.startswith(("{", "[")):
        return None
    try:
        value = json.loads(arguments)
        return next((style for style in _STYLES if style(value) == arguments), None)
    except (ValueError, RecursionError):
        return None
