"""A file with an API's error in place of an answer is refused in a sentence that quotes the API."""

from __future__ import annotations

import json
from typing import Any

import pytest

from chainviz.core.errors import DocumentError
from chainviz.core.load import load_file

RESPONSE = {"id": "resp_1", "object": "response", "model": "gpt-4o", "output": [], "temperature": 1.0, "tools": [], "error": None}
BLOCKED = {"promptFeedback": {"blockReason": "SAFETY"}, "usageMetadata": {}, "modelVersion": "gemini-2.5-flash"}
BUSY = {"type": "overloaded_error", "message": "Overloaded"}
CHUNK = {"id": "c", "object": "chat.completion.chunk", "choices": [{"index": 0, "delta": {"role": "assistant"}}]}

DOCUMENTS: dict[str, tuple[Any, str]] = {
    "queued": ({**RESPONSE, "status": "queued"}, "a response that is queued and has no output yet"),
    "in progress": ({**RESPONSE, "status": "in_progress"}, "a response that is in progress and has no output yet"),
    "failed": ({**RESPONSE, "status": "failed", "error": {"code": "server_error", "message": "It failed."}}, "It failed."),
    "incomplete": (
        {**RESPONSE, "status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}},
        "a response without output (incomplete: max_output_tokens)",
    ),
    "interaction": ({"id": "i", "object": "interaction", "status": "in_progress"}, "has no output yet"),
    "batch": ({"id": "b", "object": "batch", "status": "validating"}, "a batch of requests, without their answers (validating)"),
    "blocked prompt": (BLOCKED, "a prompt that Gemini blocked, without an answer (SAFETY)"),
    "blocked prompt, in the spelling of Python": (
        {"candidates": None, "prompt_feedback": {"block_reason": "OTHER", "block_reason_message": "No."}},
        "a prompt that Gemini blocked, without an answer (OTHER: No.)",
    ),
    "blocked prompt of Code Assist": ({"response": BLOCKED, "traceId": "t"}, "SAFETY"),
    "blocked answer": ({"candidates": [{"finishReason": "SAFETY", "index": 0}]}, "an answer that Gemini blocked (SAFETY)"),
    "answer with a role only": (
        {"candidates": [{"content": {"role": "model"}, "finishReason": "MAX_TOKENS"}]},
        "an answer of Gemini without content (MAX_TOKENS)",
    ),
    "no candidates": ({"candidates": [], "usageMetadata": {}}, "an answer of Gemini without candidates"),
    "guardrail": (
        {"output": {"message": {"role": "assistant", "content": []}}, "stopReason": "guardrail_intervened"},
        "an answer of Bedrock without content (guardrail_intervened)",
    ),
    "error of Anthropic": ({"type": "error", "error": BUSY}, "an error that a provider returned (Overloaded)"),
    "error of Google": ([{"error": {"code": 503, "message": "Busy.", "status": "UNAVAILABLE"}}], "(Busy.)"),
    "error of boto3": ({"Error": {"Message": "Too many.", "Code": "ThrottlingException"}}, "(Too many.)"),
    "error of vLLM": ({"object": "error", "message": "Too long.", "code": 400}, "(Too long.)"),
    "error of FastAPI": ({"detail": [{"loc": ["body"], "msg": "Field required"}]}, "(Field required)"),
    "error of Cohere": ({"id": "x", "message": "invalid request"}, "(invalid request)"),
    "error of Ollama": ({"error": "model not found"}, "(model not found)"),
    "line of a batch": ({"custom_id": "a", "result": {"type": "errored", "error": {"type": "error", "error": BUSY}}}, "(Overloaded)"),
}  # fmt: skip
STREAMS: dict[str, tuple[list[Any], str]] = {
    "blocked prompt": ([BLOCKED], "a prompt that Gemini blocked, without an answer (SAFETY)"),
    "blocked answer": ([{"candidates": [{"finishReason": "SAFETY"}]}], "an answer that Gemini blocked (SAFETY)"),
    "error alone": ([{"type": "error", "error": BUSY}], "(Overloaded)"),
    "error before any content": ([CHUNK, CHUNK, {"error": {"message": "Boom"}}], "(Boom)"),
    "failed": (
        [
            {"type": "response.created", "response": {**RESPONSE, "status": "in_progress"}},
            {"type": "response.failed", "response": {**RESPONSE, "status": "failed", "error": {"message": "Boom"}}},
        ],
        "(Boom)",
    ),
}


def refusal(document: str) -> str:
    with pytest.raises(DocumentError) as refused:
        load_file(document.encode())
    return str(refused.value)


@pytest.mark.parametrize("name", DOCUMENTS)
def test_a_document_without_an_answer_is_named(name: str) -> None:
    value, words = DOCUMENTS[name]
    for indent in (None, 2):
        said = refusal(json.dumps(value, indent=indent))
        assert said.startswith("This is ") and words in said


@pytest.mark.parametrize("name", STREAMS)
def test_a_stream_without_an_answer_is_named(name: str) -> None:
    chunks, words = STREAMS[name]
    assert words in refusal("".join(f"event: x\ndata: {json.dumps(chunk)}\n\n" for chunk in chunks))


@pytest.mark.parametrize(
    "answer",
    [
        {"type": "message", "role": "assistant", "content": [], "stop_reason": "refusal"},
        {"object": "chat.completion", "choices": [{"message": {"role": "assistant", "content": None, "refusal": "No."}}]},
        {"candidates": [{"content": {"role": "model", "parts": [{"text": "a"}]}, "finishReason": "SAFETY"}], "error": None},
    ],
)
def test_an_answer_that_was_cut_short_is_a_chain(answer: Any) -> None:
    (chain,) = load_file(json.dumps(answer).encode())
    assert len(chain.messages) == 1
