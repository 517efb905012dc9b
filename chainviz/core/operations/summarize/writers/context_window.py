"""Fit requests into a model's context window. A request that is too large is split, and the summaries of its parts are joined.

Tokens are estimated from bytes, so a part of the window is left free. A message is cut, inside its texts, only if it does not
fit as a whole.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from chainviz.core.chain.messages import HUMAN, Message, Part, Text, ToolCall, ToolResult, byte_size
from chainviz.core.operations.summarize.plan import Piece, Plan
from chainviz.core.operations.summarize.writers.contract import SummaryRequest, instructions, prompt_body
from chainviz.core.usage.model_catalog import BYTES_PER_TOKEN, estimated_tokens
from chainviz.core.usage.recorded import TokenUsage

FILLED = 0.8
"""The share of the window that is used; the rest allows for errors of the estimate."""
LEAST_TARGET = 200
"""The smallest target for the summary of a part, in bytes."""
CONTEXT = 4
"""The human messages that a part answers may fill this fraction of its prompt: a quarter."""
BETWEEN = "\n\n"


def prompt_room(window: int, target: int) -> int:
    """Return the most bytes of a prompt that leave room for an answer of `target` bytes in a window of `window` tokens."""
    answer = min(2 * target, window)  # if the request is split, each answer is only a part of it
    return int(window * FILLED) * BYTES_PER_TOKEN - answer


def split_request(request: SummaryRequest, window: int) -> tuple[SummaryRequest, ...]:
    """Split a request into parts that fit. Returns only the request itself if it fits or `window` is 0."""
    room = prompt_room(window, request.target_bytes) if window else 0
    if not room or byte_size(request.prompt) <= room:
        return (request,)
    humans = () if request.case == 3 else _last_that_fit(request.humans, room // CONTEXT, request.exact)
    folded = request.humans if request.case == 3 else request.messages
    beside = byte_size(instructions(request.case, request.target_bytes)) + byte_size(request.hint)
    beside += byte_size(prompt_body(humans, (), exact=request.exact)) + 500
    groups = list(_groups(folded, max(1_000, room - beside), request.exact))
    if not groups:
        return (request,)
    target = max(LEAST_TARGET, request.target_bytes // len(groups))
    return tuple(_part(request, humans, group, (number, len(groups)), target) for number, group in enumerate(groups, 1))


def _part(
    request: SummaryRequest, humans: Sequence[Message], group: Sequence[Message], place: tuple[int, int], target: int
) -> SummaryRequest:
    said = f"\nThis is part {place[0]:,} of {place[1]:,}; the summaries of all parts are put together in this order.\n"
    asked, told = (tuple(group), ()) if request.case == 3 else (tuple(humans), tuple(group))
    case = 2 if request.case == 1 and not asked else request.case
    return replace(request, case=case, instructions=instructions(case, target) + said, humans=asked, messages=told, target_bytes=target)


def _last_that_fit(humans: Sequence[Message], room: int, exact: bool) -> tuple[Message, ...]:
    found: list[Message] = []
    for message in reversed(humans):
        size = _size(message, exact)
        if size > room:
            found += [] if found else list(_slices(message, room))[:1]
            break
        room -= size
        found.append(message)
    return tuple(reversed(found))


def _groups(messages: Sequence[Message], room: int, exact: bool) -> Iterator[list[Message]]:
    group: list[Message] = []
    filled = 0
    for message in messages:
        size = _size(message, exact)
        pieces = [message] if size <= room else list(_slices(message, room))
        for piece in pieces:
            size = size if piece is message else _size(piece, exact)
            if group and filled + size > room:
                yield group
                group, filled = [], 0
            group.append(piece)
            filled += size
    if group:
        yield group


def _size(message: Message, exact: bool) -> int:
    return byte_size(prompt_body((message,), (), exact=exact) if message.role == "human" else prompt_body((), (message,), exact=exact))


def _slices(message: Message, room: int) -> Iterator[Message]:
    """Yield the message as several messages, with its long texts cut."""
    characters = max(200, room // 2)  # most characters take a byte, escaped ones more
    for part in message.parts:
        for piece in _cut(part, characters):
            yield replace(message, parts=(piece,))


def _cut(part: Part, characters: int) -> Iterator[Part]:
    match part:
        case Text(text=text):
            yield from (replace(part, text=each) for each in _stretches(text, characters))
        case ToolResult(content=text):
            yield from (replace(part, content=each) for each in _stretches(text, characters))
        case ToolCall(arguments=text):
            yield from (replace(part, arguments=each) for each in _stretches(text, characters))
        case _:
            yield part


def _stretches(text: str, characters: int) -> list[str]:
    return [text[start : start + characters] for start in range(0, len(text), characters)] or [text]


TAGS = 60
"""Bytes of the tags around a message in a prompt."""


def estimated_usage(plan: Plan, window: int) -> TokenUsage:
    """Estimate the calls and tokens of all pieces. `window` is the model's context window in tokens, or 0 if unknown."""
    total = TokenUsage()
    for piece in plan.pieces:
        total += _of_piece(plan, piece, window)
    return total


def _of_piece(plan: Plan, piece: Piece, window: int) -> TokenUsage:
    first, last = piece.first.section, piece.last.section
    sections = plan.chain.tree.sections[first - 1 : last]
    humans = 0
    if piece.rule != "qa-human":
        humans = sum(message.size for section in sections for message in section.header if message.role == HUMAN)
    pairs = [pair for section in sections for pair in section.body]
    if piece.first.pair is not None and piece.last.pair is not None:
        pairs = pairs[piece.first.pair - 1 : piece.last.pair]
    folded = piece.size + TAGS * sum((pair.ai is not None) + len(pair.rest) for pair in pairs)
    beside = len(instructions(1, piece.target)) + humans
    calls = 1
    if window:
        room = prompt_room(window, piece.target)
        if folded + beside > room:
            beside = len(instructions(1, piece.target)) + min(humans, room // CONTEXT)
            calls = -(-folded // max(1_000, room - beside))
    return TokenUsage(calls, estimated_tokens(folded + calls * beside), 0, 0, estimated_tokens(piece.target))
