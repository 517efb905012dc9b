"""New events of OpenHands in version 1. Ids and times are left to OpenHands, which gives an event without them its own.

A result without the observation of its tool is an `AgentErrorEvent`: the only one that holds a plain text.
"""

from __future__ import annotations

from chainviz.core.chain.messages import AI, SYSTEM, TOOL, Message, ToolCall, ToolResult, text_of
from chainviz.core.dialects.patching import Speller, reasoning_of

_SPOKEN = {AI: ("agent", "assistant"), SYSTEM: ("environment", "system")}
"""Source of the event, and role of its message; else the user."""


def new_event(message: Message, speller: Speller, response: str = "") -> str:
    """What somebody says, an answer with one call, or a result. `response` names the answer that several events make up."""
    if message.role == TOOL:
        return _result(next(part for part in message.parts if isinstance(part, ToolResult)), speller)
    call = next((part for part in message.parts if isinstance(part, ToolCall)), None)
    if message.role == AI and call is not None:
        return _action(message, call, speller, response or call.id)
    source, role = _SPOKEN.get(message.role, ("user", "user"))
    inner = {"role": speller.quote(role), "content": _content(text_of(message), speller)}
    return speller.object({
        "kind": '"MessageEvent"', "source": speller.quote(source), "llm_message": speller.object(inner),
    })  # fmt: skip


def _content(text: str, speller: Speller) -> str:
    items = [speller.object({"type": '"text"', "text": speller.quote(text)})] if text else []
    return speller.list(items)


def _action(message: Message, call: ToolCall, speller: Speller, response: str) -> str:
    quote = speller.quote
    inner = {"id": quote(call.id), "name": quote(call.name), "arguments": quote(call.arguments), "origin": '"completion"'}
    members = {"kind": '"ActionEvent"', "source": '"agent"', "thought": _content(text_of(message), speller)}
    thoughts = [each.content for each in reasoning_of(message) if each.content]
    if thoughts:
        members["reasoning_content"] = quote("\n\n".join(thoughts))
    named = {"tool_name": quote(call.name), "tool_call_id": quote(call.id), "tool_call": speller.object(inner)}
    return speller.object({**members, "action": "null", **named, "llm_response_id": quote(response)})


def _result(result: ToolResult, speller: Speller) -> str:
    return speller.object({
        "kind": '"AgentErrorEvent"', "source": '"agent"', "tool_name": speller.quote(result.name),
        "tool_call_id": speller.quote(result.call_id), "error": speller.quote(result.content),
    })  # fmt: skip
