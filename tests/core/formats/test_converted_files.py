"""Files of frameworks that are converted to a document of another format: what is shown, that nothing is unread, and the way back."""

from __future__ import annotations

import json
from typing import Any

import pytest

from chainviz.core.chain.messages import AI, HUMAN, SYSTEM, TOOL, Image, Message, Opaque, Part, Role, Text, Thinking, ToolCall, ToolResult
from chainviz.core.load import LoadedChain, load_file

RUN = {"type": "function_call", "name": "look", "arguments": "{}", "status": "completed"}
ARGUMENTS = {"a": 1}
CALLED = (HUMAN, (Text("q"),)), (AI, (ToolCall("c1", "look", "{}"),)), (TOOL, (ToolResult("c1", "look", "ok"),))


def read(content: str | bytes) -> tuple[LoadedChain, list[tuple[Role, tuple[Part, ...]]]]:
    """The only chain of a file, of which nothing is unread, and the role and parts of each message."""
    (chain,) = load_file(content if isinstance(content, bytes) else content.encode())
    assert chain.envelope.unread == ()
    return chain, [(message.role, _named(message)) for message in chain.messages]


def _named(message: Message) -> tuple[Part, ...]:
    """The parts of a message. Some formats store no names in results."""
    return tuple(
        ToolResult(part.call_id, part.name or "look", part.content) if isinstance(part, ToolResult) else part for part in message.parts
    )


def sent(*events: dict[str, Any], is_named: bool = False) -> str:
    name = "event: message\n" if is_named else ""
    return "".join(f"{name}data: {json.dumps(event)}\n\n" for event in events) + "data: [DONE]\n\n"


STREAMED = (
    {"type": "start", "messageId": "m"}, {"type": "start-step"}, {"type": "reasoning-start", "id": "r"},
    {"type": "reasoning-delta", "id": "r", "delta": "think"}, {"type": "reasoning-end", "id": "r"},
    {"type": "tool-input-start", "toolCallId": "c1", "toolName": "look"},
    {"type": "tool-input-delta", "toolCallId": "c1", "inputTextDelta": '{"a": 1}'}, {"type": "text-start", "id": "t"},
    {"type": "text-delta", "id": "t", "delta": "Look"}, {"type": "text-delta", "id": "t", "delta": "ing"}, {"type": "text-end", "id": "t"},
    {"type": "tool-input-available", "toolCallId": "c1", "toolName": "look", "input": ARGUMENTS},
    {"type": "tool-output-available", "toolCallId": "c1", "output": "ok"}, {"type": "finish-step"}, {"type": "start-step"},
    {"type": "text-start", "id": "t"}, {"type": "text-delta", "id": "t", "delta": "Done"}, {"type": "text-end", "id": "t"},
    {"type": "finish"},
)  # fmt: skip


@pytest.mark.parametrize("is_named", [False, True])
def test_stream_of_ui_messages(is_named: bool) -> None:
    chain, messages = read(sent(*STREAMED, is_named=is_named))
    assert chain.format == "vercel_ui"
    assert messages == [
        (AI, (Thinking("think"), ToolCall("c1", "look", '{"a": 1}'), Text("Looking"))),
        (TOOL, (ToolResult("c1", "look", "ok"),)),
        (AI, (Text("Done"),)),
    ]


def test_stream_of_ui_messages_that_breaks_off() -> None:
    failed = {"type": "tool-output-error", "toolCallId": "c1", "errorText": "no"}
    _, messages = read(sent(*STREAMED[:-7], failed, {"type": "error", "errorText": "lost"}))
    assert [part for _, parts in messages for part in parts if isinstance(part, ToolResult)] == [ToolResult("c1", "look", "no")]
    assert Opaque("data-error", '{"type": "data-error", "data": "lost"}') in messages[0][1]


@pytest.mark.parametrize("is_document", [True, False])
def test_ui_messages_without_parts(is_document: bool) -> None:
    answered = {"state": "result", "toolCallId": "c1", "toolName": "look", "args": {}, "result": "ok"}
    asked = {"state": "call", "toolCallId": "c2", "toolName": "look", "args": ARGUMENTS}
    picture = {"name": "a.png", "contentType": "image/png", "url": "https://x/a.png"}
    messages = [
        {"id": "1", "role": "user", "content": "q", "experimental_attachments": [picture]},
        {"id": "2", "role": "assistant", "content": "Done", "reasoning": "think", "toolInvocations": [answered]},
        {"id": "3", "role": "assistant", "content": "Again", "toolInvocations": [asked]},
    ]
    content = json.dumps({"id": "chat", "messages": messages} if is_document else messages)
    chain, found = read(content)
    assert chain.format == "vercel_ui"
    assert found == [
        (HUMAN, (Text("q"), Image("https://x/a.png"))), (AI, (Thinking("think"), ToolCall("c1", "look", "{}"))),
        (TOOL, (ToolResult("c1", "look", "ok"),)), (AI, (Text("Done"),)), (AI, (Text("Again"), ToolCall("c2", "look", '{"a": 1}'))),
    ]  # fmt: skip


def python_run() -> dict[str, Any]:
    items = [
        {"type": "tool_call_item", "raw_item": {**RUN, "call_id": "c1"}, "agent": {"name": "a"}},
        {"type": "tool_call_output_item", "raw_item": {"type": "function_call_output", "call_id": "c1", "output": "ok"}, "output": "ok"},
        {"type": "tool_call_item", "raw_item": {**RUN, "call_id": "c2"}},
        {"type": "tool_approval_item", "raw_item": {**RUN, "call_id": "c2"}, "tool_name": "look"},
    ]
    return {"$schemaVersion": "1.4", "current_turn": 1, "current_agent": {"name": "a"}, "original_input": "q", "generated_items": items}


def javascript_run() -> dict[str, Any]:
    result = {
        "type": "function_call_result",
        "name": "look",
        "callId": "c1",
        "status": "completed",
        "output": {"type": "text", "text": "ok"},
    }
    items = [
        {"type": "tool_call_item", "rawItem": {**RUN, "callId": "c1", "providerData": {"id": "fc_1"}}, "agent": {"name": "a"}},
        {"type": "tool_call_output_item", "rawItem": result, "output": "ok"},
        {"type": "tool_call_item", "rawItem": {**RUN, "callId": "c2"}},
        {"type": "tool_approval_item", "rawItem": {**RUN, "callId": "c2"}},
    ]
    asked = [{"type": "message", "role": "user", "content": "q"}]
    return {"$schemaVersion": "1.0", "currentTurn": 1, "currentAgent": {"name": "a"}, "originalInput": asked, "generatedItems": items}


@pytest.mark.parametrize("state", [python_run(), javascript_run()], ids=["python", "javascript"])
def test_state_of_a_run_that_waits_for_approval(state: dict[str, Any]) -> None:
    chain, messages = read(json.dumps(state, indent=2))
    assert (chain.format, messages) == ("openai_responses", [*CALLED, (AI, (ToolCall("c2", "look", "{}"),))])


@pytest.mark.parametrize("separator", [None, "\n", ""])
def test_messages_of_a_strands_session(separator: str | None) -> None:
    contents = [
        {"role": "user", "content": [{"text": "secret"}]},
        {"role": "assistant", "content": [{"toolUse": {"toolUseId": "c1", "name": "look", "input": {}}}]},
        {"role": "user", "content": [{"toolResult": {"toolUseId": "c1", "status": "success", "content": [{"text": "ok"}]}}]},
        {"role": "user", "content": [{"image": {"format": "png", "source": {"bytes": {"__bytes_encoded__": True, "data": "iVBO"}}}}]},
    ]
    records: list[dict[str, Any]] = [{"message": each, "message_id": place, "redact_message": None} for place, each in enumerate(contents)]
    records[0]["redact_message"] = {"role": "user", "content": [{"text": "q"}]}
    records.insert(0, records.pop())
    text = (
        json.dumps(records)
        if separator is None
        else separator.join(json.dumps(record, indent=None if separator else 1) for record in records)
    )
    chain, messages = read(text)
    assert chain.format == "bedrock_converse"
    assert messages == [*CALLED, (HUMAN, (Image("data:image/png;base64,iVBO"),))]
    assert "secret" not in str(messages)


def test_spans_with_nested_attributes() -> None:
    call = {"tool_call": {"id": "c1", "function": {"name": "look", "arguments": "{}"}}}
    shown = [
        {"message_content": {"type": "text", "text": "see"}},
        {"message_content": {"type": "image", "image": {"image": {"url": "https://x/a.png"}}}},
    ]
    asked = [{"message": {"role": "system", "content": "s"}}, {"message": {"role": "user", "contents": shown}}]
    answered = [{"message": {"role": "assistant", "tool_calls": [call]}}]
    attributes = {
        "openinference": {"span": {"kind": "LLM"}},
        "llm": {"model_name": "m", "input_messages": asked, "output_messages": answered},
    }
    span = {"name": "call", "context": {"span_id": "1"}, "attributes": attributes}
    chain, messages = read(json.dumps([{"name": "agent", "attributes": {}}, span]))
    assert chain.format == "openai_chat"
    assert messages == [
        (SYSTEM, (Text("s"),)), (HUMAN, (Text("see"), Image("https://x/a.png"))), (AI, (ToolCall("c1", "look", "{}"),)),
    ]  # fmt: skip
    assert len(load_file("\n".join([json.dumps(span), json.dumps(span)]).encode())) == 2
