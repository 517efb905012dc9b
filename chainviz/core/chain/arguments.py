"""Check whether a tool call's arguments are valid JSON, and fix them with the smallest change."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, NoReturn

EMPTY = "{}"

_SHORT = {"\n": "\\n", "\r": "\\r", "\t": "\\t", "\b": "\\b", "\f": "\\f"}
_STRING = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*(?:"|\\?\Z)', re.DOTALL)
_CONTROL = re.compile(r"[\x00-\x1f]")
_BROKEN_ESCAPE = re.compile(r"\\(?:u[0-9a-fA-F]{0,3})?\Z")
_WORD = re.compile(r"(?:t|tr|tru|f|fa|fal|fals|n|nu|nul)$")
_NUMBER_TAIL = re.compile(r"(?:\.|[eE][+-]?)$")

How = Literal["valid", "empty", "escaped", "closed", "replaced"]


def _refuse(word: str) -> NoReturn:
    raise ValueError(word)


# numbers stay text, because they may have any size; NaN is refused, because it is not JSON
_DECODER = json.JSONDecoder(parse_int=str, parse_float=str, parse_constant=_refuse)


@lru_cache(maxsize=1)
def is_json(text: str) -> bool:
    """Return True for valid JSON. Caches one answer, because several providers ask about the same arguments in turn, and
    arguments may be huge."""
    try:
        _DECODER.decode(text)
    except (ValueError, RecursionError):
        return False
    return True


def is_json_object(text: str) -> bool:
    return text.lstrip(" \t\r\n").startswith("{") and is_json(text)


@dataclass(frozen=True, slots=True)
class FixedJSON:
    """Arguments as valid JSON, and how they were fixed. `replaced`: the old text is lost unless the caller keeps it."""

    text: str
    how: How


def fix_json(text: str) -> FixedJSON:
    if is_json(text):
        return FixedJSON(text, "valid")
    if not text.strip():
        return FixedJSON(EMPTY, "empty")
    escaped = escape_control_characters(text)
    if is_json(escaped):
        return FixedJSON(escaped, "escaped")
    closed = close(escaped)
    return FixedJSON(EMPTY, "replaced") if closed is None else FixedJSON(closed, "closed")


def sanitize(text: str) -> str:
    """Return arguments that are valid JSON, as the reference does: control characters escaped if that is enough, else `{}`."""
    if is_json(text):
        return text
    escaped = escape_control_characters(text)
    return escaped if is_json(escaped) else EMPTY


def escape_control_characters(text: str) -> str:
    """Return the text with control characters inside JSON strings as escapes. Those between tokens stay."""
    return _STRING.sub(lambda found: _CONTROL.sub(_escape, found[0]), text)


def _escape(found: re.Match[str]) -> str:
    return _SHORT.get(found[0]) or f"\\u{ord(found[0]):04x}"


def close(text: str) -> str | None:
    """Return JSON that was cut off with its brackets closed, or None if that does not make it valid."""
    closers, inside = _open_brackets(text)
    if closers is None or not (closers or inside):
        return None
    tail = "".join(reversed(closers))
    for candidate in _candidates(text, inside):
        if is_json(candidate + tail):
            return candidate + tail
    return None


def _open_brackets(text: str) -> tuple[list[str] | None, bool]:
    """Return the missing closing brackets (None if the brackets do not nest), and whether the text ends inside a string."""
    closers: list[str] = []
    inside = escaped = False
    for character in text:
        if inside:
            if escaped:
                escaped = False
            elif character == "\\":
                escaped = True
            elif character == '"':
                inside = False
        elif character == '"':
            inside = True
        elif character in "{[":
            closers.append("}" if character == "{" else "]")
        elif character in "}]" and (not closers or closers.pop() != character):
            return None, False
    return closers, inside


def _candidates(text: str, inside: bool) -> list[str]:
    """Return the possible completions of the last token, the shortest addition first."""
    if inside:
        string = _BROKEN_ESCAPE.sub("", text) + '"'
        return [string, text + '"', string + ":null", text + '":null']
    text = text.rstrip()
    found = [text, text + "null", text + ":null"]
    if text.endswith(","):
        found.append(text[:-1])
    word = _WORD.search(text)
    if word:
        found.append(text[: word.start()] + next(w for w in ("true", "false", "null") if w.startswith(word[0])))
    found.append(_NUMBER_TAIL.sub("", text))
    if text.endswith("-"):
        found.append(text + "0")
    return found
