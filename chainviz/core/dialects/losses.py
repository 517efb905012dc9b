"""Sentences on the parts that a format cannot contain, the same for all formats."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from chainviz.core.chain.messages import Binary, Image, Message, Opaque, Part, Text, Thinking, ToolCall, ToolResult
from chainviz.core.dialects.values import is_json, reasoning_of, split_data_url


@dataclass(frozen=True, slots=True)
class Room:
    """The parts that messages of a format can contain."""

    roles: frozenset[str]
    kinds: frozenset[str] = frozenset()
    """Kinds of opaque parts that belong to the format."""
    reasoning: bool = True
    signatures: bool = True
    errors: bool = True
    result_names: bool = True
    result_media: bool = True
    free_arguments: bool = True
    """True if arguments may be any text, not only JSON."""
    images: bool = True
    addresses: bool = True
    """True if an image may be an address; otherwise its bytes are included."""
    files: bool = True
    calls_anywhere: bool = True
    """True if a text may follow a call."""


TEXT_MOVES = "text that follows a tool call moves"
TEXTS_JOIN = "several texts of one message become one"


def has_text_behind_call(parts: Sequence[Part]) -> bool:
    calls = [place for place, part in enumerate(parts) if isinstance(part, ToolCall)]
    return bool(calls) and any(isinstance(part, Text | Thinking) for part in parts[calls[0] :])


def has_several_texts(parts: Sequence[Part]) -> bool:
    return sum(isinstance(part, Text) for part in parts) > 1


def losses(message: Message, room: Room) -> tuple[str, ...]:
    return tuple(_losses(message, room))


def _losses(message: Message, room: Room) -> Iterator[str]:
    parts = message.parts
    if message.role not in room.roles:
        yield f"a message with the role {message.role[:40]} becomes a user message"
    if any(isinstance(part, Opaque) and part.kind not in room.kinds for part in parts):
        yield "parts of unknown kinds are left out"
    reasoning = reasoning_of(message)
    if reasoning and not room.reasoning:
        yield "reasoning is left out"
    elif not room.signatures and any(item.signature for item in reasoning):
        yield "signatures of reasoning are left out"
    if room.reasoning and any(isinstance(part, Thinking) and part.redacted for part in parts):
        yield "redacted reasoning becomes a signature without text"
    if not room.calls_anywhere and has_text_behind_call(parts):
        yield TEXT_MOVES
    yield from _call_losses([part for part in parts if isinstance(part, ToolCall)], room)
    yield from _result_losses([part for part in parts if isinstance(part, ToolResult)], room)
    yield from _media_losses(message, room)


def _call_losses(calls: list[ToolCall], room: Room) -> Iterator[str]:
    if not room.free_arguments and any(call.arguments.strip() and not is_json(call.arguments) for call in calls):
        yield 'invalid JSON arguments become {"_raw": …}'
    if any(call.type != "function" for call in calls):
        yield "the type of a tool call is left out"
    if any(not call.has_function for call in calls):
        yield "a call without a function becomes one without a name"


def _result_losses(results: list[ToolResult], room: Room) -> Iterator[str]:
    if not room.errors and any(result.is_error for result in results):
        yield "a result cannot be marked as an error"
    if not room.result_names and any(result.name for result in results):
        yield "a result does not repeat its tool's name"
    if not room.result_media and any(result.media for result in results):
        yield "images inside results are left out"


def _media_losses(message: Message, room: Room) -> Iterator[str]:
    if any(isinstance(part, Image) and part.detail for part in message.parts):
        yield "the detail of an image is left out"
    if not room.images and any(isinstance(part, Image) for part in message.parts):
        yield "images are left out"
    elif not room.addresses and any(isinstance(part, Image) and split_data_url(part.url) is None for part in message.parts):
        yield "images with an address become text"
    if not room.files and any(isinstance(part, Binary) for part in message.parts):
        yield "files are left out"
