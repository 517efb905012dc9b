"""Messages that Mastra stores: the parts of a UIMessage inside the content, with copies beside them."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from chainviz.core.chain.messages import AI, HUMAN, TOOL, Message, Text, Thinking, ToolCall, ToolResult
from chainviz.core.formats import get_format
from chainviz.core.load import document_in, load_file, restyle
from tests.core.formats.chains import differing, exported
from tests.shared_folder import SAMPLES

MESSAGES = (SAMPLES / "mastra" / "ok_messages.json").read_bytes()


def after_edit(index: int, part: int, **fields: Any) -> Any:
    (chain,) = load_file(MESSAGES)
    message = chain.messages[index]
    parts = list(message.parts)
    parts[part] = replace(parts[part], **fields)
    styled = restyle(chain.messages, index, replace(message, parts=tuple(parts)), chain.format, chain.envelope)
    return json.loads(exported(MESSAGES, chain, (*chain.messages[:index], styled, *chain.messages[index + 1 :])))


def test_the_steps_of_a_message_are_read() -> None:
    (chain,) = load_file(MESSAGES)
    assert [message.role for message in chain.messages] == [HUMAN, AI, TOOL, AI, TOOL, AI]
    assert chain.messages[1].parts[0] == Thinking("The workflows tell it.")
    assert chain.messages[4].parts == (ToolResult("call_2", "cat", "no such file", True),)


def test_an_edited_text_changes_its_copy_too() -> None:
    at = ("messages", 1, "content")
    after = after_edit(5, 0, text="It is empty.")
    assert differing(json.loads(MESSAGES), after) == {(*at, "parts", 6, "text"), (*at, "content")}
    after = after_edit(2, 0, content="none")
    result = ("toolInvocation", "result")
    assert differing(json.loads(MESSAGES), after) == {(*at, "parts", 2, *result), (*at, "toolInvocations", 0, "result")}


def test_edited_reasoning_stays_in_its_detail() -> None:
    after = after_edit(1, 0, content="Hm.")
    assert differing(json.loads(MESSAGES), after) == {("messages", 1, "content", "parts", 1, "details", 0, "text")}


def test_new_messages_are_of_format_2() -> None:
    call, result = ToolCall("c", "ls", '{"a": 1}'), ToolResult("c", "ls", "no", True)
    new = (Message(HUMAN, (Text("q"),)), Message(AI, (Thinking("hm", "s"), call)), Message(TOOL, (result,)))
    document = b"".join(document_in(get_format("mastra"), new))
    (chain,) = load_file(document)
    assert (chain.format, chain.messages) == ("mastra", new)
    contents = [message["content"] for message in json.loads(document)["messages"]]
    assert all(content["format"] == 2 for content in contents)
    kinds = [part["type"] for content in contents for part in content["parts"]]
    assert set(kinds) == {"text", "reasoning", "tool-invocation"}
