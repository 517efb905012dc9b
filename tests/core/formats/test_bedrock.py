"""Bedrock Converse: blocks whose one key says what they are."""

from __future__ import annotations

import json
from typing import Any

import pytest

from chainviz.core.chain.messages import AI, HUMAN, SYSTEM, TOOL, Binary, Image, Message, Part, Text, Thinking, ToolCall, ToolResult
from chainviz.core.formats import get_format
from chainviz.core.formats.contract import Style
from chainviz.core.load import load_file, restyle
from tests.core.formats.chains import exported
from tests.shared_folder import SAMPLES

FORM = get_format("bedrock_converse")


@pytest.mark.parametrize(("role", "block", "expected"), [
    (AI, {"reasoningContent": {"reasoningText": {"text": "hm", "signature": "s"}}}, Thinking("hm", "s")),
    (AI, {"reasoningContent": {"redactedContent": "AA=="}}, Thinking("", "AA==", True)),
    (AI, {"toolUse": {"toolUseId": "t", "name": "ls", "input": {"a": 1}}}, ToolCall("t", "ls", '{"a": 1}')),
    (HUMAN, {"image": {"format": "png", "source": {"bytes": "AA=="}}}, Image("data:image/png;base64,AA==")),
    (HUMAN, {"document": {"format": "pdf", "name": "document", "source": {"bytes": "AA=="}}}, Binary("application/pdf", b"\0")),
    (TOOL, {"toolResult": {"toolUseId": "t", "content": [{"text": "a"}]}}, ToolResult("t", "", "a")),
    (TOOL, {"toolResult": {"toolUseId": "t", "content": [{"text": "a"}], "status": "error"}}, ToolResult("t", "", "a", True)),
])  # fmt: skip
def test_a_block_is_read_and_written_again(role: str, block: dict[str, Any], expected: Part) -> None:
    word = "assistant" if role == AI else "user"
    (chain,) = load_file(json.dumps([{"role": word, "content": [block]}]).encode(), "bedrock_converse")
    assert chain.messages == (Message(role, (expected,)),)
    assert json.loads(FORM.write(Message(role, (expected,)), Style())[0].text)["content"] == [block]


@pytest.mark.parametrize(("said", "element"), [("new", {"text": "new"}), ('{"b": 2}', {"json": {"b": 2}})])
def test_a_json_result_stays_json_where_it_can(said: str, element: dict[str, Any]) -> None:
    content = [{"json": {"a": 1}}, {"image": {"format": "png", "source": {"bytes": "AA=="}}}]
    document = json.dumps([{"role": "user", "content": [{"toolResult": {"toolUseId": "t", "content": content}}]}]).encode()
    (chain,) = load_file(document, "bedrock_converse")
    result = chain.messages[0].parts[0]
    assert isinstance(result, ToolResult)
    assert (result.content, len(result.media)) == ('{"a": 1}', 1)
    changed = Message(TOOL, (ToolResult("t", "", said, media=result.media, origin=0),), source=chain.messages[0].source)
    styled = restyle(chain.messages, 0, changed, FORM, chain.envelope)
    after = json.loads(exported(document, chain, (styled,)))
    assert after[0]["content"][0]["toolResult"]["content"] == [element, content[1]]


def test_system_blocks_are_the_system_message() -> None:
    (chain,) = load_file(SAMPLES / "bedrock_converse" / "ok_request.json")
    assert [message.role for message in chain.messages] == [SYSTEM, HUMAN, AI, TOOL, AI]
    assert len(chain.messages[0].parts) == 2


def test_results_split_over_two_messages_are_two_messages() -> None:
    (chain,) = load_file(SAMPLES / "bedrock_converse" / "broken_split_results.json")
    assert [message.role for message in chain.messages] == [HUMAN, AI, TOOL, TOOL]
    assert chain.messages[2].parts == (ToolResult("t:1", "", "", True),)


def test_what_has_no_place_is_said() -> None:
    lost = FORM.losses(Message(HUMAN, (Image("https://example.org/a.png"), Text("look"))))
    assert lost == ("images with an address and files of unknown types are left out",)


def test_a_document_of_bedrock_is_not_taken_for_one_of_cohere() -> None:
    file = {"format": "pdf", "name": "report", "source": {"bytes": "JVBERi0="}}
    (chain,) = load_file(json.dumps({"messages": [{"role": "user", "content": [{"text": "Read"}, {"document": file}]}]}).encode())
    assert chain.format == "bedrock_converse"
