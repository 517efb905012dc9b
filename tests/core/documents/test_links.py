"""A session whose lines name their parents still hangs together after any edit, and is left alone where it does."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chainviz.core.chain.messages import AI, HUMAN, Message, Text
from chainviz.core.load import LoadedChain, load_file
from tests.core.formats.chains import chains, exported

SESSION = {"isSidechain": False, "sessionId": "s", "type": "user"}


def line(own: str, parent: str | None, text: str = "", **more: Any) -> dict[str, Any]:
    role = "assistant" if own.startswith("a") else "user"
    message = {"role": role, "content": text or own, **({"id": own} if role == "assistant" else {})}
    return {"parentUuid": parent, **SESSION, "type": role, "message": message, "uuid": own, **more}


def system(own: str, parent: str | None) -> dict[str, Any]:
    return {"parentUuid": parent, "isSidechain": False, "type": "system", "content": "hook", "uuid": own}


STRAIGHT = [line("u1", None), line("a2", "u1"), system("c3", "a2"), line("u4", "c3"), line("a5", "u4"), line("u6", "a5")]


def document(lines: list[dict[str, Any]]) -> bytes:
    return "".join(json.dumps(each) + "\n" for each in lines).encode()


def load(lines: list[dict[str, Any]], thread: int = 0) -> LoadedChain:
    chain = load_file(document(lines))[thread]
    assert chain.format == "claude_code"
    return chain


def written(lines: list[dict[str, Any]], chain: LoadedChain, messages: list[Message]) -> list[dict[str, Any]]:
    return [json.loads(each) for each in exported(document(lines), chain, tuple(messages)).splitlines()]


def parents(lines: list[dict[str, Any]]) -> dict[str, str | None]:
    return {each["uuid"]: each["parentUuid"] for each in lines}


@given(st.data())
def test_every_line_is_reached_from_the_last_one(data: st.DataObject) -> None:
    chain = load(STRAIGHT)
    kept = data.draw(st.lists(st.sampled_from(range(len(chain.messages))), unique=True, min_size=1))
    messages = [chain.messages[i] for i in kept]
    for place in data.draw(st.lists(st.integers(0, 5), max_size=4)):
        messages.insert(place, Message(data.draw(st.sampled_from([HUMAN, AI])), (Text("new"),)))
    found = written(STRAIGHT, chain, messages)
    order = [each["uuid"] for each in found]
    assert len(set(order)) == len(order)
    assert parents(found) == dict(zip(order, [None, *order], strict=False))


def test_children_of_a_deleted_line_follow_the_line_before_it() -> None:
    chain = load(STRAIGHT)
    found = written(STRAIGHT, chain, [m for m in chain.messages if m.source[0].ordinal != 1])
    assert parents(found) == {"u1": None, "c3": "u1", "u4": "c3", "a5": "u4", "u6": "a5"}


def test_branches_stay_branches() -> None:
    lines = [line("u1", None), line("a2", "u1"), line("u3", "a2"), line("a4", "u3"), line("u5", "a2"), line("a6", "u5")]
    chain = load(lines, 1)
    found = written(lines, chain, [m for m in chain.messages if m.source[0].ordinal != 3])
    assert parents(found) == {"u1": None, "a2": "u1", "u3": "a2", "u5": "a2", "a6": "u5"}


def test_a_new_line_where_branches_part_is_in_all_of_them() -> None:
    lines = [line("u1", None), line("a2", "u1"), line("u3", "a2"), line("a4", "u3"), line("u5", "a2"), line("a6", "u5")]
    chain = load(lines)
    messages = [*chain.messages[:2], Message(AI, (Text("new"),)), *chain.messages[2:]]
    found = written(lines, chain, messages)
    new = found[2]["uuid"]
    assert parents(found) == {"u1": None, "a2": "u1", new: "a2", "u3": new, "a4": "u3", "u5": new, "a6": "u5"}


def test_side_chains_and_new_beginnings_are_left_alone() -> None:
    side = {**line("a3", "u1"), "isSidechain": True}
    anew = {**system("c4", None), "subtype": "compact_boundary", "logicalParentUuid": "a2"}
    lines = [line("u1", None), line("a2", "u1"), side, anew, line("u5", "c4")]
    chain = load(lines)
    found = written(lines, chain, list(chain.messages[1:]))
    assert parents(found) == {"a2": None, "a3": "u1", "c4": None, "u5": "c4"}


def test_a_line_that_is_parted_in_two_has_two_ids() -> None:
    results = [{"type": "tool_result", "tool_use_id": "t", "content": "r"}, {"type": "text", "text": "and now"}]
    two = {**line("u3", "a2"), "message": {"role": "user", "content": results}}
    lines = [line("u1", None), line("a2", "u1"), two, line("a4", "u3")]
    chain = load(lines)
    assert len(chain.messages) == 5, "the results and the text of one line are two messages"
    found = written(lines, chain, [*chain.messages[:3], Message(AI, (Text("between"),)), *chain.messages[3:]])
    order = [each["uuid"] for each in found]
    assert len(set(order)) == len(order) == 6
    assert [each["parentUuid"] for each in found] == [None, *order[:-1]]


@pytest.mark.parametrize("name", ["claude_code/ok_session.jsonl", "claude_code/broken_truncated.jsonl"])
def test_a_text_edit_moves_no_parent(name: str) -> None:
    content, chain = next((content, chain) for each, content, chain in chains() if each == name)
    assert exported(content, chain) == content
