"""Runs in a framework's storage form are judged as the framework sends them."""

from __future__ import annotations

import json
from typing import Any

import pytest

import chainviz
from chainviz.api.chain import Chain

BESIDE = {"turn_idx": 0, "timestamp": "2026-03-20T18:43:45", "cost": 0.1, "usage": None, "raw_data": None}
FLAT = {"id": "call_1", "name": "docks", "arguments": {"bay": 4}, "requestor": "assistant"}
TAU2 = [
    {"role": "assistant", "content": "Hi! How can I help you?", "tool_calls": None, **BESIDE},
    {"role": "user", "content": "Docks?", "tool_calls": None, **BESIDE},
    {"role": "assistant", "content": None, "tool_calls": [FLAT], **BESIDE},
    {"role": "tool", "id": "call_1", "content": "4", "requestor": "assistant", "error": False, **BESIDE},
    {"role": "user", "content": None, "tool_calls": [FLAT | {"id": "call_2", "requestor": "user"}], **BESIDE},
    {"role": "tool", "id": "call_2", "content": "on", "requestor": "user", "error": False, **BESIDE},
]
CALL = {"id": "call_1", "type": "function", "index": 0, "function": {"name": "bash", "arguments": "{}"}}
MINI_SWE = [
    {"role": "user", "content": "Fix it."},
    {
        "role": "assistant", "content": "", "tool_calls": [CALL], "function_call": None, "provider_specific_fields": None,
        "extra": {"cost": 1},
    },
    {"role": "exit", "content": "diff", "extra": {"exit_status": "Submitted"}},
]  # fmt: skip


def errors(chain: Chain) -> list[str]:
    return [each.text for each in chain.problems(provider="openai-chat") if each.provider and each.severity in ("error", "unchecked")]


def loaded(document: Any) -> Chain:
    (chain,) = chainviz.load(json.dumps(document).encode())
    return chain


def test_run_of_tau2() -> None:
    assert errors(loaded({"id": "1", "termination_reason": "user_stop", "reward_info": {"reward": 1}, "messages": TAU2})) == []


def test_run_of_tau2_without_a_result() -> None:
    run = {"id": "1", "termination_reason": "user_stop", "messages": [*TAU2[:3], TAU2[1]]}
    assert len(errors(loaded(run))) == 1


def test_run_of_mini_swe_agent() -> None:
    assert errors(loaded({"info": {"exit_status": "Submitted"}, "trajectory_format": "mini-swe-agent-1.1", "messages": MINI_SWE})) == []


@pytest.mark.parametrize("message", [{"role": "exit", "content": "x"}, {"role": "assistant", "content": "x", "tool_calls": None}])
def test_request_is_judged_as_it_is(message: dict[str, Any]) -> None:
    assert len(errors(loaded({"model": "gpt-5.6", "messages": [MINI_SWE[0], message, MINI_SWE[0]]}))) >= 1
