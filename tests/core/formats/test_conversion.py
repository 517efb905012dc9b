"""Whole chains written in another format: valid documents that say the same."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from chainviz.core.chain.messages import AI, HUMAN, SYSTEM, TOOL, Message, Opaque, Text, ToolCall, ToolResult
from chainviz.core.chain.parse import parse
from chainviz.core.chain.problems import strict_error
from chainviz.core.formats import FORMATS, get_format
from chainviz.core.load import blank, document_in, export_chain, load_file
from tests.core.formats.chains import chains


@pytest.mark.parametrize("target", [form.name for form in FORMATS if form.blocks_at])
def test_every_sample_in_every_format(target: str) -> None:
    form = get_format(target)
    for _, _, chain in chains():
        messages = tuple(replace(message, source=()) for message in chain.messages)
        envelope, text = blank(form)
        document = export_chain(messages, envelope, form, lambda start, end, text=text: text[start:end])  # type: ignore[misc]
        assert all(json.loads(line) for line in document.splitlines()) if form.lines else json.loads(document)
        again = [message for item in load_file(document, target) for message in item.messages]
        roles = [HUMAN if target == "claude_code" and m.role == SYSTEM else m.role for m in messages]
        assert [message.role for message in again] == roles
        assert document.endswith(b"\n")
        for before, after in zip(messages, again, strict=True):
            plain = all(type(part) is Text and part.text and part.reasoning is None for part in before.parts)
            if plain and before.parts:
                assert after.parts == before.parts
            if any(isinstance(part, Opaque) for part in before.parts) and len(after.parts) < len(before.parts):
                assert form.losses(before)


def test_a_leading_system_message_goes_into_the_slot() -> None:
    form = get_format("anthropic")
    envelope, text = blank(form)
    messages = (Message(SYSTEM, (Text("S"),)), Message(HUMAN, (Text("hi"),)), Message(SYSTEM, (Text("late"),)))
    document = export_chain(messages, envelope, form, lambda start, end: text[start:end])
    assert json.loads(document) == {
        "system": "S", "messages": [{"role": "user", "content": "hi"}, {"role": "system", "content": "late"}],
    }  # fmt: skip


def test_a_text_beside_results_never_parts_them_from_their_calls() -> None:
    call, text, result = ToolCall("a", "search", "{}"), Text("note"), ToolResult("a", "", "found")
    messages = (Message(HUMAN, (Text("hi"),)), Message(AI, (call,)), Message(TOOL, (text, result)))
    for name in ("openai_chat", "anthropic", "langchaingo", "claude_code", "neutral"):
        document = b"".join(document_in(get_format(name), messages))
        (chain,) = load_file(document, name)
        assert [m.role for m in chain.messages if m.role == TOOL or m.calls] == [AI, TOOL]
        assert strict_error(parse(chain.messages)) is None


def test_equal_messages_in_a_row_stay_apart() -> None:
    messages = (Message(HUMAN, (Text("hi"),)), *[Message(AI, (Text("yes"),))] * 3)
    for form in FORMATS:
        if form.name != "raw":
            (chain,) = load_file(b"".join(document_in(form, messages)), form.name)
            assert chain.messages == messages
