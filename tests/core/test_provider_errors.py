"""The errors that APIs were seen to answer with: each cause is found, its fix is offered, and after it the error is gone.

Those of OpenAI's Responses that are about items of a format not read here (rs_, msg_ and fc_ ids) are left out.
"""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chainviz.core.chain.content_problems import content_problems
from chainviz.core.chain.messages import Image, Message, Opaque, Text, Thinking
from chainviz.core.chain.parse import parse
from chainviz.core.chain.problems import Problem, tree_problems
from chainviz.core.dialects.patching import data_url
from chainviz.core.operations.repair import CHOICES, RepairOptions, repaired
from chainviz.core.providers import provider_problems
from tests.core.pictures import ai, call, h, result, s, tool
from tests.core.strategies import messages

GIF = Image(data_url("image/gif", b"GIF89a" + (9000).to_bytes(2, "little") + (20).to_bytes(2, "little")))
SEARCHED = Opaque("web_search_tool_result", '{"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1"}')
THOUGHT = Thinking("hm", "sig")

SELDOM = [ai(SEARCHED), ai(THOUGHT, call("a")), ai(Thinking("", "sig"), call("b"))]

ERRORS: dict[str, tuple[str, list[Message], str]] = {
    "A1 missing result": ("result-missing", [h(), ai(call("a")), h("go on")], "answer-call"),
    "A1 late result": ("result-without-call", [h(), ai(call("a")), h("go on"), tool("a"), ai("x")], "move-result"),
    "A2 orphan result": ("result-without-call", [h(), tool("a"), ai("x")], "result-to-text"),
    "A3 split server tool": ("server-result-without-call", [h(), ai("x", SEARCHED)], "server-result-to-text"),
    "A4 id in two turns": (
        "call-id-reused", [h(), ai(call("a")), tool("a"), ai(call("a")), tool(result("a", "new")), ai("x")], "rename-calls",
    ),
    "A4 id shared in a turn": ("call-id-reused", [h(), ai(call("a"), call("a")), tool("a"), tool("a")], "rename-calls"),
    "A4 two results": ("result-repeated", [h(), ai(call("a")), tool("a"), tool("a"), ai("x")], "drop-copy"),
    "A5 roles alternate": ("double-human", [h(), h(), ai("x")], "merge-human"),
    "A6 thinking stripped": ("thinking-missing", [h(), ai(THOUGHT, call("a")), tool("a"), ai(call("b")), tool("b")], "drop-thinking"),
    "A7 thinking emptied": ("thinking-emptied", [h(), ai(Thinking("", "sig"), "x"), h()], "drop-thinking"),
    "A7 signature gone": ("thinking-unsigned", [h(), ai(Thinking("hm"), "x"), h()], "drop-thinking"),
    "A8 thinking at the end": ("thinking-final", [h(), ai(THOUGHT, "x")], "drop-thinking"),
    "A9 empty text": ("text-empty", [h(), ai("", call("a")), tool("a")], "drop-empty"),
    "A9 blank text": ("text-blank", [h(), ai(" \n", call("a")), tool("a")], "drop-empty"),
    "A10 large picture": ("image-too-large", [Message("human", (Text("look"), GIF)), ai("x")], "image-to-text"),
    "O1 unanswered call": ("result-missing", [h(), ai(call("a"), call("b")), tool("b")], "answer-call"),
    "O2 orphan tool message": ("result-without-call", [h(), ai("x"), tool("a")], "result-to-text"),
    "O3 no output for a call": ("pending-call", [h(), ai(call("a")), ai("x")], "answer-call"),
    "O4 no call for an output": ("unmatched-result", [h(), ai(call("a")), tool("a"), tool("b")], "add-call"),
    "O8 cut-off arguments": ("arguments-no-json", [h(), ai(call("a", arguments='{"q": "x')), tool("a")], "mend-arguments"),
    "O8 arguments are null": ("arguments-no-object", [h(), ai(call("a", arguments="null")), tool("a")], "wrap-arguments"),
    "G1 fewer results than calls": ("pending-call", [h(), ai(call("a"), call("b")), tool("a"), h()], "answer-call"),
    "G2 begins with a call": ("first-message", [ai(call("a")), tool("a"), ai("x")], "insert-opening"),
    "G2 text between": ("orphan-result", [h(), ai(call("a")), h("text"), tool("a")], "move-result"),
    "D1 reasoning dropped": (
        "reasoning-missing", [h(), ai(Thinking("hm"), call("a")), tool("a"), ai(call("b")), tool("b")], "drop-thinking",
    ),
    "system in the middle": ("system-in-messages", [h(), ai("x"), s(), ai("y")], "note-system"),
}  # fmt: skip


def problems(messages: list[Message] | tuple[Message, ...]) -> list[Problem]:
    tree = parse(messages)
    contents = [problem for section in tree.sections for problem in content_problems(section, 1, 0)]
    return [*tree_problems(tree), *contents, *provider_problems(tree)]


@pytest.mark.parametrize("name", ERRORS)
def test_an_error_is_found_mended_and_gone(name: str) -> None:
    rule, chain, fix = ERRORS[name]
    found = [problem for problem in problems(chain) if problem.rule == rule]
    assert any(fix in problem.fixes for problem in found)
    after = repaired(chain, RepairOptions(only=(fix,)))
    assert rule not in [problem.rule for problem in problems(after)]
    assert repaired(after, RepairOptions(only=(fix,))) == after


@settings(max_examples=300)
@given(st.lists(messages | st.sampled_from(SELDOM), max_size=9))
def test_with_all_fixes_no_provider_refuses_any_chain(chain: list[Message]) -> None:
    every = RepairOptions(only=tuple(CHOICES))
    after = repaired(chain, every)
    refused = [problem for problem in provider_problems(parse(after)) if problem.severity == "error"]
    # ids of nine characters are made for the one provider that wants them
    assert [problem for problem in refused if problem.provider != "mistral-v11"] == []
    assert repaired(after, every) == after
