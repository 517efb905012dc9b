"""Chains that lost, gained or moved messages: the document stays valid and the rest of it as it was."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chainviz.core.chain.messages import AI, HUMAN, SYSTEM, Message, Text
from chainviz.core.documents.assemble import whole_file
from chainviz.core.documents.source import open_source
from chainviz.core.formats import get_format
from chainviz.core.load import LoadedChain, load_file, restyle
from tests.core.formats.chains import chains, exported, values
from tests.examples import examples

LISTS = {
    "compact": '[{"role":"user","content":"0"},{"role":"assistant","content":"1"},{"role":"user","content":"2"}]',
    "spaced": '{"a": 1, "messages": [{"role": "user", "content": "0"}, {"role": "assistant", "content": "1"}, '
    '{"role": "user", "content": "2"}], "z": 1.0}\n',
    "pretty": json.dumps({"messages": [{"role": "user", "content": str(i)} for i in range(3)], "k": []}, indent=4),
    "lines": "".join(f'{{"role": "user", "content": "{i}"}}\n' for i in range(3)),
    "crlf": "\r\n".join(f'{{"role": "user", "content": "{i}"}}' for i in range(3)),
}


def contents(document: bytes) -> list[str]:
    found = values(document)
    if len(found) == 1:
        found = found[0]["messages"] if isinstance(found[0], dict) and "messages" in found[0] else found[0]
    return [item["content"] for item in ([found] if isinstance(found, dict) else found)]


@pytest.mark.parametrize("name", LISTS)
@pytest.mark.parametrize("kept", ["012", "12", "01", "02", "1", "", "210", "0112", "1N", "N", "N012N", "0NN1"])
def test_any_choice_of_messages_is_valid(name: str, kept: str) -> None:
    content = LISTS[name].encode()
    (chain,) = load_file(content)
    new = Message(HUMAN, (Text("N"),))
    messages = tuple(new if mark == "N" else chain.messages[int(mark)] for mark in kept)
    document = exported(content, chain, messages)
    if kept or name not in ("lines", "crlf"):
        assert contents(document) == list(kept)
    # what stands around the list stays
    head, tail = LISTS[name].split("{", 2)[0], LISTS[name].rsplit("}", 2)[-1]
    assert document.decode().startswith(head)
    assert document.decode().endswith(tail)
    if name == "pretty" and kept not in ("", "N"):
        assert document.decode().count('\n        {\n            "role": "user",\n            "content": ') == len(kept)
    if name == "crlf" and len(kept) > 1:
        assert document.count(b"\r\n") == document.count(b"\n") == len(kept) - 1


def load_one(content: bytes) -> LoadedChain:
    (chain,) = load_file(content)
    return chain


SYSTEMS = [
    '{"system": "S", "messages": [{"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a"}]}]}',
    '{"model": "m", "system": "S", "messages": [{"role": "user", "content": "x", "z": {"type": "text"}}], "tools": [{"input_schema": {}}]}',
    '{\n "messages": [\n  {"role": "user", "content": "x"}\n ],\n "system": "S"\n}',
]


@pytest.mark.parametrize("text", SYSTEMS)
def test_slot_is_removed_with_its_comma_changed_and_made(text: str) -> None:
    content = text.encode()
    chain = load_one(content)
    assert chain.format == "anthropic"
    assert chain.messages[0] == Message(SYSTEM, (Text("S"),))
    assert exported(content, chain) == content
    without = exported(content, chain, chain.messages[1:])
    rest = json.loads(content)
    del rest["system"]
    assert json.loads(without) == rest
    assert list(json.loads(without)) == list(rest)
    changed = restyle(chain.messages, 0, Message(SYSTEM, (Text("T"),), source=chain.messages[0].source), "anthropic", chain.envelope)
    assert exported(content, chain, (changed, *chain.messages[1:])) == content.replace(b'"S"', b'"T"')
    if "tools" in text:
        bare = load_one(without)
        made = exported(without, bare, (Message(SYSTEM, (Text("U"),)), *bare.messages))
        assert json.loads(made)["system"] == "U"
        again = load_one(made)
        assert [message.role for message in again.messages] == [SYSTEM, HUMAN]
        assert exported(made, again, again.messages[1:]) == without


def test_insert_between_two_blocks_writes_two_units() -> None:
    _name, content, chain = next(item for item in chains() if item[0] == "anthropic/ok_request.json")
    index = next(i for i, m in enumerate(chain.messages[:-1]) if m.source[0].ordinal == chain.messages[i + 1].source[0].ordinal)
    new = Message(AI, (Text("between"),))
    document = exported(content, chain, (*chain.messages[: index + 1], new, *chain.messages[index + 1 :]))
    units = json.loads(document)["messages"]
    before = json.loads(content)["messages"]
    assert len(units) == len(before) + 2
    assert units[2]["content"] + units[4]["content"] == before[2]["content"]
    assert load_one(document).messages == (*chain.messages[: index + 1], new, *chain.messages[index + 1 :])


def test_one_of_two_messages_of_a_unit_is_dropped_or_edited() -> None:
    _name, content, chain = next(item for item in chains() if item[0] == "anthropic/ok_request.json")
    results, text = chain.messages[3], chain.messages[4]
    without = json.loads(exported(content, chain, (*chain.messages[:4], *chain.messages[5:])))
    assert [block["type"] for block in without["messages"][2]["content"]] == ["tool_result", "tool_result"]
    swapped = json.loads(exported(content, chain, (*chain.messages[:3], text, results, *chain.messages[5:])))
    assert [block["type"] for block in swapped["messages"][2]["content"]] == ["text", "tool_result", "tool_result"]
    edited = restyle(chain.messages, 4, replace(text, parts=(Text("new", origin=0),)), "anthropic", chain.envelope)
    document = exported(content, chain, (*chain.messages[:4], edited, *chain.messages[5:]))
    assert document == content.replace(b"(reminder: be brief)", b"new")


def test_three_pairs_give_way_to_one() -> None:
    messages: list[dict[str, Any]] = [{"role": "user", "content": "q", "keep": 1.50}]
    messages += [{"role": "assistant", "content": str(n), "odd": [n]} for n in range(5)]
    content = json.dumps({"messages": messages}, indent=2).encode()
    chain = load_one(content)
    document = exported(content, chain, (*chain.messages[:2], Message(AI, (Text("sum"),)), *chain.messages[5:]))
    assert json.loads(document)["messages"] == [*messages[:2], {"role": "assistant", "content": "sum"}, messages[5]]
    head = b'{\n      "role": "assistant",\n      "content": '
    start, end = content.index(head + b'"1"'), content.index(b",\n    " + head + b'"4"')
    assert document == content[:start] + head + b'"sum"\n    }' + content[end:]


def test_carried_lines_stay_in_their_places() -> None:
    _name, content, chain = next(item for item in chains() if item[0] == "claude_code/ok_session.jsonl")
    lines = content.splitlines()
    document = exported(content, chain, (chain.messages[0], *chain.messages[4:])).splitlines()
    kept = [line for at, line in enumerate(lines) if at not in (2, 3, 4, 5, 6, 7)]
    assert document == [line.replace(b'"parentUuid":"u7"', b'"parentUuid":"u1"') for line in kept]
    assert exported(content, chain, ()).splitlines() == [lines[at] for at in (0, 8, 10, 12, 13)]


def test_a_container_is_written_whole_with_one_chain_changed() -> None:
    runs = [{"id": n, "traj": [{"role": "user", "content": str(n)}], "x": 1e400 if n else 1} for n in range(3)]
    content = json.dumps(runs).encode()
    loaded = load_file(content)
    assert [chain.title for chain in loaded] == ["[0] · 0", "[1] · 1", "[2] · 2"]
    changed = exported(content, loaded[1], (*loaded[1].messages, Message(AI, (Text("more"),))))
    with open_source(content) as source:
        document = b"".join(whole_file(source.size, [(loaded[1].envelope.region, [changed])], source.read))
    assert document.startswith(content[: loaded[1].envelope.region.start])
    assert document.endswith(content[loaded[1].envelope.region.end :])
    assert [len(chain.messages) for chain in load_file(document)] == [1, 2, 1]


def test_a_response_without_or_with_more_messages_is_still_json() -> None:
    content = b'{"choices": [{"message": {"role": "assistant", "content": "a"}}], "usage": {}}'
    chain = load_one(content)
    assert json.loads(exported(content, chain, ()))["choices"] == [{"message": None}]
    two = json.loads(exported(content, chain, (*chain.messages, Message(HUMAN, (Text("b"),)))))
    assert [item["content"] for item in two["choices"][0]["message"]] == ["a", "b"]


JOINING = ("openai_responses", "codex_rollout", "gemini_interactions")
ORDERED = ("ollama",)
"""Their calls have no ids."""
TIMES = Counter(name for name, _, _ in chains())
SHARED = ("claude_code", "copilot_cli")
CHOSEN = [item for item in chains() if not item[2].envelope.single and (item[2].format not in SHARED or TIMES[item[0]] == 1)]
"""A session with branches and sub-agents is one document of several chains: the others are read back too."""


@given(st.data())
@examples(150)
def test_any_selection_reads_back(data: st.DataObject) -> None:
    _name, content, chain = data.draw(st.sampled_from(CHOSEN))
    picks = data.draw(st.lists(st.integers(0, len(chain.messages) - 1), min_size=1, max_size=6))
    systems = [at for at in picks if chain.messages[at].source[0].ordinal < 0]
    if systems and (len(systems) > 1 or picks[0] != systems[0] or len(picks) == 1):
        return
    if chain.format == "claude_code" and (len(set(picks)) < len(picks) or picks != sorted(picks)):
        return
    messages = tuple(chain.messages[at] for at in picks)
    if any(message.source[0].blocks and message.source[0].blocks[0] < 0 for message in messages):
        return  # a result that lies in the unit of its call is written with it
    if len(set(picks)) < len(picks) and (chain.format in (*JOINING, "kimi_code") or get_format(chain.format).join is not None):
        return  # what lies in one unit is written once
    if chain.format in JOINING and any(a.role == b.role for a, b in pairwise(messages)):
        return  # neighbouring items of one role are one message
    if chain.format in ORDERED and any(message.results for message in messages):
        return  # a result belongs to the call of its name before it
    if chain.format == "pydantic_ai" and 0 not in picks:
        return  # instructions show where no system prompt does
    again = load_file(exported(content, chain, messages), chain.format)
    parts = [part for item in again for message in item.messages for part in message.parts]
    assert parts == [part for message in messages for part in message.parts]
