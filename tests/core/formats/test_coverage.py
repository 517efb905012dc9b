"""A chain is fully read, or says what was not: unknown records, roles, types of parts, and texts in unknown fields."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest

import chainviz
from chainviz.core.chain.surroundings import UnreadPlace, describe_unread
from chainviz.core.documents.units import from_json, to_json
from chainviz.core.errors import Refused
from chainviz.core.formats.misspelt_names import misspelt_names
from tests.core.formats.chains import sample_files
from tests.shared_folder import TESTS

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
        ([HI, {"role": "assistant", "content": [{"type": "text", "txt": "North"}]}], [("part", "text", 1), ("field", "txt", 1)]),
        ([HI, {"role": "assistant", "content": [{"type": "hologram", "data": "x"}]}], [("part", "hologram", 1)]),
        (
            [HI, {"role": "assistant", "content": "I look.", "toolCals": [CALL]}],
            [("field", "toolCals", 1), ("field", "name", 1), ("field", "arguments", 1)],
        ),
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


def test_a_known_part_without_a_required_field_is_not_called_unknown() -> None:
    call = {"type": "tool_use", "name": "bash", "input": {"command": "ls"}}
    (chain,) = chainviz.load(json.dumps([HI, {"role": "assistant", "content": [call]}]).encode(), "anthropic")
    sentence = describe_unread(chain.unread[0])
    assert sentence == "1 part (“tool_use”) in record 2 cannot be read: its type is unknown, or a field is missing."


def test_a_chain_that_is_not_fully_read_is_never_accepted() -> None:
    (chain,) = chainviz.load(json.dumps([HI, {"role": "assistant", "content": "North.", "hint": "near the pier"}]).encode(), "openai_chat")
    assert chain.verdict("openai-chat").state == "unchecked"
    assert [(problem.rule, problem.severity) for problem in chain.problems()] == [("not-fully-read", "unchecked")]


def test_a_repair_does_not_touch_a_message_that_is_not_fully_read() -> None:
    (chain,) = chainviz.load(json.dumps([{"role": "user", "contents": "Where?"}, HI, ASKS]).encode(), "openai_chat")
    with pytest.raises(Refused, match=r"A message in .* is not fully read"):
        chain.apply("repair")
    hinted = {"role": "assistant", "content": "North.", "hint": "near the pier"}
    (chain,) = chainviz.load(json.dumps([HI, hinted, HI, ASKS, HI]).encode(), "openai_chat")
    assert len(chain.apply("repair").chain) == 6, "the answer that is missing is added elsewhere"


def test_a_repair_changes_a_message_of_which_only_the_role_is_unknown() -> None:
    critic = {"role": "critic", "content": "Too far north."}
    (chain,) = chainviz.load(json.dumps([HI, critic, HI, ASKS, HI]).encode(), "openai_chat")
    assert chain.unread
    (fixed,) = chainviz.load(chain.apply("repair").chain.to_bytes())
    assert not fixed.unread
    assert "critic" in str(fixed.messages) and "Too far north." in str(fixed.messages)
    (chain,) = chainviz.load(json.dumps([HI, {**critic, "hint": "near the pier"}, HI]).encode(), "openai_chat")
    with pytest.raises(Refused, match="is not fully read"):
        chain.apply("repair")


TOOL = {"name": "look", "input_schema": {"type": "object"}}
BRIEF = "Be brief and kind to all."


@pytest.mark.parametrize(
    ("beside", "unread"),
    [
        ({"system_instructions": BRIEF}, ("instructions", "system_instructions")),
        ({"sys": [{"type": "text", "text": BRIEF}]}, ("instructions", "sys")),
        ({"toolz": [TOOL]}, ("definitions", "toolz")),
        ({"functionz": [TOOL]}, ("definitions", "functionz")),
        ({"tool_configs": {"tools": [TOOL]}}, ("definitions", "tool_configs")),
    ],
)
def test_a_misspelt_field_beside_the_messages_is_named(beside: dict[str, Any], unread: tuple[str, str]) -> None:
    (chain,) = chainviz.load(json.dumps({"model": "claude-sonnet-4-5", **beside, "messages": [HI]}).encode())
    assert [(each.kind, each.name) for each in chain.unread] == [unread]
    assert unread[1] in describe_unread(chain.unread[0])


@pytest.mark.parametrize(
    "beside", [{"tools": [TOOL]}, {"system_fingerprint": "fp_1"}, {"tool_choice": {"name": "look"}}, {"system_version": "Linux 5"}]
)
def test_known_fields_beside_the_messages_are_carried(beside: dict[str, Any]) -> None:
    (chain,) = chainviz.load(json.dumps({"model": "claude-sonnet-4-5", **beside, "messages": [HI]}).encode())
    assert not chain.unread


def test_a_broken_stream_in_a_log_of_invocations_is_not_read() -> None:
    events = [{"messageStart": {"role": "assistant"}}, None, {"contentBlockDelta": {"delta": {"text": "North."}, "contentBlockIndex": 0}}]
    asked = {"messages": [{"role": "user", "content": [{"text": "Where is the gull?"}]}]}
    log = {"schemaType": "ModelInvocationLog", "input": {"inputBodyJson": asked}, "output": {"outputBodyJson": events}}
    (chain,) = chainviz.load(json.dumps(log).encode())
    assert "The field “outputBodyJson” contains a recorded stream that is not shown." in map(describe_unread, chain.unread)


@pytest.mark.parametrize(
    ("answer", "shown", "unread"),
    [
        ({"role": "assistant", "content": "North."}, ["human", "ai"], []),
        ("North.", ["human"], ["output"]),
        ({"answer": "North."}, ["human"], ["output"]),
        (None, ["human"], []),
    ],
)
def test_an_answer_of_a_trace_is_shown_or_named(answer: Any, shown: list[str], unread: list[str]) -> None:
    """Langfuse records whatever the traced program returns."""
    asked = {"id": "o1", "traceId": "t1", "type": "GENERATION", "model": "m", "input": [HI], "output": answer, "usageDetails": {}}
    (chain,) = chainviz.load(json.dumps({"id": "t1", "observations": [asked]}).encode())
    assert ([message.role for message in chain.messages], [each.name for each in chain.unread]) == (shown, unread)


@pytest.mark.parametrize("key", ["user1", "a1_content2", "typewriter", "toolCallIdx"])
def test_a_name_that_no_field_of_a_conversation_nearly_has_is_right(key: str) -> None:
    assert list(misspelt_names({key: "North of the pier"}, ())) == []


INTENDED = {
    "ok_server_tools.json": "brand_new_block_2027",
    "broken_aborted.jsonl": "other_new_item_2027",
    "broken_order.json": "bing",
    "ok_trace.json": "output",
    "broken_truncated_attr.json": "gen_ai.output.messages",
}
"""Samples that hold something unknown on purpose, such as an answer that is plain text beside its request."""


def test_the_samples_are_fully_read() -> None:
    names = {path.name: each.name for path in sample_files() for chain in chainviz.load(path) for each in chain.unread}
    assert names == INTENDED


GEMINI_TURNS = [{"role": "user", "parts": [{"text": "Where?"}]}, {"role": "model", "parts": [{"text": "North."}]}]


@pytest.mark.parametrize("key", ["rolez", "rol", "roel"])
def test_a_role_under_a_misspelt_name_is_named(key: str) -> None:
    """The API takes a content without a role for the user's, which the model's answer is not."""
    contents = [GEMINI_TURNS[0], {key: "model", "parts": GEMINI_TURNS[1]["parts"]}]
    (chain,) = chainviz.load(json.dumps({"contents": contents}).encode())
    assert [(each.kind, each.name) for each in chain.unread] == [("field", key)]


@pytest.mark.parametrize("field", ["functionResponsez", "toolResult", "executableCodez", "txt"])
def test_a_part_of_gemini_with_an_unknown_field_is_named(field: str) -> None:
    contents = [*GEMINI_TURNS, {"role": "user", "parts": [{field: {"name": "ls", "response": {"output": "a.py b.py"}}}]}]
    (chain,) = chainviz.load(json.dumps({"contents": contents}).encode())
    assert [(each.kind, each.name) for each in chain.unread] == [("part", field)]


def mapping(**changes: Any) -> dict[str, Any]:
    texts = {"a": ("user", "Where is the gull?", None), "b": ("assistant", "North.", "a"), "c": ("user", "And now?", "b")}
    said = {id: {"author": {"role": role}, "content": {"content_type": "text", "parts": [text]}} for id, (role, text, _) in texts.items()}
    nodes = {id: {"id": id, "parent": parent, "children": [], "message": said[id]} for id, (_, _, parent) in texts.items()}
    return {"title": "Gulls", "current_node": "c", "mapping": {**nodes, **{id: nodes[id] | change for id, change in changes.items()}}}


@pytest.mark.parametrize(("changes", "is_read"), [({}, True), ({"b": {"parent": "z"}}, False), ({"c": {"parent": "z"}}, False)])
def test_a_tree_whose_beginning_is_gone_is_not_fully_read(changes: Any, is_read: bool) -> None:
    (chain,) = chainviz.load(json.dumps([mapping(**changes)]).encode())
    assert (chain.format, chain.is_fully_read) == ("chatgpt", is_read)


@pytest.mark.parametrize("sample", ["openinference/ok_flat_sorted.jsonl", "few_shot/ok_examples.jsonl"])
def test_a_line_that_is_cut_off_is_named_where_a_format_finds_its_own_lists(sample: str) -> None:
    lines = (TESTS / "samples" / sample).read_bytes().splitlines(keepends=True)
    cut = b"".join([*lines[:-1], lines[-1][: len(lines[-1]) // 2] + b"\n"])
    (unread,) = chainviz.load(cut)[0].unread
    assert describe_unread(unread) == f"1 record of a type that chainviz does not know in line {len(lines)}."
    assert all(chain.is_fully_read for chain in chainviz.load(b"".join(lines)))


@pytest.mark.parametrize(("key", "names"), [("base_instructionsz", ["base_instructionsz"]), ("base_instructions_hash", [])])
def test_instructions_of_a_session_under_a_misspelt_name_are_named(key: str, names: list[str]) -> None:
    head = {"type": "session_meta", "payload": {"id": "s", "cwd": "/", "originator": "codex", key: "You triage builds."}}
    item = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Where is the gull?"}]}
    lines = [{"timestamp": "2026-01-01T00:00:00Z", **each} for each in (head, {"type": "response_item", "payload": item})]
    (chain,) = chainviz.load("".join(json.dumps(line) + "\n" for line in lines).encode())
    assert (chain.format, [each.name for each in chain.unread]) == ("codex_rollout", names)
