"""JSON that begins somewhere in a text: as it is, inside a string of any language, or as Python prints it."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from typing import Any

from chainviz.core.documents.wrapped.python_repr import end_of, from_repr

_SPACE = r"(?:\s|\\[nrt])*"
_BEGIN = re.compile(rf"[\"']{_SPACE}[\[{{]{_SPACE}\\?[\"'\[{{]|[\[{{]\s*[\"'\[{{]|\[\s*[A-Z]\w*\(")
"""Where a value may begin: a string that holds one, or its first bracket."""
PRINTED = re.compile(r"\s*[\[({](?:\s*[\[({]){0,3}\s*'|\s*(?:\[\s*)?[A-Z]\w*\(\w+=")
"""The beginning of a value that Python printed."""
_STRING = re.compile(r"\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*'", re.DOTALL)
FAILURES = 20_000
"""Places that look like the beginning of a value and are none, after which the search ends."""
DEEP = 1 << 16
"""Characters that a value which is nested too deep counts as."""
LOOKED = 1 << 9
"""Characters searched without a result that count as one more failure."""
FAR = 1 << 20
DEEPEST = 4
"""Strings inside strings."""


class SearchEnded(Exception):
    """Too much of the text only looks like JSON."""


def values_in(text: str) -> Iterator[tuple[int, str]]:
    """Where each value begins, and its JSON; values inside of others are left out. Raises SearchEnded."""
    base = place = failures = 0
    while begin := _BEGIN.search(text, place - base):
        found, end = _value(text, begin.start())
        place = base + begin.start()
        if found is not None:
            yield place, found
            place = base + end
            continue
        place += 1
        failures += 1 + (end - begin.start()) // LOOKED
        if failures > FAILURES:
            raise SearchEnded
        if place - base > FAR:
            # the json module counts the lines before each fault
            text, base = text[place - base :], place


def value_at(text: str, start: int) -> str | None:
    """The JSON that begins there; a Python value becomes JSON."""
    return _value(text, start)[0]


def read_json(text: Any) -> Any:
    """None where it is no JSON."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError, TypeError):
        return None


def inside(value: Any) -> str | None:
    """The JSON of an object or list that a string spells, which may itself be inside a string."""
    for _ in range(DEEPEST):
        if not isinstance(value, str):
            return None
        spelled, value = value, read_json(value)
        if isinstance(value, dict | list):
            return spelled
    return None


def _value(text: str, start: int) -> tuple[str | None, int]:
    """The JSON and where it ends; None, and how far was looked, where there is none."""
    if text[start] in "\"'":
        return _string_value(text, start)
    try:
        _, end = json.JSONDecoder().raw_decode(text, start)
        return text[start:end], end
    except json.JSONDecodeError as error:
        looked = error.pos
    except (ValueError, RecursionError):
        return None, min(len(text), start + DEEP)
    if not PRINTED.match(text, start):
        return None, max(looked, start + 1)
    end, is_closed = end_of(text, start)
    return (from_repr(text[start:end]) if is_closed else None), end


def _string_value(text: str, start: int) -> tuple[str | None, int]:
    string = _STRING.match(text, start)
    if string is None:
        return None, start + 1
    spelled = read_json(string[0])
    if spelled is None:
        try:
            spelled = ast.literal_eval(string[0])
        except (SyntaxError, ValueError):
            return None, string.end()
    return inside(spelled), string.end()
