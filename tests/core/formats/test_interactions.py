"""Gemini Interactions: steps make messages, and messages steps again."""

from __future__ import annotations

import json
from dataclasses import replace

from chainviz.core.chain.messages import AI, HUMAN, SYSTEM, TOOL, Image, Message, Opaque, Text, Thinking, ToolCall, ToolResult
from chainviz.core.formats import get_format
from chainviz.core.load import document_in, load_file, restyle
from tests.core.formats.chains import exported

INTERACTIONS = get_format("gemini_interactions")

STEPS = [
    {"type": "user_input", "content": [{"type": "text", "text": "q"}, {"type": "image", "data": "AA==", "mime_type": "image/png"}]},
    {"type": "thought", "signature": "s", "summary": [{"type": "text", "text": "hm"}]},
    {"type": "google_search_call", "id": "g", "arguments": {}},
    {"type": "google_search_result", "call_id": "g", "result": []},
    {"type": "function_call", "id": "c", "name": "ls", "arguments": {"n": 1}},
    {"type": "function_result", "call_id": "c", "name": "ls", "result": {"ok": True}},
    {"type": "model_output", "content": [{"type": "text", "text": "done", "annotations": []}]},
]
DOCUMENT = json.dumps({"model": "gemini-3", "system_instruction": "Be brief.", "input": STEPS}).encode()


def test_steps_make_messages() -> None:
    (chain,) = load_file(DOCUMENT)
    assert chain.format == "gemini_interactions"
    assert [message.role for message in chain.messages] == [SYSTEM, HUMAN, AI, TOOL, AI]
    assert chain.messages[1].parts == (Text("q"), Image("data:image/png;base64,AA=="))
    assert [type(part) for part in chain.messages[2].parts] == [Thinking, Opaque, Opaque, ToolCall]
    assert chain.messages[3].parts == (ToolResult("c", "ls", '{"ok": true}'),)
    assert exported(DOCUMENT, chain) == DOCUMENT


def test_an_edit_changes_one_leaf() -> None:
    (chain,) = load_file(DOCUMENT)
    for index, place, change in (
        (1, 0, {"text": "new"}), (4, 0, {"text": "new"}), (2, 3, {"arguments": '{"n": 2}'}), (2, 0, {"signature": "t"}),
    ):  # fmt: skip
        message = chain.messages[index]
        parts = list(message.parts)
        parts[place] = replace(parts[place], **change)  # type: ignore[type-var]
        styled = restyle(chain.messages, index, replace(message, parts=tuple(parts)), chain.format, chain.envelope)
        assert styled.parts == tuple(parts)
        after = json.loads(exported(DOCUMENT, chain, (*chain.messages[:index], styled, *chain.messages[index + 1 :])))
        changed = [step for step, old in zip(after["input"], STEPS, strict=True) if step != old]
        assert len(changed) == 1 and changed[0].keys() == STEPS[after["input"].index(changed[0])].keys()


def test_messages_make_steps() -> None:
    (chain,) = load_file(DOCUMENT)
    document = b"".join(document_in(INTERACTIONS, chain.messages, INTERACTIONS))
    again = json.loads(document)
    assert again["system_instruction"] == "Be brief."
    assert [step["type"] for step in again["input"]] == [step["type"] for step in STEPS]
    assert load_file(document)[0].messages[:3] == chain.messages[:3]


def test_a_response_is_a_chain() -> None:
    (chain,) = load_file(json.dumps({"object": "interaction", "steps": STEPS[1:2] + STEPS[6:]}).encode())
    assert (chain.format, [message.role for message in chain.messages]) == ("gemini_interactions", [AI])


def test_equal_answers_in_a_row_stay_apart() -> None:
    messages = (Message(HUMAN, (Text("hi"),)), *[Message(AI, (Text("yes"),))] * 2)
    document = b"".join(document_in(INTERACTIONS, messages, INTERACTIONS))
    assert load_file(document, "gemini_interactions")[0].messages == messages
