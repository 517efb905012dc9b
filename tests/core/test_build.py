"""Constructors and additions: exact sizes, types by themselves, and values that never change under anybody's hands."""

from __future__ import annotations

import random

import pytest
from hypothesis import given

from chainviz.core.chain import build
from chainviz.core.chain.messages import Message, Reasoning, Text, ToolCall, ToolResult
from chainviz.core.chain.reasoning import FAKE_SIGNATURE, clear_reasoning
from chainviz.core.chain.tree import ChainAST, PairType, flatten, parse
from chainviz.core.errors import Refused
from tests.core.pictures import ai, call, h, s, tool
from tests.core.strategies import chains


@given(chains)
def test_flatten_gives_back_what_was_parsed(messages: list[Message]) -> None:
    tree = parse(messages)
    assert list(flatten(tree)) == messages
    assert [id(m) for m in flatten(tree)] == [id(m) for m in messages]
    nested = [m for section in tree.sections for m in section.messages]
    assert nested == messages
    assert tree.size == sum(part.size for m in messages for part in m.parts)


def test_a_pair_knows_its_type() -> None:
    assert build.pair(ai("x")).type is PairType.COMPLETION
    assert build.pair(ai(call("a")), [tool("a")]).type is PairType.REQUEST_RESPONSE
    assert build.pair(ai(call("a", "execute_task_and_return_summary"), call("b"))).type is PairType.SUMMARIZATION
    assert build.pair(ai(call("b"), call("a", "execute_task_and_return_summary"))).type is PairType.REQUEST_RESPONSE
    assert build.pair(ai(ToolCall("a", "", "", has_function=False))).type is PairType.COMPLETION


@pytest.mark.parametrize("messages", [[], [h()], [ai("x"), h()], [ai(call("a")), tool("a"), ai("y")]])
def test_a_pair_is_made_only_of_an_ai_message_and_tools(messages: list[Message]) -> None:
    with pytest.raises(Refused):
        build.pair_from_messages(messages)


def test_a_summarization_pair_is_valid_and_carries_what_it_must() -> None:
    thought = Message("ai", (Text("so", Reasoning("because", "sig")),))
    pair = build.summarization("short", "call_{r:24:x}", random.Random(1), fake_signature=True, reasoning_message=thought)
    assert pair.is_valid and pair.type is PairType.SUMMARIZATION
    assert pair.ai is not None and pair.ai.parts[0] == thought.parts[0]
    made = pair.ai.parts[1]
    assert isinstance(made, ToolCall) and made.reasoning == Reasoning(signature=FAKE_SIGNATURE)
    assert len(made.id) == 29 and pair.rest[0].results[0].id == made.id
    assert clear_reasoning(pair.ai).size == pair.ai.size


def test_summaries_of_different_texts_have_different_ids() -> None:
    ids = [build.summarization(text).tool_calls.completed for text in ("one", "two \ud800", "one")]
    assert ids[0] == ids[2] != ids[1]


def test_the_four_cases_of_appending_a_human_message() -> None:
    empty: ChainAST[Message] = ChainAST()
    assert build.append_human(empty, "q").messages == (h("q"),)
    assert build.append_human(parse([h("a"), ai("x")]), "q").messages == (h("a"), ai("x"), h("q"))
    assert len(build.append_human(parse([h("a"), ai("x")]), "q").sections) == 2
    assert build.append_human(parse([s()]), "q").messages == (s(), h("q"))
    assert len(build.append_human(parse([s()]), "q").sections) == 1
    joined = build.append_human(parse([s(), h("a")]), "q").messages
    assert joined == (s(), Message("human", (Text("a"), Text("q"))))


def test_tool_responses_are_added_updated_and_not_found() -> None:
    before = parse([h(), ai(call("a"), call("b")), tool("a")])
    updated = build.add_tool_response(before, "a", "search", "new")
    assert [m.size for m in before.messages] != [m.size for m in updated.messages]
    assert list(build.find_tool_responses(updated, "a")) == [ToolResult("a", "search", "new")]
    added = build.add_tool_response(before, "b", "search", "two")
    assert added.sections[0].body[0].is_valid
    assert added.sections[0].size == sum(m.size for m in added.messages)
    with pytest.raises(Refused, match="tool call with ID c not found"):
        build.add_tool_response(before, "c", "search", "x")
    assert before == parse([h(), ai(call("a"), call("b")), tool("a")])


def test_strict_construction_refuses_with_the_place() -> None:
    with pytest.raises(Refused, match=r"A message in the header of section 1"):
        build.strict_tree([h(), h()])
    assert build.strict_tree([h(), ai("x")]).size == 3


def test_a_tree_can_be_built_by_hand() -> None:
    section = build.section(build.header(s(), h("q")))
    section = build.add_pair(section, build.completion("yes"))
    tree = build.add_section(ChainAST(), section)
    assert tree == parse([s(), h("q"), ai("yes")])
