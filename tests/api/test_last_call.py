"""The last call that a transcript counts, and a count that no model can take."""

from __future__ import annotations

import json
from typing import Any

import chainviz
from chainviz.api.chain import Chain
from chainviz.api.json_objects import usage_lines


def rollout(last: dict[str, int], window: int | None) -> Chain:
    info = {"total_token_usage": last, "last_token_usage": last, "model_context_window": window}
    payloads: list[tuple[str, dict[str, Any]]] = [
        ("session_meta", {"id": "1", "cwd": "/", "cli_version": "0.146.0"}),
        ("response_item", {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Count."}]}),
        ("event_msg", {"type": "token_count", "info": info}),
    ]
    lines = [json.dumps({"timestamp": "2026-08-10T10:00:00Z", "type": type, "payload": payload}) for type, payload in payloads]
    (chain,) = chainviz.load("\n".join(lines).encode())
    return chain


def warnings(chain: Chain) -> list[str]:
    return [line for line in usage_lines(chain) if line.startswith("warning:")]


def test_count_above_the_window_is_told() -> None:
    chain = rollout({"input_tokens": 4_280_000, "output_tokens": 10, "total_tokens": 4_280_010}, 258_000)
    assert chain.last_call is not None and chain.last_call.tokens == 4_280_010
    assert chain.context_window == 258_000
    (warning,) = warnings(chain)
    assert "4,280,010 tokens" in warning and "258,000" in warning


def test_count_within_the_window() -> None:
    assert warnings(rollout({"input_tokens": 1_000, "output_tokens": 10, "total_tokens": 1_010}, 258_000)) == []


def test_window_of_the_model_counts_where_none_is_recorded() -> None:
    usage = {"prompt_tokens": 900_000, "completion_tokens": 1, "total_tokens": 900_001}
    messages = [{"role": "user", "content": "Count."}, {"role": "assistant", "content": "Four.", "model": "gpt-4o", "usage": usage}]
    (chain,) = chainviz.load(json.dumps({"messages": messages}).encode())
    assert chain.context_window == 128_000
    assert len(warnings(chain)) == 1


def test_recorded_usage_is_that_of_the_run_after_an_operation() -> None:
    usage = {"prompt_tokens": 900, "completion_tokens": 100, "total_tokens": 1_000}
    answer = {"role": "assistant", "content": "Four.", "model": "gpt-4o", "usage": usage}
    talk = [{"role": "user", "content": "Count."}, answer, {"role": "user", "content": "Again."}, answer]
    (chain,) = chainviz.load(json.dumps(talk).encode())
    for changed in (chain.apply("compact", max_messages=1), chain.convert(to="anthropic")):
        assert (changed.chain.usage, changed.chain.cost) == (chain.usage, chain.cost)
        assert changed.chain.context_window == chain.context_window == 128_000
