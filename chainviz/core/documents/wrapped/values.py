"""JSON that begins somewhere in a text: plain, inside a string of any language, or as Python prints lists, dicts and models."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from itertools import islice
from typing import Any

_SPACE = r"(?:\s|\\[nrt])*"
_BEGIN = re.compile(rf"[\"']{_SPACE}[\[{{]{_SPACE}\\?[\"'\[{{]|[\[{{]\s*[\"'\[{{]|\[\s*[A-Z]\w*\(")
"""The possible start of a value: a string that contains one, or its first bracket."""
PRINTED = re.compile(r"\s*[\[({](?:\s*[\[({]){0,3}\s*'|\s*(?:\[\s*)?[A-Z]\w*\(\w+=")
"""The beginning of a value that Python printed."""
_STRING = re.compile(r"\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*'", re.DOTALL)
FAILURES = 20_000
"""The search ends after this many places that only look like the beginning of a value."""
DEEP = 1 << 16
"""The number of characters that a value which is nested too deep counts as."""
LOOKED = 1 << 9
"""This many characters without a result count as one more failure."""
FAR = 1 << 20
DEEPEST = 4
"""The deepest nesting of strings inside strings."""


class SearchEnded(Exception):
    """Too much of the text only looks like JSON."""


def values_in(text: str) -> Iterator[tuple[int, str]]:
    """Yield the position and JSON of each outermost value in a text. Raises SearchEnded if too much of the text is not JSON."""
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
    """Return the JSON value that starts there; a Python value is converted to JSON."""
    return _value(text, start)[0]


def read_json(text: Any) -> Any:
    """Parse JSON; return None if the text is invalid."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError, TypeError):
        return None


def inside(value: Any) -> str | None:
    """Return the JSON of an object or list in a string, which may itself be inside a string."""
    for _ in range(DEEPEST):
        if not isinstance(value, str):
            return None
        spelled, value = value, read_json(value)
        if isinstance(value, dict | list):
            return spelled
    return None


def _value(text: str, start: int) -> tuple[str | None, int]:
    """Return the JSON and its end; or None and the end of the search."""
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


_TOKEN = re.compile(r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|[\[\](){}]", re.DOTALL)
_ADDRESS = re.compile(r"(?<=[:=,\[(\s])<([A-Za-z_][^<>\n]{0,200})>(?=[,\]})\s])")
"""An object that prints no value, such as `<Client object at 0x7f…>` or `<Role.USER: 'user'>`."""
TOKENS = 50_000
"""The most brackets and strings of one value."""
_ENUM = re.compile(r"[\w.]+: ('(?:[^'\\]|\\.)*'|-?\d+)\Z")
NAMED: dict[str, dict[str, Any]] = {
    **{f"{name}Message": {"type": name.lower(), "additional_kwargs": {}} for name in ("Human", "AI", "System", "Tool")},
    "ModelRequest": {"kind": "request"},
    "ModelResponse": {"kind": "response"},
    "SystemPromptPart": {"part_kind": "system-prompt"},
    "UserPromptPart": {"part_kind": "user-prompt"},
    "RetryPromptPart": {"part_kind": "retry-prompt"},
    "TextPart": {"part_kind": "text"},
    "ThinkingPart": {"part_kind": "thinking"},
    "ToolCallPart": {"part_kind": "tool-call"},
    "ToolReturnPart": {"part_kind": "tool-return"},
}
"""Members that identify LangChain and pydantic-ai models whose repr omits them."""


def from_repr(text: str) -> str | None:
    """Return the JSON of a Python value, or None if the text is something else."""
    tree = _parsed(text.strip())
    try:
        return json.dumps(_plain(tree)) if tree is not None else None
    except (ValueError, RecursionError, MemoryError, TypeError):
        return None


def end_of(text: str, start: int) -> tuple[int, bool]:
    """Return the end of the bracket that opens at `start` and True, or the place where the search gave up and False."""
    depth, end = 0, start + 1
    for token in islice(_TOKEN.finditer(text, start), TOKENS):
        depth += token[0] in "[({"
        depth -= token[0] in "])}"
        end = token.end()
        if not depth:
            return end, True
    return end, False


def _parsed(text: str) -> ast.expr | None:
    for candidate in (text, _ADDRESS.sub(_spelled, text)):
        try:
            return ast.parse(candidate, mode="eval").body
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue
    return None


def _spelled(found: re.Match[str]) -> str:
    value = _ENUM.match(found[1])
    return value[1] if value else repr(found[0])


def _plain(node: ast.expr) -> Any:
    match node:
        case ast.Constant(value=str() | int() | float() | None as value):
            return value
        case ast.List(elts=items) | ast.Tuple(elts=items) | ast.Set(elts=items):
            return [_plain(item) for item in items]
        case ast.Dict(keys=keys, values=values):
            return {_key(key): _plain(value) for key, value in zip(keys, values, strict=True)}
        case ast.Call(func=model, args=[], keywords=members) if members:
            values_of = {member.arg or "": _plain(member.value) for member in members}
            return {**NAMED.get(ast.unparse(model).rpartition(".")[2], {}), **values_of}
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as value)):
            return -value
    return ast.unparse(node)


def _key(node: ast.expr | None) -> str:
    if not isinstance(node, ast.Constant) or not isinstance(node.value, str):
        raise ValueError("no JSON object")
    return node.value
