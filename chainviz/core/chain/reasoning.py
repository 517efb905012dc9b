"""Reasoning in messages: is it there, take it out, keep the one text that a summary must carry along (seed 0)."""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Iterable
from dataclasses import replace

from chainviz.core.chain.messages import AI, Message, Part, Reasoning, Text, Thinking, ToolCall

_FIELD, _SHORTEST = 0x12, 64
"""Tag of the field, and the least length that is no accident."""
FAKE_SIGNATURE = "skip_thought_signature_validator"
"""What Gemini accepts instead of the signature of a call that it did not make itself."""


def contains_tool_call_reasoning(messages: Iterable[Message]) -> bool:
    """Whether any tool call carries reasoning, be it empty; reasoning on texts does not count."""
    return any(isinstance(part, ToolCall) and part.reasoning is not None for m in messages for part in m.parts)


def thinks(message: Message) -> bool:
    """Whether reasoning is a part of its own."""
    return any(isinstance(part, Thinking) for part in message.parts)


def thinks_signed(message: Message) -> bool:
    """Whether its provider signed reasoning that is a part of its own."""
    return any(map(is_signed_thought, message.parts))


def is_signed_thought(part: Part) -> bool:
    return isinstance(part, Thinking) and bool(part.signature or part.redacted)


def acts_unthinking(message: Message) -> bool:
    """Whether it calls tools and does not begin with reasoning."""
    return bool(message.calls) and not isinstance(message.parts[0], Thinking)


def acts_unsigned(message: Message) -> bool:
    """Whether it calls tools, and neither its first call nor a thought before it is signed (Gemini 3 wants one of both)."""
    if not message.calls:
        return False
    first = message.calls[0].part
    call = message.parts[first]
    assert isinstance(call, ToolCall)
    signed = call.reasoning is not None and bool(call.reasoning.signature)
    return not signed and not any(isinstance(part, Thinking) and part.signature for part in message.parts[:first])


def with_signed_call(message: Message) -> Message:
    """The message with FAKE_SIGNATURE on its first call."""
    first = message.calls[0].part
    call = message.parts[first]
    assert isinstance(call, ToolCall)
    content = call.reasoning.content if call.reasoning is not None else ""
    signed = replace(call, reasoning=Reasoning(content, FAKE_SIGNATURE))
    return replace(message, parts=(*message.parts[:first], signed, *message.parts[first + 1 :]))


def is_unsigned(part: Part) -> bool:
    """Whether reasoning has no signature, or only the beginning of one."""
    return isinstance(part, Thinking) and (not part.signature or (not part.redacted and breaks_off(part.signature)))


def breaks_off(signature: str) -> bool:
    """Return True if a signature is shorter than its own length field. One of Anthropic is base64 of a protobuf field:
    tag, length, content."""
    try:
        content = b64decode(signature + "=" * (-len(signature) % 4), validate=True)
    except ValueError:
        return False
    length = shift = 0
    for place, byte in enumerate(content[1:6], 2):
        length |= (byte & 0x7F) << shift
        if byte < 0x80:
            return content[0] == _FIELD and length >= _SHORTEST and place + length > len(content)
        shift += 7
    return False


def is_emptied(part: Part) -> bool:
    """Signed, but without text: somebody took it out, or the model gave none."""
    return isinstance(part, Thinking) and bool(part.signature) and not part.content and not part.redacted


def reasoning_message(messages: Iterable[Message]) -> Message | None:
    """An AI message with just the first text of an AI message that carries reasoning, if there is one."""
    for message in messages:
        if message.role != AI:
            continue
        for part in message.parts:
            if isinstance(part, Text) and part.reasoning is not None and not part.reasoning.is_empty:
                return Message(AI, (replace(part, origin=-1),))
    return None


def clear_reasoning(message: Message) -> Message:
    """Return the message without any reasoning; the same object if it has none."""
    if not any(_reasons(part) for part in message.parts):
        return message
    return replace(message, parts=tuple(_cleared(part) for part in message.parts if not isinstance(part, Thinking)))


def _reasons(part: Part) -> bool:
    return isinstance(part, Thinking) or (isinstance(part, Text | ToolCall) and part.reasoning is not None)


def _cleared(part: Part) -> Part:
    return replace(part, reasoning=None) if isinstance(part, Text | ToolCall) else part
