"""An error whose wording no rule quotes leads to the problem that it is about, or to the message that has what it names."""

from __future__ import annotations

import json
from typing import Any

import pytest

import chainviz
from tests.core.error_classes import answers, assistant, calls, chat, claude, contents, response, text, user

HI, OK, GO = user(), {"role": "assistant", "content": "ok"}, {"role": "user", "content": "go on"}
PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
SEEN = user({"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PNG}"}}, text())
PDF = {"type": "document", "source": {"type": "base64", "media_type": "application/pdf", "data": "JVBERi0xLjQK"}}
ASKED = {"kind": "request", "parts": [{"part_kind": "user-prompt", "content": "hi"}]}
CALLED = {"kind": "response", "parts": [{"part_kind": "tool-call", "tool_name": "look", "args": "{}", "tool_call_id": "c1"}]}
FOUND: dict[str, tuple[Any, str, str]] = {
    "No endpoints found that support image input": (chat(HI, OK, SEEN), "s2.h.m0.c0", "media-to-text"),
    "messages.0.content.0.pdf.source.base64.data: A maximum of 100 PDF pages may be provided.": (
        claude(user(PDF, text()), assistant(), GO), "s1.h.m0", "media-to-text",
    ),
    "UserError: Cannot provide a new user prompt when the message history contains unprocessed tool calls.": (
        [ASKED, CALLED, ASKED], "s1.p1.m0.c0", "answer-call",
    ),
    "ValueError: No function call event found for function responses ids: {'adk-1'}": (
        contents(("user", {"text": "hi"}), ("model", {"text": "ok"}), ("user", response())), "s1.p1.m1.c0", "result-to-text",
    ),
    "invalid request: tool call id c9 not found in previous tool calls": (chat(HI, OK, answers("c9"), GO), "s1.p1.m1.c0", "result-to-text"),
    "Unable to convert openai tool calls={'role': 'assistant'} to gemini tool calls. Received error=Expecting value: line 1": (
        chat(HI, calls("c1", arguments='{"a": '), answers("c1"), GO), "s1.p1.m0.c0", "mend-arguments",
    ),
    "'str object' has no attribute 'items'": (chat(HI, calls("c1", arguments="[1]"), answers("c1")), "s1.p1.m0.c0", "wrap-arguments"),
    "None is not of type 'string' - 'messages.1.content'": (chat(HI, {**OK, "content": None}, GO), "s1.p1.m0", "drop-empty"),
    "Please ensure that multiturn requests alternate between user and model.": (
        contents(("user", {"text": "hi"}), ("user", {"text": "there"}), ("model", {"text": "ok"})), "s1.h.m1", "merge-human",
    ),
    "ValueError: Received multiple non-consecutive system messages.": (
        chat(HI, OK, {"role": "system", "content": "Be brief."}, GO), "s2.h.m0", "note-system",
    ),
    "System role not supported": (chat({"role": "system", "content": "Be brief."}, GO, OK), "s1.h.m0", ""),
}  # fmt: skip


@pytest.mark.parametrize("says", FOUND)
def test_an_unknown_wording_leads_to_what_it_is_about(says: str) -> None:
    document, path, fix = FOUND[says]
    chain = chainviz.load(json.dumps(document).encode())[0]
    found = chain.locate_error(says)
    assert found.is_guess and str(found.path) == path and (fix in found.fixes or not (fix or found.fixes))
    if fix:
        assert fix in {row.action for row in chain.apply("repair", only=(fix,)).report}


def test_the_answer_of_a_provider_behind_a_gateway_is_read() -> None:
    inner = json.dumps({"error": {"message": "System role not supported"}})
    error = {"message": "Provider returned error", "code": 400, "metadata": {"raw": inner, "provider_name": "x"}}
    found = chainviz.load(json.dumps(FOUND["System role not supported"][0]).encode())[0].locate_error(json.dumps({"error": error}))
    assert found.is_guess and str(found.path) == "s1.h.m0"


def test_what_no_message_has_is_not_found() -> None:
    chain = chainviz.load(json.dumps(chat(HI, OK, GO)).encode())[0]
    for says in ("The image could not be decoded", "Rate limit reached", "tool results are odd"):
        found = chain.locate_error(says)
        assert (found.path, found.problems, found.fixes) == (None, (), ())
