"""Messages of recorded runs as the framework that ran them sends them: it keeps more than it sends, and in another form.

tau2 keeps flat calls and times, mini-SWE-agent what it did with an answer, LiteLLM the null members of its answers.
"""

from __future__ import annotations

import json
from typing import Any

RUN_MEMBERS = frozenset(("trajectory_format", "termination_reason", "reward_info"))
"""Members beside the messages that only the record of a run has (mini-SWE-agent, tau2)."""
_TAU2 = "turn_idx"
_LITELLM = "provider_specific_fields"


def as_sent(value: dict[str, Any]) -> dict[str, Any] | None:
    """The message as it is sent; None for one that is not, such as a call that the simulated user makes."""
    if _TAU2 in value:
        return _from_tau2(value)
    if isinstance(value.get("extra"), dict) or _LITELLM in value:
        return _from_litellm(value)
    return value


def _from_litellm(value: dict[str, Any]) -> dict[str, Any] | None:
    """Without null members and the index of a call. The mark with which mini-SWE-agent ends a run is not sent."""
    kept = {key: each for key, each in value.items() if key not in ("extra", _LITELLM) and (each is not None or key == "content")}
    if isinstance(calls := kept.get("tool_calls"), list):
        kept["tool_calls"] = [_without_index(call) for call in calls]
    return None if kept.get("role") == "exit" else kept


def _without_index(call: Any) -> Any:
    return {key: each for key, each in call.items() if key != "index"} if isinstance(call, dict) else call


def _from_tau2(value: dict[str, Any]) -> dict[str, Any] | None:
    role = value.get("role")
    if role == "tool":
        is_ours = value.get("requestor") != "user"
        return {"role": role, "tool_call_id": value.get("id"), "content": value.get("content")} if is_ours else None
    calls = value.get("tool_calls")
    if role == "user" and calls:
        return None
    kept = {"role": role, "content": value.get("content")}
    return kept | {"tool_calls": [_nested(call) for call in calls]} if isinstance(calls, list) and calls else kept


def _nested(call: Any) -> Any:
    if not isinstance(call, dict) or "function" in call:
        return call
    function = {"name": call.get("name"), "arguments": json.dumps(call.get("arguments"))}
    return {"id": call.get("id"), "type": "function", "function": function}
