"""What Python prints for lists, dicts and models, as JSON."""

from __future__ import annotations

import ast
import json
import re
from itertools import islice
from typing import Any

_TOKEN = re.compile(r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|[\[\](){}]", re.DOTALL)
_ADDRESS = re.compile(r"(?<=[:=,\[(\s])<([A-Za-z_][^<>\n]{0,200})>(?=[,\]})\s])")
"""An object that prints no value, such as `<Client object at 0x7f…>` or `<Role.USER: 'user'>`."""
TOKENS = 50_000
"""Brackets and strings of one value."""
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
"""Models of LangChain and pydantic-ai whose repr leaves out members that say which one it is."""


def from_repr(text: str) -> str | None:
    """JSON of a Python value; None where the text is something else."""
    tree = _parsed(text.strip())
    try:
        return json.dumps(_plain(tree)) if tree is not None else None
    except (ValueError, RecursionError, MemoryError, TypeError):
        return None


def end_of(text: str, start: int) -> tuple[int, bool]:
    """Where the bracket that opens at `start` closes; or where the search gave up, and False."""
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
