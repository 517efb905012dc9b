"""Recorded usage: the spellings of providers and agents, in messages and beside them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from chainviz import load
from chainviz.core.usage.document_usage import recorded_beside
from chainviz.core.usage.recorded import TokenUsage, read_usage, recorded_in, recorded_of


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        ({"prompt_tokens": 100, "completion_tokens": 5}, (100, 0, 0, 5, 0)),
        (
            {
                "prompt_tokens": 100, "completion_tokens": 50, "total_tokens": 150,
                "prompt_tokens_details": {"cached_tokens": 80}, "completion_tokens_details": {"reasoning_tokens": 30},
            },
            (100, 80, 0, 50, 30),
        ),
        ({"prompt_tokens": 100, "cache_read_input_tokens": 60}, (100, 60, 0, 0, 0)),
        ({"prompt_tokens": 100, "prompt_cache_hit_tokens": 64, "completion_tokens": 1}, (100, 64, 0, 1, 0)),
        (
            {"input_tokens": 3, "cache_creation_input_tokens": 10, "cache_read_input_tokens": 200, "output_tokens": 5},
            (213, 200, 10, 5, 0),
        ),
        (
            {
                "input_tokens": 120, "input_tokens_details": {"cached_tokens": 100}, "output_tokens": 9,
                "output_tokens_details": {"reasoning_tokens": 4},
            },
            (120, 100, 0, 9, 4),
        ),
        ({"input": 2, "cacheRead": 30, "cacheWrite": 4, "output": 9, "totalTokens": 45}, (36, 30, 4, 9, 0)),
        (
            {
                "promptTokenCount": 40, "cachedContentTokenCount": 8, "candidatesTokenCount": 6, "thoughtsTokenCount": 10,
                "totalTokenCount": 56,
            },
            (40, 8, 0, 16, 10),
        ),
        ({"inputTokens": 5, "outputTokens": 7, "cacheReadInputTokens": 20, "cacheWriteInputTokens": 0}, (25, 20, 0, 7, 0)),
        (
            {
                "input_tokens": 11, "output_tokens": 7, "total_tokens": 18,
                "input_token_details": {"cache_read": 4, "cache_creation": 2}, "output_token_details": {"reasoning": 3},
            },
            (11, 4, 2, 7, 3),
        ),
        ({"input_tokens": 9, "cache_read_tokens": 5, "cache_write_tokens": 1, "output_tokens": 2}, (9, 5, 1, 2, 0)),
        ({"input_tokens": 9, "input_tokens_cache_read": 5, "output_tokens": 2, "total_tokens": 16}, (14, 5, 0, 2, 0)),
        ({"prompt_tokens": 682, "completion_tokens": 60, "cached_tokens": 12, "cost_usd": 0.002}, (682, 12, 0, 60, 0)),
        ({"input": 9, "output": 2, "cached": 4, "thoughts": 3, "tool": 0, "total": 14}, (9, 4, 0, 5, 3)),
        ({"input": 9, "output": 2, "reasoning": 1, "cache": {"read": 5, "write": 3}}, (17, 5, 3, 2, 1)),
        ({"prompt": 9, "completion": 2, "cached": 4}, (9, 4, 0, 2, 0)),
        ({"prompt_eval_count": 26, "eval_count": 298}, (26, 0, 0, 298, 0)),
        ({"completion_tokens": 5}, (0, 0, 0, 5, 0)),
    ],
)  # fmt: skip
def test_usage_objects_of_providers_and_agents(usage: dict[str, Any], expected: tuple[int, ...]) -> None:
    assert read_usage(usage) == TokenUsage(1, *expected)


@pytest.mark.parametrize("value", [7, None, {}, {"prompt_tokens": None}, {"prompt_tokens": True}, {"input_tokens": -3},
                                   {"input_tokens": 0, "output_tokens": 0}, {"input_tokens": 1 << 60}])  # fmt: skip
def test_what_counts_nothing_is_no_usage(value: object) -> None:
    assert read_usage(value) is None


def answer(**members: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": "ok", **members}


def test_usage_is_summed_by_model() -> None:
    usage = {"prompt_tokens": 10, "completion_tokens": 2}
    chain = load([
        {"role": "user", "content": "hi"}, answer(usage=usage, model="a"), answer(usage=usage, model="a"),
        answer(usage=usage), answer(), {"role": "user", "content": "x", "usage": usage},
    ])[0]  # fmt: skip
    assert recorded_of(chain.messages) == {"a": TokenUsage(2, 20, 0, 0, 4, 0), "": TokenUsage(1, 10, 0, 0, 2, 0)}


def test_usage_in_the_content_of_a_message_is_not_recorded_usage() -> None:
    call = {"type": "tool_use", "id": "t", "name": "f", "input": {"usage": {"input_tokens": 5, "output_tokens": 5}}}
    chain = load([{"role": "user", "content": "hi"}, {"role": "assistant", "content": [call]}], "anthropic")[0]
    assert recorded_in(chain.messages[1]) is None


def test_a_source_that_is_no_json_records_nothing() -> None:
    chain = load(b"Question: usage?\nThought: I know\nFinal Answer: usage", "react_log")[0]
    assert recorded_of(chain.messages) == {}


def beside(document: Any, format: str = "") -> dict[str, TokenUsage]:
    text = document if isinstance(document, bytes) else json.dumps(document).encode()
    chain = load(text, format)[0]
    return recorded_beside(chain.file.context(chain.loaded))


def test_a_response_records_its_usage_beside_the_message() -> None:
    usage = {"prompt_tokens": 10, "completion_tokens": 2, "total_tokens": 12}
    response = {"id": "r", "object": "chat.completion", "model": "m", "choices": [{"index": 0, "message": answer()}], "usage": usage}
    assert beside(response) == {"m": TokenUsage(1, 10, 0, 0, 2, 0)}


def test_a_request_records_its_model() -> None:
    assert beside({"model": "m", "messages": [{"role": "user", "content": "hi"}]}) == {"m": TokenUsage()}
    assert beside([{"role": "user", "content": "hi"}]) == {}


def codex(*lines: dict[str, Any]) -> bytes:
    return b"".join(json.dumps({"timestamp": "2026-01-01T00:00:00Z", **line}).encode() + b"\n" for line in lines)


def test_a_codex_rollout_records_running_totals() -> None:
    def count(tokens: int) -> dict[str, Any]:
        total = {"input_tokens": tokens, "cached_input_tokens": tokens // 2, "output_tokens": 5, "reasoning_output_tokens": 1}
        return {"type": "event_msg", "payload": {"type": "token_count", "info": {"total_token_usage": total}}}

    item = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "hi"}]}
    document = codex(
        {"type": "session_meta", "payload": {"id": "x", "instructions": "be brief"}},
        {"type": "turn_context", "payload": {"model": "gpt-5.3-codex"}},
        {"type": "response_item", "payload": item},
        count(100), count(100), count(250),
    )  # fmt: skip
    assert beside(document, "codex_rollout") == {"gpt-5.3-codex": TokenUsage(2, 250, 125, 0, 5, 1)}
