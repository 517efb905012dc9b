"""Recorded streams: chunks joined into messages, kept as they are, and never written."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import chainviz
from chainviz.core.chain.messages import AI, HUMAN, Message, Reasoning, Text, Thinking, ToolCall
from chainviz.core.documents.units import Unit
from chainviz.core.errors import Refused
from chainviz.core.formats import FORMATS, WRITTEN, get_format
from chainviz.core.formats.contract import Style
from chainviz.core.formats.vendors import PROVIDERS
from chainviz.core.load import LoadedChain, document_in, load_file
from tests.core.formats.chains import exported
from tests.examples import examples

CHAT = [
    {"choices": [{"index": 0, "delta": {"role": "assistant", "content": ""}}]},
    {"choices": [{"index": 0, "delta": {"content": "Hél"}}]},
    {"choices": [{"index": 0, "delta": {"content": "lo"}}]},
    {"choices": [{"index": 0, "delta": {"tool_calls": [
        {"index": 0, "id": "c1", "type": "function", "function": {"name": "ls", "arguments": ""}}]}}]},
    {"choices": [{"index": 0, "delta": {"tool_calls": [{"index": 0, "function": {"arguments": '{"a" :'}}]}}]},
    {"choices": [{"index": 0, "delta": {"tool_calls": [{"index": 0, "function": {"arguments": " 1.50}"}}]}}]},
    {"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]},
    {"choices": [], "usage": {"total_tokens": 9}},
]  # fmt: skip
CHAT = [{"id": "chatcmpl-1", "object": "chat.completion.chunk", **chunk} for chunk in CHAT]
ANTHROPIC = [
    {"type": "message_start", "message": {"id": "msg_1", "type": "message", "role": "assistant", "content": [], "usage": {}}},
    {"type": "content_block_start", "index": 0, "content_block": {"type": "thinking", "thinking": "", "signature": ""}},
    {"type": "content_block_delta", "index": 0, "delta": {"type": "thinking_delta", "thinking": "hm"}},
    {"type": "content_block_delta", "index": 0, "delta": {"type": "signature_delta", "signature": "s=="}},
    {"type": "content_block_stop", "index": 0},
    {"type": "ping"},
    {"type": "content_block_start", "index": 1, "content_block": {"type": "tool_use", "id": "toolu_1", "name": "ls", "input": {}}},
    {"type": "content_block_delta", "index": 1, "delta": {"type": "input_json_delta", "partial_json": '{"a" :'}},
    {"type": "content_block_delta", "index": 1, "delta": {"type": "input_json_delta", "partial_json": " 1.50}"}},
    {"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 3}},
    {"type": "message_stop"},
]  # fmt: skip
CALL = {"type": "function_call", "id": "fc_1", "call_id": "c1", "name": "ls"}
RESPONSES = [
    {"type": "response.created", "response": {"id": "resp_1", "output": []}},
    {"type": "response.output_item.added", "output_index": 0, "item": {"type": "reasoning", "id": "rs_1", "summary": []}},
    {"type": "response.reasoning_summary_text.delta", "output_index": 0, "summary_index": 0, "delta": "h"},
    {"type": "response.reasoning_summary_text.delta", "output_index": 0, "summary_index": 0, "delta": "m"},
    {"type": "response.output_item.added", "output_index": 1, "item": {**CALL, "arguments": ""}},
    {"type": "response.function_call_arguments.delta", "output_index": 1, "delta": '{"a" :'},
    {"type": "response.function_call_arguments.delta", "output_index": 1, "delta": " 1.50}"},
    {"type": "response.output_item.done", "output_index": 1, "item": {**CALL, "arguments": '{"a" : 1.50}'}},
]  # fmt: skip
RESPONSES = [{"sequence_number": number, **chunk} for number, chunk in enumerate(RESPONSES)]
GEMINI = [
    {"candidates": [{"content": {"role": "model", "parts": [{"text": "hm", "thought": True}]}}]},
    {"candidates": [{"content": {"role": "model", "parts": [{"text": "Hél"}]}}]},
    {"candidates": [{"content": {"role": "model", "parts": [{"text": "lo"}]}}]},
    {"candidates": [{"content": {"role": "model", "parts": [
        {"functionCall": {"id": "c1", "name": "ls", "args": {"a": 1}}, "thoughtSignature": "s"}]}, "finishReason": "STOP"}]},
]  # fmt: skip
GEMINI = [{"responseId": "r1", **chunk} for chunk in GEMINI]
MISTRAL_DELTAS = [
    {"role": "assistant", "content": [{"type": "thinking", "thinking": [{"type": "text", "text": "h"}]}]},
    {"content": [{"type": "thinking", "thinking": [{"type": "text", "text": "m"}]}]},
    {"content": [{"type": "text", "text": "Hél"}]},
    {"content": "lo"},
    {"content": "", "tool_calls": [{"index": 0, "id": "abcdefghi", "function": {"name": "ls", "arguments": '{"a" : 1.50}'}}]},
]  # fmt: skip
MISTRAL = [{"id": "m1", "object": "chat.completion.chunk", "choices": [{"index": 0, "delta": delta}]} for delta in MISTRAL_DELTAS]
INTERACTIONS = [
    {"event_type": "interaction.created", "interaction": {"id": "i1", "status": "in_progress"}},
    {"event_type": "step.start", "index": 0, "step": {"type": "thought"}},
    {"event_type": "step.delta", "index": 0, "delta": {"type": "thought_summary", "content": {"type": "text", "text": "h"}}},
    {"event_type": "step.delta", "index": 0, "delta": {"type": "thought_summary", "content": {"type": "text", "text": "m"}}},
    {"event_type": "step.delta", "index": 0, "delta": {"type": "thought_signature", "signature": "s=="}},
    {"event_type": "step.start", "index": 1, "step": {"type": "model_output"}},
    {"event_type": "step.delta", "index": 1, "delta": {"type": "text", "text": "Hél"}},
    {"event_type": "step.delta", "index": 1, "delta": {"type": "text", "text": "lo"}},
    {"event_type": "step.start", "index": 2, "step": {"type": "function_call", "id": "c1", "name": "ls", "arguments": {}}},
    {"event_type": "step.delta", "index": 2, "delta": {"type": "arguments_delta", "arguments": '{"a" :'}},
    {"event_type": "step.delta", "index": 2, "delta": {"type": "arguments_delta", "arguments": " 1.50}"}},
    {"event_type": "interaction.completed", "interaction": {"id": "i1", "status": "completed"}},
]  # fmt: skip
BEDROCK = [
    {"messageStart": {"role": "assistant"}},
    {"contentBlockDelta": {"contentBlockIndex": 0, "delta": {"reasoningContent": {"text": "h"}}}},
    {"contentBlockDelta": {"contentBlockIndex": 0, "delta": {"reasoningContent": {"text": "m"}}}},
    {"contentBlockDelta": {"contentBlockIndex": 0, "delta": {"reasoningContent": {"signature": "s=="}}}},
    {"contentBlockDelta": {"contentBlockIndex": 1, "delta": {"text": "Hél"}}},
    {"contentBlockDelta": {"contentBlockIndex": 1, "delta": {"text": "lo"}}},
    {"contentBlockStop": {"contentBlockIndex": 1}},
    {"contentBlockStart": {"contentBlockIndex": 2, "start": {"toolUse": {"toolUseId": "tooluse_1", "name": "ls"}}}},
    {"contentBlockDelta": {"contentBlockIndex": 2, "delta": {"toolUse": {"input": '{"a" :'}}}},
    {"contentBlockDelta": {"contentBlockIndex": 2, "delta": {"toolUse": {"input": " 1.50}"}}}},
    {"messageStop": {"stopReason": "end_turn"}},
    {"metadata": {"usage": {"inputTokens": 8}}},
]  # fmt: skip
COHERE = [
    {"type": "message-start", "id": "x", "delta": {"message": {"role": "assistant", "content": [], "tool_plan": "", "tool_calls": []}}},
    {"type": "tool-plan-delta", "delta": {"message": {"tool_plan": "h"}}},
    {"type": "tool-plan-delta", "delta": {"message": {"tool_plan": "m"}}},
    {"type": "content-start", "index": 0, "delta": {"message": {"content": {"type": "text", "text": ""}}}},
    {"type": "content-delta", "index": 0, "delta": {"message": {"content": {"text": "Hél"}}}},
    {"type": "content-delta", "index": 0, "delta": {"message": {"content": {"text": "lo"}}}},
    {"type": "content-end", "index": 0},
    {"type": "tool-call-start", "index": 0, "delta": {"message": {"tool_calls": {
        "id": "c1", "type": "function", "function": {"name": "ls", "arguments": ""}}}}},
    {"type": "tool-call-delta", "index": 0, "delta": {"message": {"tool_calls": {"function": {"arguments": '{"a" :'}}}}},
    {"type": "tool-call-delta", "index": 0, "delta": {"message": {"tool_calls": {"function": {"arguments": " 1.50}"}}}}},
    {"type": "message-end", "delta": {"finish_reason": "COMPLETE"}},
]  # fmt: skip
COHERE_V1 = [
    {"event_type": "stream-start", "is_finished": False, "generation_id": "g"},
    {"event_type": "text-generation", "is_finished": False, "text": "Hél"},
    {"event_type": "text-generation", "is_finished": False, "text": "lo"},
    {"event_type": "tool-calls-generation", "is_finished": False, "tool_calls": [{"name": "ls", "parameters": {"a": 1}}]},
    {"event_type": "stream-end", "is_finished": True, "finish_reason": "COMPLETE", "response": {"text": "Héllo"}},
]  # fmt: skip
OLLAMA = [
    {"message": {"role": "assistant", "content": "", "thinking": "h"}, "done": False},
    {"message": {"role": "assistant", "content": "", "thinking": "m"}, "done": False},
    {"message": {"role": "assistant", "content": "Hél"}, "done": False},
    {"message": {"role": "assistant", "content": "lo"}, "done": False},
    {"message": {"role": "assistant", "content": ""}, "done": True, "done_reason": "stop"},
]  # fmt: skip
OLLAMA = [{"model": "qwen3", "created_at": "2026-01-01T00:00:00Z", **chunk} for chunk in OLLAMA]

EXPECTED = {
    "openai_chat_stream": (CHAT, (Text("Héllo"), ToolCall("c1", "ls", '{"a" : 1.50}'))),
    "anthropic_stream": (ANTHROPIC, (Thinking("hm", "s=="), ToolCall("toolu_1", "ls", '{"a" : 1.50}'))),
    "openai_responses_stream": (RESPONSES, (Thinking("hm"), ToolCall("c1", "ls", '{"a" : 1.50}'))),
    "gemini_stream": (GEMINI, (Thinking("hm"), Text("Héllo"), ToolCall("c1", "ls", '{"a": 1}', reasoning=Reasoning(signature="s")))),
    "mistral_stream": (MISTRAL, (Thinking("hm"), Text("Héllo"), ToolCall("abcdefghi", "ls", '{"a" : 1.50}'))),
    "gemini_interactions_stream": (INTERACTIONS, (Thinking("hm", "s=="), Text("Héllo"), ToolCall("c1", "ls", '{"a" : 1.50}'))),
    "bedrock_converse_stream": (BEDROCK, (Thinking("hm", "s=="), Text("Héllo"), ToolCall("tooluse_1", "ls", '{"a" : 1.50}'))),
    "cohere_stream": (COHERE, (Thinking("hm"), Text("Héllo"), ToolCall("c1", "ls", '{"a" : 1.50}'))),
    "cohere_v1_stream": (COHERE_V1, (Text("Héllo"), ToolCall("", "ls", '{"a": 1}'))),
    "ollama_stream": (OLLAMA, (Thinking("hm"), Text("Héllo"))),
}


def lines(chunks: Sequence[Any]) -> bytes:
    return "".join(json.dumps(chunk, ensure_ascii=False) + "\n" for chunk in chunks).encode()


def sent(chunks: Sequence[Any], end: str = "\n") -> bytes:
    events = [f"event: x{end}data: {json.dumps(chunk)}{end}{end}" for chunk in chunks]
    return (": open" + end + "".join(events) + f"data: [DONE]{end}{end}").encode()


def otherwise(chunks: Sequence[Any]) -> tuple[bytes, ...]:
    """Other ways in which programs keep chunks: as a list, over several lines, as events without the lines between them."""
    fields = "".join(f"data: {json.dumps(chunk)}\n" for chunk in chunks).encode()
    spread = "\n".join(json.dumps(chunk, indent=2) for chunk in chunks).encode()
    return json.dumps(chunks).encode(), json.dumps(chunks, indent=2).encode(), spread, fields


def loaded(document: bytes) -> LoadedChain:
    (chain,) = load_file(document)
    assert exported(document, chain) == document
    form = get_format(chain.format)
    for message in chain.messages:
        assert form.message(AI, message.source) == message
    return chain


@pytest.mark.parametrize("name", EXPECTED)
def test_chunks_are_joined_and_stay_as_they_are(name: str) -> None:
    chunks, parts = EXPECTED[name]
    for document in (lines(chunks), sent(chunks), sent(chunks, "\r\n"), *otherwise(chunks)):
        chain = loaded(document)
        assert (chain.format, chain.messages) == (name, (Message(AI, parts),))


@pytest.mark.parametrize("name", EXPECTED)
def test_a_stream_that_is_cut_off_is_joined_as_far_as_it_came(name: str) -> None:
    chunks, parts = EXPECTED[name]
    for document in (lines(chunks), sent(chunks)):
        chain = loaded(document[: len(document) * 3 // 4])
        assert [type(part) for part in chain.messages[0].parts[:1]] == [type(parts[0])]


def test_streams_that_follow_one_another_are_one_chain() -> None:
    second = [{**chunk, "id": "chatcmpl-2"} for chunk in CHAT]
    chain = loaded(sent(CHAT) + sent(second))
    assert [len(message.parts) for message in chain.messages] == [2, 2]
    for name in ("anthropic_stream", "openai_responses_stream", "bedrock_converse_stream", "cohere_stream", "gemini_interactions_stream"):
        chunks, parts = EXPECTED[name]
        assert [message.parts for message in loaded(lines([*chunks, *chunks])).messages] == [parts, parts]


@pytest.mark.parametrize("name", EXPECTED)
def test_an_answer_is_joined_up_to_an_error(name: str) -> None:
    chunks, parts = EXPECTED[name]
    for error in ({"type": "error", "error": {"type": "overloaded", "message": "Busy."}}, {"error": {"status": "overloaded"}}):
        (message,) = loaded(sent([*chunks[:-1], error])).messages
        assert message.note == "error: overloaded"
        assert message.parts[0] == parts[0]


def test_responses_events_without_numbers_are_a_stream() -> None:
    chunks = [{key: value for key, value in chunk.items() if key != "sequence_number"} for chunk in RESPONSES]
    assert loaded(sent(chunks)).messages == loaded(sent(RESPONSES)).messages


def test_events_of_interactions_in_2025() -> None:
    chunks = [
        {"event_type": "interaction.start", "interaction": {"id": "i1", "status": "in_progress"}},
        {"event_type": "content.start", "index": 0, "content": {"type": "text"}},
        {"event_type": "content.delta", "index": 0, "delta": {"type": "text", "text": "Hello"}},
        {"event_type": "content.start", "index": 1, "content": {"type": "function_call"}},
        {"event_type": "content.delta", "index": 1, "delta": {"type": "function_call", "id": "c1", "name": "ls", "arguments": {"a": 1}}},
        {"event_type": "interaction.complete", "interaction": {"id": "i1", "status": "requires_action"}},
    ]
    (message,) = loaded(sent(chunks)).messages
    assert message == Message(AI, (Text("Hello"), ToolCall("c1", "ls", '{"a": 1}')), note="requires_action")


def test_chunks_inside_responses_of_code_assist() -> None:
    chunks = [{"response": chunk, "traceId": "t"} for chunk in GEMINI]
    assert loaded(sent(chunks)).messages == loaded(sent(GEMINI)).messages


def test_whole_answers_one_a_line_are_no_stream() -> None:
    answers = [{"model": "m", "message": {"role": "assistant", "content": text}, "done": True} for text in "ab"]
    assert {chain.format for chain in load_file(lines(answers))} != {"ollama_stream"}
    assert {chain.format for chain in load_file(lines([GEMINI[3], {**GEMINI[3], "responseId": "r2"}]))} == {"gemini"}


def test_why_an_answer_ended() -> None:
    assert [loaded(lines(chunks)).messages[0].note for chunks, _ in EXPECTED.values()] == [
        "tool_calls", "tool_use", *[""] * 8
    ]  # fmt: skip
    failed = [*ANTHROPIC[:4], {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}]
    assert loaded(sent(failed)).messages[0].note == "error: overloaded_error"
    incomplete = {"type": "response.incomplete", "response": {"id": "resp_1", "output": []}, "sequence_number": 9}
    assert loaded(sent([*RESPONSES, incomplete])).messages[0].note == "incomplete"


def test_of_several_choices_the_first_is_shown() -> None:
    chunks = [{**CHAT[1], "choices": [{"index": index, "delta": {"content": str(index)}}]} for index in (0, 1, 0)]
    (message,) = loaded(lines(chunks)).messages
    assert (message.parts, message.note) == ((Text("00"),), "the first of 2 choices")


def test_a_single_answer_is_no_stream() -> None:
    (chain,) = load_file(lines(GEMINI[3:]))
    assert chain.format == "gemini"


def test_a_stream_is_converted_and_not_written() -> None:
    chain = loaded(sent(ANTHROPIC))
    again = load_file(b"".join(document_in(get_format("anthropic"), chain.messages, get_format("anthropic"))))
    assert again[0].messages == chain.messages
    form = get_format("anthropic_stream")
    for message in (Message(HUMAN, (Text("new"),)), replace(chain.messages[0], parts=(Text("changed"),))):
        with pytest.raises(Refused, match="convert"):
            form.write(message, Style())
    assert form not in WRITTEN
    assert set(EXPECTED) <= {one.name for one in FORMATS} - {one.name for one in WRITTEN}


def test_a_role_that_is_no_word_does_not_stop_an_anthropic_stream() -> None:
    chunks = json.loads(json.dumps(EXPECTED["anthropic_stream"][0]))
    chunks[0]["message"]["role"] = []
    document = lines(chunks).decode()
    first, *_ = get_format("anthropic_stream").read([Unit(0, "", document, document, 0)])
    assert isinstance(first, Message) and first.role == AI and first.parts


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 2) | st.sampled_from(["", "text", "a"]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(["index", "text", "type", "parts"]), inner, max_size=3),
    max_leaves=5,
)


@given(st.data())
@examples(200)
def test_no_chunk_stops_a_stream_from_being_read(data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(list(EXPECTED)))
    chunks = json.loads(json.dumps(EXPECTED[name][0]))
    for _ in range(data.draw(st.integers(1, 3))):
        chunk = data.draw(st.sampled_from(chunks))
        holder = chunk
        for _level in range(data.draw(st.integers(0, 3))):
            inner = [value for value in holder.values() if isinstance(value, dict)]
            holder = data.draw(st.sampled_from(inner)) if inner else holder
        holder[data.draw(st.sampled_from(list(holder) or ["index"]))] = data.draw(JSON_VALUES)
    document = lines(chunks)
    form = get_format(name)
    unit = Unit(0, "", document.decode(), document.decode(), 0)
    assert all(isinstance(message, Message | Unit) for message in form.read([unit]))


def test_a_list_of_messages_in_an_event_is_taken_out() -> None:
    (chain,) = load_file(sent([{"messages": [{"role": "user", "content": "Héllo"}]}]))
    assert chain.messages == (Message(HUMAN, (Text("Héllo"),)),)


EMPTY_TEXTS = {
    "gemini_stream": [{"candidates": [{"content": {"role": "model", "parts": [{"text": text}]}}]} for text in ("Hi", "", "")],
    "openai_responses_stream": [
        {"type": "response.output_item.added", "output_index": 0, "sequence_number": 0, "item": {"type": "message", "content": []}},
        {"type": "response.output_item.done", "output_index": 0, "sequence_number": 1, "item": {
            "type": "message", "role": "assistant",
            "content": [{"type": "output_text", "text": ""}, {"type": "output_text", "text": "x"}]}},
    ],
}  # fmt: skip


@pytest.mark.parametrize("name", EMPTY_TEXTS)
@pytest.mark.parametrize("event", ["data: {}\n\n", "{}\n"])
def test_a_stream_with_an_empty_text_is_checked_and_repaired(name: str, event: str) -> None:
    (chain,) = chainviz.load("".join(event.format(json.dumps(chunk)) for chunk in EMPTY_TEXTS[name]).encode(), name)
    assert any(isinstance(part, Text) and not part.text for part in chain.messages[0].parts) or name == "gemini_stream"
    for provider in PROVIDERS:
        assert chain.verdict(provider.name).state in ("accepted", "rejected", "unchecked")
    assert chain.apply("repair").chain.to_bytes() == chain.to_bytes()


LOGGED = {
    "prefixed": "2026-01-01T10:00:00Z DEBUG http: data: {0}",
    "in a record": '{{"at": 1, "event": {0}}}',
    "in a text of a record": '{{"at": 1, "message": {1}}}',
}
"""Lines of logs with one event each, its JSON and that in a JSON string."""


@pytest.mark.parametrize("line", LOGGED.values(), ids=LOGGED)
@pytest.mark.parametrize("name", ["openai_chat", "openai_responses", "gemini", "gemini_interactions", "anthropic"])
def test_events_on_lines_of_a_log_are_joined(name: str, line: str) -> None:
    """A second stream begins another chain, and the request before a stream belongs to it."""
    chunks = {"openai_chat": CHAT, "openai_responses": RESPONSES, "gemini": GEMINI, "anthropic": ANTHROPIC}.get(name, INTERACTIONS)
    key = {"gemini": "contents", "openai_responses": "input", "gemini_interactions": "input"}.get(name, "messages")
    asked = {"model": "m", key: [{"role": "user", "parts" if name == "gemini" else "content": [{"type": "text", "text": "Hi"}]}]}
    if name == "gemini_interactions":
        asked = {"model": "m", key: [{"type": "user_input", "content": [{"type": "text", "text": "Hi"}]}]}
    texts = [json.dumps(chunk) for chunk in chunks]
    lines = [line.format(text, json.dumps(f"data: {text}")) for text in texts]
    expected = chainviz.load(sent(chunks))[0].messages[-1]
    (alone,) = chainviz.load("\n".join(lines).encode())
    assert alone.messages[-1].parts == expected.parts
    (both,) = chainviz.load("\n".join([f"10:00 POST {json.dumps(asked)}", "10:01 200", *lines]).encode())
    assert [message.role for message in both.messages] == ["human", "ai"] and both.messages[-1].parts == expected.parts
