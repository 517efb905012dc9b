"""ShareGPT and Hermes: texts that hold calls and results, written back word for word."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from chainviz.core.chain.messages import AI, HUMAN, SYSTEM, TOOL, Message, Text, ToolCall, ToolResult
from chainviz.core.formats import get_format
from chainviz.core.load import document_in, load_file, restyle
from tests.core.formats.chains import exported
from tests.shared_folder import SAMPLES

HERMES = (SAMPLES / "sharegpt" / "ok_hermes.jsonl").read_bytes()
FACTORY = (SAMPLES / "sharegpt" / "ok_conversations.json").read_bytes()


def test_each_conversation_is_a_chain_with_its_system_beside() -> None:
    first, second = load_file(FACTORY)
    assert [message.role for message in first.messages] == [SYSTEM, HUMAN, AI, TOOL, AI]
    assert first.messages[2].parts == (ToolCall("", "list_files", '{"path": "/repo"}'),)
    assert first.messages[3].parts == (ToolResult("", "", "README.md"),)
    assert [message.role for message in second.messages] == [SYSTEM, HUMAN, AI]


@pytest.mark.parametrize("format", [None, "sharegpt"])
def test_elements_are_parts(format: str | None) -> None:
    (chain,) = load_file(HERMES, format)
    calls, results = chain.messages[2], chain.messages[3]
    assert [type(part) for part in (*calls.parts, *results.parts)] == [ToolCall, ToolCall, ToolResult, ToolResult]
    assert results.parts[1] == ToolResult("", "", '{"t": 18}')


def test_a_changed_element_leaves_the_others() -> None:
    (chain,) = load_file(HERMES)
    calls = chain.messages[2]
    first = replace(calls.parts[0], arguments='{"c": "Lyon"}')  # type: ignore[type-var]
    changed = restyle(chain.messages, 2, replace(calls, parts=(first, calls.parts[1])), "sharegpt", chain.envelope)
    document = exported(HERMES, chain, (*chain.messages[:2], changed, *chain.messages[3:]))
    assert document == HERMES.replace(b"Paris", b"Lyon")


def test_the_system_beside_the_list_is_edited_in_its_place() -> None:
    chain = load_file(FACTORY)[0]
    changed = restyle(chain.messages, 0, Message(SYSTEM, (Text("Be kind."),), source=chain.messages[0].source), "sharegpt", chain.envelope)
    document = json.loads(exported(FACTORY, chain, (changed, *chain.messages[1:])))
    assert document["system"] == "Be kind."
    assert len(document["conversations"]) == 4


def test_a_new_document_reads_back() -> None:
    messages = (
        Message(SYSTEM, (Text("S"),)),
        Message(HUMAN, (Text("two?"),)),
        Message(AI, (Text("I look."), ToolCall("", "w", '{"c": 1}'), ToolCall("", "w", "no json"))),
        Message(TOOL, (ToolResult("", "", "12"), ToolResult("", "", " 18\n"))),
    )
    (chain,) = load_file(b"".join(document_in(get_format("sharegpt"), messages)))
    assert chain.format == "sharegpt"
    assert [message.parts for message in chain.messages] == [message.parts for message in messages]
