"""What the reference was observed to do, case by case, against our compatible functions.

The ops summarize, prompt, last_pairs and qa_keep belong to the summarizer and are tested with it.
"""

from __future__ import annotations

import random
from typing import Any

from chainviz.core.chain.build import add_tool_response, append_human, find_tool_responses
from chainviz.core.chain.messages import Message, ToolCall, ToolResult
from chainviz.core.chain.reasoning import clear_reasoning, contains_tool_call_reasoning, reasoning_message
from chainviz.core.chain.tool_ids import parse_template
from chainviz.core.chain.tree import parse
from chainviz.core.errors import Refused
from chainviz.core.reference import parsed_by_reference
from tests.core.cases import each_case, expected_message, read_messages, same_tree
from tests.core.reference import normalized_by_reference, sanitized_by_reference


def parsed(request_: dict[str, Any], expected: dict[str, Any]) -> tuple[Message, ...] | None:
    """The chain as the reference holds it, or None where it refuses, as both must."""
    try:
        messages = parsed_by_reference(read_messages(request_), force=request_["force"])
    except Refused as refused:
        assert str(refused) == expected["error"]
        return None
    assert not expected.get("error")
    return messages


@each_case("ast", "reparse")
def test_parsing(request_: dict[str, Any], expected: dict[str, Any]) -> None:
    messages = parsed(request_, expected)
    if messages is not None:
        same_tree(parse(messages), expected["tree"])


@each_case("reparse")
def test_parsing_again(request_: dict[str, Any], expected: dict[str, Any]) -> None:
    messages = parsed(request_, expected)
    if messages is None:
        return
    try:
        again = parsed_by_reference(messages, force=False)
    except Refused as refused:
        assert str(refused) == expected["strict_error_after"]
        return
    assert expected["strict_error_after"] is None
    same_tree(parse(again), expected["tree_after"])


@each_case("append_human")
def test_append_human(request_: dict[str, Any], expected: dict[str, Any]) -> None:
    messages = parsed(request_, expected)
    if messages is not None:
        same_tree(append_human(parse(messages), request_["text"]), expected["tree"])


@each_case("add_tool_response")
def test_add_tool_response(request_: dict[str, Any], expected: dict[str, Any]) -> None:
    messages = parsed(request_, expected)
    if messages is None:
        return
    tree = parse(messages)
    try:
        tree = add_tool_response(tree, request_["id"], request_["name"], request_["content"])
    except Refused as refused:
        assert str(refused) == expected["op_error"]
    else:
        assert expected["op_error"] is None
    same_tree(tree, expected["tree"])


@each_case("find_tool_responses")
def test_find_tool_responses(request_: dict[str, Any], expected: dict[str, Any]) -> None:
    messages = parsed(request_, expected)
    if messages is not None:
        found = list(find_tool_responses(parse(messages), request_["id"]))
        assert found == [ToolResult(r["tool_call_id"], r["name"], r["content"]) for r in expected["responses"] or []]


@each_case("clear_reasoning")
def test_clear_reasoning(request_: dict[str, Any], expected: dict[str, Any]) -> None:
    messages = parsed(request_, expected)
    if messages is not None:
        same_tree(parse([clear_reasoning(message) for message in messages]), expected["tree"])


@each_case("contains_reasoning")
def test_contains_reasoning(request_: dict[str, Any], expected: dict[str, Any]) -> None:
    assert contains_tool_call_reasoning(read_messages(request_)) == expected["contains_tool_call_reasoning"]


@each_case("extract_reasoning")
def test_extract_reasoning(request_: dict[str, Any], expected: dict[str, Any]) -> None:
    assert reasoning_message(read_messages(request_)) == expected_message(expected["message"])


@each_case("sanitize_args")
def test_sanitize_arguments(request_: dict[str, Any], expected: dict[str, Any]) -> None:
    messages = parsed(request_, expected)
    if messages is not None:
        same_tree(parse(sanitized_by_reference(messages)), expected["tree"])


@each_case("normalize")
def test_normalize(request_: dict[str, Any], expected: dict[str, Any]) -> None:
    messages = parsed(request_, expected)
    if messages is None:
        return
    template = parse_template(request_["template"], least=0, lenient=True)
    renamed = normalized_by_reference(messages, template, random.Random(request_["case"]))
    same_tree_but_for_new_ids(renamed, messages, expected["tree"])


def same_tree_but_for_new_ids(renamed: tuple[Message, ...], before: tuple[Message, ...], tree: dict[str, Any]) -> None:
    wanted = [m for s in tree["sections"] for m in (s["header"]["system"], s["header"]["human"]) if m]
    wanted += [m for s in tree["sections"] for pair in s["body"] for m in (pair["ai"], *pair["tools"])]
    by_role = sorted(renamed, key=lambda m: m.role not in ("system", "human"))
    new_ids: dict[str, str] = {}
    for ours, theirs in zip(by_role, map(expected_message, wanted), strict=True):
        assert theirs is not None and len(ours.parts) == len(theirs.parts)
        for part, other in zip(ours.parts, theirs.parts, strict=True):
            if isinstance(part, ToolCall | ToolResult) and isinstance(other, ToolCall | ToolResult):
                mine, yours = (getattr(p, "call_id", getattr(p, "id", None)) for p in (part, other))
                if str(yours).startswith("GEN-"):
                    assert new_ids.setdefault(str(yours), str(mine)) == mine
                else:
                    assert mine == yours
                assert (part.name, getattr(part, "content", "")) == (other.name, getattr(other, "content", ""))
            else:
                assert part == other


@each_case("validate_pattern")
def test_validate_pattern(request_: dict[str, Any], expected: dict[str, Any]) -> None:
    template = parse_template(request_["template"], least=0, lenient=True)
    for sample, wanted in zip(request_["samples"], expected["results"], strict=True):
        found = template.mismatch(sample["ID"], sample["Name"])
        assert (found is None) == wanted["valid"]
        if found is not None:
            assert found.position == wanted["position"]
            assert (found.text, found.expected, found.got) == (wanted["error"], wanted["expected"], wanted["got"])
