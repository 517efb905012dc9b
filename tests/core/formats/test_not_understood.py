"""Fields with tools or instructions that nothing would show are named; those that are read are not (issue 8)."""

from __future__ import annotations

import json
from typing import Any

import pytest

import chainviz
from tests.core.formats.chains import sample_files

HI = {"role": "user", "content": "hi"}
CALL = {"role": "assistant", "content": "x", "toolInvocations": [{"toolName": "look"}]}


@pytest.mark.parametrize(
    ("document", "format", "field"),
    [
        ({"system_prompt": "Obey.", "messages": [HI]}, "openai_chat", "system_prompt"),
        ({"instructions": "Obey.", "messages": [HI]}, "openai_chat", "instructions"),
        ({"messages": [HI, CALL]}, "openai_chat", "toolInvocations"),
    ],
)
def test_a_field_that_nothing_shows_is_named(document: Any, format: str, field: str) -> None:
    (chain,) = chainviz.load(json.dumps(document).encode(), format)
    (note,) = chain.warnings
    assert (f"“{field}”" in note and note.endswith("not shown.")) or note.endswith("not shown as a message.")


@pytest.mark.parametrize(
    ("document", "format"),
    [
        ({"system": "Obey.", "messages": [HI]}, "anthropic"),
        ({"instructions": "Obey.", "input": [HI]}, "openai_responses"),
        ({"systemInstruction": {"parts": [{"text": "Obey."}]}, "contents": [{"role": "user", "parts": [{"text": "hi"}]}]}, "gemini"),
        ({"system_prompt": "Obey.", "messages": [{"role": "system", "content": "Obey."}, HI]}, "openai_chat"),
    ],
)
def test_what_is_read_is_not(document: Any, format: str) -> None:
    (chain,) = chainviz.load(json.dumps(document).encode(), format)
    assert chain.warnings == ()


@pytest.mark.parametrize(
    ("strange", "said"),
    [
        (["x"], "1 element of the list is not a message."),
        ([None, {"content": "no role"}], "2 elements of the list are not messages."),
    ],
)
def test_elements_that_are_no_messages_leave_a_chain_unchecked(strange: list[Any], said: str) -> None:
    (chain,) = chainviz.load(json.dumps({"messages": [*strange, HI]}).encode(), "openai_chat")
    assert chain.verdict("openai-chat").text == chain.verdict("anthropic").text == "not fully checked"
    assert [problem.text for problem in chain.problems("openai-chat")] == [f"{said} OpenAI may refuse it."]
    assert chain.to_bytes() == json.dumps({"messages": [*strange, HI]}).encode()


def test_no_sample_has_such_a_field() -> None:
    notes = [note for path in sample_files() for chain in chainviz.load(path) for note in chain.warnings]
    assert [note for note in notes if "not shown" in note] == []
