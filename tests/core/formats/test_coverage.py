"""A chain is fully read, or says what was not: unknown records, roles, types of parts, and texts in unknown fields."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest

import chainviz
from chainviz.core.chain.unread import UnreadPlace, describe_unread
from chainviz.core.documents.envelope_json import from_json, to_json
from chainviz.core.errors import Refused
from tests.core.formats.chains import sample_files

HI = {"role": "user", "content": "Where is the harbour?"}
CALL = {"id": "c1", "type": "function", "function": {"name": "find", "arguments": '{"what":"harbour"}'}}
ASKS = {"role": "assistant", "content": None, "tool_calls": [CALL]}
TOLD = {"role": "tool", "tool_call_id": "c1", "content": "north"}
META = {"type": "summary", "summary": "A chat about a harbour", "leafUuid": "u1"}


def said(uuid: str, parent: str | None, role: str, content: Any) -> dict[str, Any]:
    return {"type": role, "uuid": uuid, "parentUuid": parent, "sessionId": "s", "message": {"role": role, "content": content}}


SESSION = [META, said("u1", None, "user", "Where is it?"), said("u2", "u1", "assistant", [{"type": "text", "text": "North."}])]


def unread_of(content: Any, format: str, *, lines: bool = False) -> list[tuple[str, str, int]]:
    text = "\n".join(map(json.dumps, content)) if lines else json.dumps(content)
    (chain,) = chainviz.load(text.encode(), format)
    assert chain.is_fully_read == (not chain.unread)
    return [(each.kind, each.name, each.count) for each in chain.unread]


@pytest.mark.parametrize(
    ("messages", "expected"),
    [
        ([HI, ASKS, TOLD], []),
        ([HI, {**ASKS, "content": ""}, {**TOLD, "content": ""}], []),
        ([HI, {"role": "assistant", "content": None, "finish_reason": "stop", "model": "m", "created_at": "2026-01-01 10:00"}], []),
        ([{"role": "user", "contents": "Where?"}, {"role": "assistant", "content": "There."}], [("field", "contents", 1)]),
        ([{"rol": "user", "content": "Where?"}, {"role": "assistant", "content": "There."}], [("record", "", 1)]),
        ([HI, {"role": "observer", "content": "A ship"}], [("role", "observer", 1)]),
        ([HI, {"role": "assistant", "content": [{"type": "text", "txt": "North"}]}], [("part", "text", 1)]),
        ([HI, {"role": "assistant", "content": [{"type": "hologram", "data": "x"}]}], [("part", "hologram", 1)]),
        ([HI, {"role": "assistant", "content": "I look.", "toolCals": [CALL]}], [("field", "name", 1), ("field", "arguments", 1)]),
        ([HI, {**ASKS, "tool_calls": [{**CALL, "function": {"name": "find", "args": '{"n":1}'}}]}], [("field", "args", 1)]),
        ([HI, ASKS, {"role": "tool", "tool_call_idx": "c1", "content": "north"}], [("field", "tool_call_idx", 1)]),
        ([HI, {"role": "assistant", "content": "North.", "hint": "near the old lighthouse"}], [("field", "hint", 1)]),
    ],
)
def test_content_that_no_message_shows_is_named(messages: Sequence[Any], expected: list[tuple[str, str, int]]) -> None:
    assert unread_of(messages, "openai_chat") == expected


def test_records_of_a_session_that_hold_no_message_are_known() -> None:
    assert unread_of(SESSION, "claude_code", lines=True) == []
    unknown = {"type": "oracle", "uuid": "o1", "sessionId": "s", "words": "Beware of the tide"}
    assert unread_of([*SESSION, unknown, unknown], "claude_code", lines=True) == [("record", "oracle", 2)]


def test_a_place_is_a_line_or_an_element_of_the_list() -> None:
    lines = "\n".join(map(json.dumps, [*SESSION, {"type": "oracle", "sessionId": "s"}]))
    (chain,) = chainviz.load(lines.encode(), "claude_code")
    assert [each.places for each in chain.unread] == [(UnreadPlace(3, 4),)]
    assert describe_unread(chain.unread[0]) == "1 record of a type that chainviz does not know (“oracle”) in line 4."
    (chain,) = chainviz.load(json.dumps([HI, {"role": "x", "content": "y"}]).encode(), "openai_chat")
    assert [each.places for each in chain.unread] == [(UnreadPlace(1),)]
    assert describe_unread(chain.unread[0]) == "1 message with a role that chainviz does not know (“x”) in record 2."
    assert from_json(to_json(chain.loaded.envelope)) == chain.loaded.envelope


def test_a_chain_that_is_not_fully_read_is_never_accepted() -> None:
    (chain,) = chainviz.load(json.dumps([HI, {"role": "assistant", "content": "North.", "hint": "near the pier"}]).encode(), "openai_chat")
    assert chain.verdict("openai-chat").state == "unchecked"
    assert [(problem.rule, problem.severity) for problem in chain.problems()] == [("not-fully-read", "unchecked")]


def test_a_repair_does_not_touch_a_message_that_is_not_fully_read() -> None:
    (chain,) = chainviz.load(json.dumps([{"role": "user", "contents": "Where?"}, HI, ASKS]).encode(), "openai_chat")
    with pytest.raises(Refused, match=r"Message \d \(.*\) is not fully read"):
        chain.apply("repair")
    hinted = {"role": "assistant", "content": "North.", "hint": "near the pier"}
    (chain,) = chainviz.load(json.dumps([HI, hinted, HI, ASKS, HI]).encode(), "openai_chat")
    assert len(chain.apply("repair").chain) == 6, "the answer that is missing is added elsewhere"


INTENDED = {"ok_server_tools.json": "brand_new_block_2027", "broken_aborted.jsonl": "other_new_item_2027", "broken_order.json": "bing"}
"""Samples that hold something unknown on purpose."""


def test_the_samples_are_fully_read() -> None:
    names = {path.name: each.name for path in sample_files() for chain in chainviz.load(path) for each in chain.unread}
    assert names == INTENDED
