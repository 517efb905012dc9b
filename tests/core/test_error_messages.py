"""Pasted messages of APIs: what is around them is taken off, and the places they name are found in the chain."""

from __future__ import annotations

import json

import pytest

from chainviz.core.load import load_file
from chainviz.core.pasted_errors.locate import locate_error
from chainviz.core.pasted_errors.message import read_error
from tests.core.pictures import ai, h, result


def test_the_message_is_taken_out_of_what_is_around_it() -> None:
    body = {"type": "error", "error": {"type": "invalid_request_error", "message": "messages.4: `tool_use` ids must be unique"}}
    error = read_error(f"2026-09-01 ERROR anthropic.BadRequestError: Error code: 400 - {json.dumps(body)} at 0x7f")
    assert error.text == "messages.4: `tool_use` ids must be unique"
    assert (error.message, error.part) == (4, None)


def test_an_index_counts_the_messages_of_the_request() -> None:
    """The top-level system message is none of them, and one message of the user gives a result and a text."""
    messages = [
        {"role": "user", "content": "hi"},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "f", "input": {}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t"}, {"type": "text", "text": "and"}]},
        {"role": "assistant", "content": "ok"},
    ]
    chain = load_file(json.dumps({"system": "s", "messages": messages}).encode(), "anthropic")[0]
    located = locate_error(read_error("messages.3.content.0: something new is wrong"), chain.messages, chain.format)
    assert (located.provider, located.problems, str(located.path)) == (None, (), "s2.p1.m0")


@pytest.mark.parametrize("text", ["", "x", "{", '{"error": 5}', "messages.99: ?", "\ud83d" * 9, "[" * 5000])
def test_any_text_is_read(text: str) -> None:
    located = locate_error(read_error(text), [h(), ai(result("a"))])
    assert located.problems == () and located.path is None
