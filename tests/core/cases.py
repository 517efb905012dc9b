"""The reference's cases as our messages and back (form: the README beside them)."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest

from chainviz.core.chain.messages import Binary, Image, Message, Opaque, Part, Reasoning, Text, ToolCall, ToolResult
from chainviz.core.chain.tree import BodyPair, ChainAST
from tests.shared_folder import CASES

FILES = ("chain_ast.jsonl", "chain_ast_valid.jsonl")


def cases(*ops: str) -> list[Any]:
    """All cases of these ops as (request, expected), with a readable id."""
    found = []
    for name in FILES:
        for line in (CASES / name).read_text("utf-8").splitlines():
            case = json.loads(line)
            if case["request"]["op"] in ops:
                found.append((f"{name[:-6]}-{case['request']['case']}", case["request"], case["expected"]))
    return found


def each_case(*ops: str) -> pytest.MarkDecorator:
    """Parametrize a test with the request and the expected answer of each case of these ops."""
    found = [pytest.param(request, expected, id=name) for name, request, expected in cases(*ops)]
    return pytest.mark.parametrize(("request_", "expected"), found)


def read_part(part: dict[str, Any]) -> Part:
    reasoning = Reasoning(part["reasoning"]["content"], part["reasoning"]["signature"]) if part.get("reasoning") else None
    match part["type"]:
        case "text":
            return Text(part["text"], reasoning)
        case "image_url":
            return Image(part["url"], part.get("detail", ""))
        case "binary":
            return Binary(part["mime"], base64.b64decode(part.get("data_b64", "")))
        case "tool_call":
            return ToolCall(
                part["id"], part.get("name", ""), part.get("arguments", ""), part.get("call_type", "function"),
                not part.get("no_function", False), reasoning,
            )  # fmt: skip
        case "tool_response":
            return ToolResult(part["tool_call_id"], part["name"], part["content"])
        case kind:
            return Opaque(kind, json.dumps(part))


def read_messages(request: dict[str, Any]) -> tuple[Message, ...]:
    return tuple(Message(m["role"], tuple(read_part(part) for part in m["parts"])) for m in request["messages"])


def expected_message(message: dict[str, Any] | None) -> Message | None:
    return None if message is None else read_messages({"messages": [message]})[0]


def same_tree(tree: ChainAST[Message], expected: dict[str, Any]) -> None:
    """Asserts that our tree is the expected one, size and state of every node included."""
    assert tree.size == expected["size"]
    assert len(tree.sections) == len(expected["sections"])
    for section, wanted in zip(tree.sections, expected["sections"], strict=True):
        assert section.size == wanted["size"]
        assert section.header_size == wanted["header"]["size"]
        header = tuple(expected_message(wanted["header"][role]) for role in ("system", "human") if wanted["header"][role])
        assert section.header == header
        assert len(section.body) == len(wanted["body"])
        for pair, wanted_pair in zip(section.body, wanted["body"], strict=True):
            same_pair(pair, wanted_pair)


def same_pair(pair: BodyPair[Message], wanted: dict[str, Any]) -> None:
    assert pair.ai == expected_message(wanted["ai"])
    assert pair.rest == tuple(expected_message(message) for message in wanted["tools"])
    assert pair.size == wanted["size"]
    assert pair.type == wanted["type"]
    assert pair.is_valid == wanted["valid"]
    assert list(pair.tool_calls.pending) == sorted(wanted["pending"])
    assert list(pair.tool_calls.unmatched) == sorted(wanted["unmatched"])
    assert list(pair.tool_calls.completed) == sorted(wanted["completed"])
