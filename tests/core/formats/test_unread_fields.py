"""Fields with tools or instructions that nothing would show are named; those that are read are not (issue 8)."""

from __future__ import annotations

import json
from typing import Any

import pytest

import chainviz
from chainviz.core.chain.surroundings import describe_unread
from chainviz.core.errors import DocumentError

HI = {"role": "user", "content": "hi"}
HI_GEMINI = {"role": "user", "parts": [{"text": "hi"}]}
CALL = {"role": "assistant", "content": "x", "toolInvocations": [{"toolName": "look"}]}


@pytest.mark.parametrize(
    ("document", "format", "field"),
    [
        ({"system_prompt": "Obey.", "messages": [HI]}, "openai_chat", "system_prompt"),
        ({"instructions": "Obey.", "messages": [HI]}, "openai_chat", "instructions"),
        ({"systemInstructionz": {"parts": [{"text": "Obey."}]}, "contents": [HI_GEMINI]}, "gemini", "systemInstructionz"),
        ({"systm": "Obey.", "messages": [HI]}, "anthropic", "systm"),
        ({"system_promt": "Obey.", "messages": [HI]}, "openai_chat", "system_promt"),
        ({"preambl": "Obey.", "messages": [HI]}, "openai_chat", "preambl"),
        ({"messages": [HI, CALL]}, "openai_chat", "toolInvocations"),
    ],
)
def test_a_field_that_nothing_shows_is_named(document: Any, format: str, field: str) -> None:
    (chain,) = chainviz.load(json.dumps(document).encode(), format)
    (unread,) = chain.unread
    assert (unread.kind, unread.name) == ("tools" if field == "toolInvocations" else "instructions", field)
    note = describe_unread(unread)
    assert (f"“{field}”" in note and note.endswith("not shown.")) or note.endswith("not shown as a message.")


@pytest.mark.parametrize("system", [5, True])
def test_instructions_of_another_type_leave_a_request_unchecked(system: Any) -> None:
    (chain,) = chainviz.load(json.dumps({"system": system, "messages": [HI]}).encode(), "anthropic")
    assert chain.verdict("anthropic").text == "not fully checked"
    assert "The field “system” beside the messages" in chain.problems("anthropic")[0].text


@pytest.mark.parametrize(
    ("document", "format"),
    [
        ({"system": "Obey.", "messages": [HI]}, "anthropic"),
        ({"operating_system": "linux", "system_fingerprint": "fp_1", "system_prompt_id": "p1", "messages": [HI]}, "openai_chat"),
        ({"instructions": "Obey.", "input": [HI]}, "openai_responses"),
        ({"systemInstruction": {"parts": [{"text": "Obey."}]}, "contents": [{"role": "user", "parts": [{"text": "hi"}]}]}, "gemini"),
        ({"system_prompt": "Obey.", "messages": [{"role": "system", "content": "Obey."}, HI]}, "openai_chat"),
    ],
)
def test_what_is_read_is_not(document: Any, format: str) -> None:
    (chain,) = chainviz.load(json.dumps(document).encode(), format)
    assert chain.warnings == () and chain.is_fully_read


@pytest.mark.parametrize(
    ("strange", "said"),
    [
        (["x"], "1 record of a type that chainviz does not know in record 1."),
        ([None, {"content": "no role"}], "2 records of a type that chainviz does not know in records 1, 2."),
    ],
)
def test_elements_that_are_no_messages_leave_a_chain_unchecked(strange: list[Any], said: str) -> None:
    (chain,) = chainviz.load(json.dumps({"messages": [*strange, HI]}).encode(), "openai_chat")
    assert chain.verdict("openai-chat").text == chain.verdict("anthropic").text == "not fully checked"
    assert [problem.text for problem in chain.problems("openai-chat")] == [said, f"{said} OpenAI may refuse it."]
    assert chain.to_bytes() == json.dumps({"messages": [*strange, HI]}).encode()


CLAUDE_LIKE = {"uuid": "a", "sessionId": "s", "type": "user", "message": {"role": "user", "blocks": [{"text": "hi"}]}}
EVENT = {"timestamp": "2026-01-01T00:00:00Z", "type": "event_msg", "payload": {"type": "user_message", "message": "hi"}}
CODEX = {"type": "thread.started", "thread_id": "1"}


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ([CLAUDE_LIKE, CLAUDE_LIKE | {"uuid": "b"}], "looks like the format “Claude Code session”, but none of its messages"),
        ([EVENT, EVENT], "looks like the format “Codex rollout”, but none of its messages"),
        ([CODEX, {"type": "turn.started"}], "what “codex exec --json” printed"),
        ([{"display": "hi", "pastedContents": {}}] * 2, "a list of prompts that were typed into Claude Code"),
    ],
)
def test_a_format_that_reads_nothing_is_not_offered(lines: list[Any], said: str) -> None:
    with pytest.raises(DocumentError, match=said):
        chainviz.load("\n".join(map(json.dumps, lines)).encode())


WEIRD = {"role": "user", "content": [{"type": "weird", "words": "hi"}]}


@pytest.mark.parametrize("file", [[WEIRD], {"messages": [WEIRD, WEIRD]}, [WEIRD, {"role": "assistant", "content": None}]])
def test_a_format_that_reads_only_unknown_parts_is_not_offered(file: Any) -> None:
    with pytest.raises(DocumentError, match="none of its messages can be read; choose another format"):
        chainviz.load(json.dumps(file).encode())
    assert len(chainviz.load(json.dumps(file).encode(), "openai_chat")) == 1, "unless somebody asks for it"


@pytest.mark.parametrize(
    "messages",
    [
        [WEIRD, {"role": "assistant", "content": "ok"}],
        [{"role": "user", "content": [{"type": "input_audio", "input_audio": {"data": "AAAA", "format": "wav"}}]}],
        [{"role": "user", "content": [{"type": "video_url", "video_url": {"url": "https://a.b/c.mp4"}}]}],
    ],
)
def test_one_part_that_is_known_is_enough(messages: list[Any]) -> None:
    (chain,) = chainviz.load(json.dumps(messages).encode())
    assert chain.format == "openai_chat"


def test_a_message_without_content_is_no_reason_to_refuse_a_file() -> None:
    (chain,) = chainviz.load(json.dumps([{"role": "user", "content": None}]).encode())
    assert chain.format == "openai_chat"


def test_a_list_under_a_longer_name_leaves_the_first_one_not_fully_read() -> None:
    """A part of the messages under another name opens as a chain of its own; the chain that lacks it says so."""
    tail = {"role": "assistant", "content": "yo"}
    first, second = chainviz.load(json.dumps({"messages": [HI], "messages_tail": [tail]}).encode())
    assert [describe_unread(each) for each in first.unread] == [
        "The field “messages_tail” beside the messages contains more messages, which this chain does not show."
    ]
    assert second.is_fully_read
    pair = chainviz.load(json.dumps({"chosen": [HI], "rejected": [HI]}).encode())
    assert [chain.is_fully_read for chain in pair] == [True, True]
