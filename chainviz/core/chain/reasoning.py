"""Find, sign and remove reasoning in messages, and find the text with reasoning that a summary must keep."""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Iterable
from dataclasses import replace

from chainviz.core.chain.messages import AI, Message, Part, Reasoning, Text, Thinking, ToolCall

_FIELD, _SHORTEST = 0x12, 64
"""The protobuf tag of a signature, and the shortest length that cannot be a coincidence."""
FAKE_SIGNATURE = "skip_thought_signature_validator"
"""The text that Gemini accepts as the signature of a call made by another model."""


def contains_tool_call_reasoning(messages: Iterable[Message]) -> bool:
    """Return True if any tool call has reasoning, even an empty one. Reasoning on texts does not count."""
    return any(isinstance(part, ToolCall) and part.reasoning is not None for m in messages for part in m.parts)


def thinks(message: Message) -> bool:
    """Return True if the message has reasoning as a part of its own."""
    return any(isinstance(part, Thinking) for part in message.parts)


def thinks_signed(message: Message) -> bool:
    """Return True if the message has signed reasoning as a part of its own."""
    return any(map(is_signed_thought, message.parts))


def is_signed(message: Message) -> bool:
    """Return True if a thought, a call or a text of the message is signed, by other than FAKE_SIGNATURE."""
    inside = (part.reasoning.signature for part in message.parts if isinstance(part, Text | ToolCall) and part.reasoning)
    return thinks_signed(message) or any(signature not in ("", FAKE_SIGNATURE) for signature in inside)


def with_own_signatures(message: Message) -> Message:
    """Return the message without its signatures, and with FAKE_SIGNATURE on its first call. Thoughts keep their text; parts that were
    only a signature are left out."""
    parts = [_unsigned(part) for part in message.parts]
    pairs = zip(message.parts, parts, strict=True)
    kept = replace(message, parts=tuple(new for old, new in pairs if new is old or not _says_nothing(new)))
    return with_signed_call(kept) if kept.calls else kept


def _unsigned(part: Part) -> Part:
    if isinstance(part, Thinking):
        return replace(part, signature="")
    if isinstance(part, Text | ToolCall) and part.reasoning is not None and part.reasoning.signature:
        return replace(part, reasoning=Reasoning(part.reasoning.content) if part.reasoning.content else None)
    return part


def _says_nothing(part: Part) -> bool:
    return (isinstance(part, Thinking) and not part.content) or (isinstance(part, Text) and not part.text and part.reasoning is None)


def is_signed_thought(part: Part) -> bool:
    return isinstance(part, Thinking) and bool(part.signature or part.redacted)


def acts_unthinking(message: Message) -> bool:
    """Return True if the message calls tools and does not begin with reasoning."""
    return bool(message.calls) and not isinstance(message.parts[0], Thinking)


def acts_unsigned(message: Message) -> bool:
    """Return True if the message calls tools, and neither its first call nor a thought before that call is signed. Gemini 3
    requires one of the two."""
    if not message.calls:
        return False
    first = message.calls[0].part
    call = message.parts[first]
    assert isinstance(call, ToolCall)
    signed = call.reasoning is not None and bool(call.reasoning.signature)
    return not signed and not any(isinstance(part, Thinking) and part.signature for part in message.parts[:first])


def with_signed_call(message: Message) -> Message:
    """Return the message with FAKE_SIGNATURE on its first call."""
    first = message.calls[0].part
    call = message.parts[first]
    assert isinstance(call, ToolCall)
    content = call.reasoning.content if call.reasoning is not None else ""
    signed = replace(call, reasoning=Reasoning(content, FAKE_SIGNATURE))
    return replace(message, parts=(*message.parts[:first], signed, *message.parts[first + 1 :]))


def is_unsigned(part: Part) -> bool:
    """Return True for reasoning whose signature is missing or cut off."""
    return isinstance(part, Thinking) and (not part.signature or (not part.redacted and breaks_off(part.signature)))


def breaks_off(signature: str) -> bool:
    """Return True if a signature is shorter than its length field says. Anthropic's signatures are a protobuf field (tag,
    length, content) in base64."""
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
    """Return True for signed reasoning without text: it was removed, or the model returned none."""
    return isinstance(part, Thinking) and bool(part.signature) and not part.content and not part.redacted


def reasoning_message(messages: Iterable[Message]) -> Message | None:
    """Return an AI message with the first AI text that has reasoning, and nothing else; None if there is no such text."""
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
