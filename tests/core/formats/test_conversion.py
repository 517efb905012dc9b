"""Whole chains written in another format: valid documents that say the same."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import pairwise

import pytest

from chainviz import load
from chainviz.core.chain.messages import AI, HUMAN, SYSTEM, TOOL, Image, Message, Opaque, Text, Thinking, ToolCall, ToolResult, text_of
from chainviz.core.chain.problems import strict_error
from chainviz.core.chain.tree import parse
from chainviz.core.formats import WRITTEN, get_format
from chainviz.core.formats.contract import Format
from chainviz.core.formats.conversion import moved
from chainviz.core.formats.cross_provider import Route
from chainviz.core.load import blank, document_in, export_chain, load_file
from tests.core.formats.chains import chains

JOINING = ("openai_responses", "codex_rollout", "gemini_interactions")
"""Nothing there parts an AI message whose calls nobody answered from the next one."""


WITHOUT_EMPTY = ("kimi_code", "copilot_cli", "crush")


@pytest.mark.parametrize("target", [form.name for form in WRITTEN if form.blocks_at])
def test_every_sample_in_every_format(target: str) -> None:
    form = get_format(target)
    for _, _, chain in chains():
        messages = tuple(one for message in chain.messages for one in moved(Route(get_format(chain.format), form), message))
        if (form.slot_key or target in JOINING) and [message.role for message in messages[:2]] == [SYSTEM, SYSTEM]:
            continue  # the target makes one message of them
        if target == "ollama":
            messages = _with_joined_results(messages)
        if _merges(target, messages):
            continue
        envelope, text = blank(form)
        document = export_chain(messages, envelope, form, lambda start, end, text=text: text[start:end])  # type: ignore[misc]
        assert all(json.loads(line) for line in document.splitlines()) if form.lines else json.loads(document)
        again = [message for item in load_file(document, target) for message in item.messages]
        if getattr(form, "halves", False):
            # results live in their calls: those of one call's unit are one message, and none stands alone
            assert sum(m.role == HUMAN for m in again) == _roles(form, messages).count(HUMAN)
            continue
        assert [message.role for message in again] == _roles(form, messages)
        assert document.endswith(b"\n")
        for before, after in zip(messages, again, strict=True):
            plain = all(type(part) is Text and part.text and part.reasoning is None for part in before.parts)
            if plain and len(before.parts) == 1:
                assert after.parts == before.parts
            elif plain:
                assert text_of(after).replace("\n", "") == text_of(before).replace("\n", "")
            if any(isinstance(part, Opaque) for part in before.parts) and len(after.parts) < len(before.parts):
                assert form.losses(before)


def _merges(target: str, messages: tuple[Message, ...]) -> bool:
    """Whether the target joins two of the messages, or has no event for one without a word."""
    joins = target in JOINING and any(a.role == b.role == AI and a.calls for a, b in pairwise(messages))
    return joins or (target in WITHOUT_EMPTY and not all(map(_has_words, messages)))


def _has_words(message: Message) -> bool:
    return any(
        isinstance(part, ToolCall | ToolResult) or (isinstance(part, Text) and part.text) or (isinstance(part, Thinking) and part.content)
        for part in message.parts
    )


def _with_joined_results(messages: tuple[Message, ...]) -> tuple[Message, ...]:
    """Results that follow one another as one message."""
    joined: list[Message] = []
    for message in messages:
        if joined and message.role == joined[-1].role == TOOL:
            joined[-1] = replace(joined[-1], parts=joined[-1].parts + message.parts)
        else:
            joined.append(message)
    return tuple(joined)


def _roles(form: Format, messages: tuple[Message, ...]) -> list[str]:
    """Roles as the target has them: a user speaks for those it does not know."""

    def is_users(loss: str) -> bool:
        return "a message with the role" in loss and "user message" in loss

    roles = [HUMAN if any(map(is_users, form.losses(message))) else message.role for message in messages]
    leading = next((place for place, role in enumerate(roles) if role != SYSTEM), len(roles))
    is_late = [form.name.startswith("gemini") and role == SYSTEM and place >= leading for place, role in enumerate(roles)]
    return [HUMAN if late else role for role, late in zip(roles, is_late, strict=True)]


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
    for form in WRITTEN:
        if form.name != "raw":
            (chain,) = load_file(b"".join(document_in(form, messages)), form.name)
            assert chain.messages == messages


@pytest.mark.parametrize("name", ["goaitools_state", "goaitools_state_anthropic"])
def test_a_chain_that_becomes_a_state_has_been_processed(name: str) -> None:
    """Seed 3, Processed Length Field: the number of stored messages. Results of one message count as the format stores them."""
    calls = (ToolCall("a", "search", "{}"), ToolCall("b", "search", "{}"))
    results = (ToolResult("a", "search", "1"), ToolResult("b", "search", "2"))
    messages = (Message(HUMAN, (Text("hi"),)), Message(AI, calls), Message(TOOL, results), Message(HUMAN, (Text("more"),)))
    state = json.loads(b"".join(document_in(get_format(name), messages)))
    assert state["processed_length"] == len(state["messages"]) == (4 if name.endswith("anthropic") else 5)
    assert json.loads(blank(get_format(name), 12)[1])["processed_length"] == 12


def test_attached_texts_go_into_their_places() -> None:
    """Inspect keeps long texts and pictures once, beside the messages: no other format has such a place."""
    hashes = [digit * 32 for digit in "abcd"]
    places = [f"attachment://{hash}" for hash in (*hashes[:3], "f" * 32)]
    called = {"id": "c1", "type": "function", "function": "say", "arguments": {"text": places[2]}}
    log = {
        "messages": [
            {"role": "user", "content": [{"type": "text", "text": f"Read {places[0]}."}, {"type": "image", "image": places[1]}]},
            {"role": "assistant", "content": "", "tool_calls": [called]},
            {"role": "tool", "tool_call_id": "c1", "function": "say", "content": places[3]},
        ],
        "attachments": {hashes[0]: 'a long "text"', hashes[1]: "data:image/png;base64,iVBORw0KGgo=", hashes[2]: 'two\nlines "here"'},
    }
    (chain,) = load(json.dumps(log).encode(), "inspect")
    asked, said, answered = chain.convert("openai_chat").chain.messages
    assert asked.parts == (Text('Read a long "text".'), Image("data:image/png;base64,iVBORw0KGgo="))
    (call,) = (part for part in said.parts if isinstance(part, ToolCall))
    assert json.loads(call.arguments) == {"text": 'two\nlines "here"'}
    assert answered.parts[0].content == f"attachment://{'f' * 32}"  # type: ignore[union-attr]
    assert chain.messages[0].parts[0] == Text(f"Read attachment://{hashes[0]}."), "the log itself stays as it is"


def test_a_free_form_call_is_written_as_openai_takes_it() -> None:
    items = [
        {"role": "user", "content": "hi"},
        {"type": "custom_tool_call", "call_id": "c1", "name": "apply_patch", "input": "*** Begin"},
        {"type": "custom_tool_call_output", "call_id": "c1", "output": "Done"},
    ]
    chain = load(json.dumps({"input": items}).encode())[0].convert("openai_chat").chain
    (call,) = json.loads(chain.to_bytes())[1]["tool_calls"]
    assert call == {"id": "c1", "type": "custom", "custom": {"name": "apply_patch", "input": "*** Begin"}}
    assert chain.verdict("openai-chat").text == "accepted"
