"""Copies of what was redacted, beside the messages: found however they are wrapped, and nothing else is touched."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import chainviz
from chainviz.core.chain.messages import Image, Message, Reasoning, Text, ToolCall
from chainviz.core.operations.surrounding_copies import LONG, SPARSE, STRIDE, Copies, removed_texts

GONE = 'the patient is called Ada Lovelace\nand lives in "London"\n' * 4


def without(document: Any, *texts: str) -> Any:
    return json.loads(Copies(texts, "[redacted]").without(json.dumps(document, ensure_ascii=False)))


@pytest.mark.parametrize(
    ("held", "left"),
    [
        (GONE, "[redacted]"),
        (f"Observation: {GONE} -- end", "Observation: [redacted] -- end"),
        (f"{GONE}|{GONE}", "[redacted]|[redacted]"),
        (GONE[20:-20], "[redacted]"),
        (f"  {GONE}\n", "[redacted]"),
        ("the patient", "the patient"),
        ("the patient is called Ada", "the patient is called Ada"),
        (json.dumps({"content": GONE}), '{"content": "[redacted]"}'),
        (json.dumps([json.dumps(GONE)]), json.dumps(['"[redacted]"'])),
    ],
)
def test_strings_that_hold_a_redacted_text_hold_it_no_more(held: str, left: str) -> None:
    assert without({"a": [held, 1], "b": "else"}, GONE) == {"a": [left, 1], "b": "else"}


def test_a_short_text_goes_only_where_it_is_the_whole_string() -> None:
    document = ["file updated", "was file updated?", "OK", "OBSERVATION"]
    assert without(document, "OBSERVATION:\nfile updated", "OK") == ["[redacted]", "was file updated?", "OK", "OBSERVATION"]


def test_a_name_stays_though_a_short_text_is_spelled_like_it() -> None:
    assert without({"completed": "completed"}, "completed") == {"completed": "[redacted]"}


def test_arguments_pictures_and_signatures_have_copies_too() -> None:
    long = "a note of some length that was written to a file"
    old = Message(
        "ai",
        (
            Text("", reasoning=Reasoning("", "signed-with-this")),
            Image("data:image/png;base64,QUFBQUFBQUFB"),
            ToolCall("c1", "write", json.dumps({"path": "notes.txt", "text": long})),
        ),
    )
    gone = [*removed_texts(old, Message("ai"))]
    document = [{"path": "notes.txt", "text": long}, "QUFBQUFBQUFB", "signed-with-this"]
    assert without(document, *gone) == [{"path": "notes.txt", "text": "[redacted]"}, "[redacted]", "[redacted]"]


def test_a_half_character_of_the_document_stays() -> None:
    piece = f'["é \\ud800 {json.dumps(GONE)[1:-1]}"]'
    assert Copies([GONE], "[redacted]").without(piece) == '["é \\ud800 [redacted]"]'


def test_a_document_without_copies_stays_byte_for_byte() -> None:
    piece = '{"a":  "\\u00e9 \\/ \\ud800", "b": [1e400, "' + "x" * 500 + '"], "cut'
    assert Copies([GONE], "[redacted]").without(piece) == piece


@given(st.text("ab\n", min_size=LONG, max_size=300), st.text("ab\n", max_size=200), st.text("ab\n", max_size=200))
def test_wherever_a_long_text_stands_in_a_string_it_is_found(text: str, before: str, behind: str) -> None:
    assert text not in without([before + text + behind], text)[0]


def test_what_is_kept_of_a_redacted_text_is_little() -> None:
    """Of each text so many windows are known as there are places in a stride, and one every so many characters."""
    long = "".join(f"line {number}\n" for number in range(1000))
    copies = Copies([long], "[redacted]")
    assert len(copies._starts) <= STRIDE
    assert len(copies._inside) <= len(long) // SPARSE + 1


@pytest.mark.parametrize("before", range(0, 40, 3))
def test_a_copy_is_found_wherever_it_begins(before: int) -> None:
    assert without({"log": "x" * before + GONE + " and on"}, GONE) == {"log": "x" * before + "[redacted] and on"}


def test_a_result_in_the_block_of_its_call_is_redacted_there_although_the_message_repeats_it() -> None:
    """Of a Vercel UI message, which holds call and result in one part."""
    done = {"type": "tool-look", "state": "output-available", "input": {}}
    tools = [{**done, "toolCallId": f"c{i}", "output": f"{i} word " * 90} for i in (1, 2)]
    end: dict[str, Any] = {"type": "text", "text": "Done."}
    answer = {"id": "a", "role": "assistant", "metadata": {"copy": tools[0]["output"]}, "parts": [*tools, end]}
    asked = [{"id": f"u{i}", "role": "user", "parts": [{"type": "text", "text": "Go on."}]} for i in (1, 2)]
    (chain,) = chainviz.load(json.dumps([asked[0], answer, asked[1]]).encode())
    redacted = json.loads(chain.apply("redact").chain.to_bytes())
    assert redacted[1]["parts"] == [*({**tool, "output": "[redacted]"} for tool in tools), end]
    assert redacted[1]["metadata"] == {"copy": "[redacted]"}


@pytest.mark.parametrize("copy", ["a word " * 90, "log: " + "a word " * 90, ("a word " * 90)[14:], "a word"])
def test_copy_beside_a_result_of_the_same_message_is_removed(copy: str) -> None:
    call = {"id": "call_1", "type": "function", "function": {"name": "look", "arguments": "{}"}}
    result = {"role": "tool", "tool_call_id": "call_1", "content": "a word " * 90, "raw_output": copy, "again": "something else"}
    ends = [{"role": "assistant", "content": "Done."}, {"role": "user", "content": "Go on."}]
    messages = [{"role": "user", "content": "Go."}, {"role": "assistant", "content": "", "tool_calls": [call]}, result, *ends]
    (chain,) = chainviz.load(json.dumps(messages).encode())
    redacted = json.loads(chain.apply("redact").chain.to_bytes())[2]
    assert redacted["content"] == "[redacted]"
    assert redacted["raw_output"].removeprefix("log: ") == ("a word" if copy == "a word" else "[redacted]")
    assert (redacted["tool_call_id"], redacted["again"]) == ("call_1", "something else")
