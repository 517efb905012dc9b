"""Warnings after an edit: open calls, results without a call, signed reasoning in a changed message, an empty chain."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

from chainviz.core.chain.chain import Chain, Splice, apply_splices
from chainviz.core.chain.messages import AI, HUMAN, SYSTEM, Message, Part, Shape, Text, Thinking, ToolCall
from chainviz.core.chain.tree import parse
from chainviz.core.errors import DocumentError
from chainviz.core.formats import get_format

NEARBY = 8
"""The number of messages read at once to find the ends of a pair."""


def warnings_for(chain: Chain, changes: Sequence[Splice]) -> Iterator[str]:
    grown = sum(len(change.messages) - change.removed for change in changes)
    if len(chain) + grown == 0:
        yield "The chain is empty now."
        return
    yield from _calls(chain, changes)
    yield from new_losses(chain, changes)
    if any(is_signed(message) for message in edited_messages(chain, changes)):
        yield (
            "The edited message has signed reasoning. Providers refuse it once the message has changed; "
            "drop the signed reasoning with the edit."
        )
    if any(m.role == SYSTEM for change in changes if change.start for m in change.messages):
        yield "A system message inside the chain is refused by many providers."


def edited_messages(chain: Chain, changes: Sequence[Splice]) -> list[Message]:
    """Return the AI messages that changed. Moved messages did not."""
    gone = [message for change in changes for message in chain.slice(change.start, change.start + change.removed)]
    return [m for change in changes for m in change.messages if m.role == AI and gone and m not in gone]


def is_signed(message: Message) -> bool:
    return any(_signed(part) for part in message.parts)


def _signed(part: Part) -> bool:
    if isinstance(part, Thinking):
        return bool(part.signature) or part.redacted
    return isinstance(part, Text | ToolCall) and part.reasoning is not None and bool(part.reasoning.signature)


def without_signed_reasoning(message: Message) -> Message:
    kept = [part for part in message.parts if not (isinstance(part, Thinking) and _signed(part))]
    return replace(message, parts=tuple(_unsigned(part) for part in kept))


def _unsigned(part: Part) -> Part:
    return replace(part, reasoning=None) if isinstance(part, Text | ToolCall) and _signed(part) else part


def new_losses(chain: Chain, changes: Sequence[Splice]) -> list[str]:
    """Return a sentence for each new loss when the chain's format stores the changed messages."""
    try:
        format = get_format(chain.format)
    except DocumentError:
        return []
    gone = [message for change in changes for message in chain.slice(change.start, change.start + change.removed)]
    before = {loss for message in gone for loss in format.losses(message)}
    new = [message for change in changes for message in change.messages if message not in gone]
    found = dict.fromkeys(loss for message in new for loss in format.losses(message) if loss not in before)
    return [f"{format.label}: {loss.rstrip('.')}." for loss in found]


def _calls(chain: Chain, changes: Sequence[Splice]) -> Iterator[str]:
    """Yield sentences about calls without a result, and results without a call, that the change caused in the pairs around it."""
    start, stop = _around(chain, changes)
    before = chain.shapes_in(start, stop)
    after = apply_splices(before, [replace(change, start=change.start - start) for change in changes])
    (was_open, was_lost), (is_open, is_lost) = _states(before), _states(after)
    for what, ids in (("Without a result now", is_open - was_open), ("Without a call now", is_lost - was_lost)):
        if ids:
            yield f"{what}: {', '.join(id or '(an empty id)' for id in sorted(ids))}."


def _states(messages: Sequence[Shape]) -> tuple[Counter[str], Counter[str]]:
    pairs = [pair.tool_calls for _, pair in parse(messages).pairs()]
    return Counter(id for calls in pairs for id in calls.pending), Counter(id for calls in pairs for id in calls.unmatched)


def _around(chain: Chain, changes: Sequence[Splice]) -> tuple[int, int]:
    """Return the range from the pair before the first change to the pair after the last."""
    start = min(change.start for change in changes)
    stop = max(change.start + change.removed for change in changes)
    while start > 0:
        step = max(0, start - NEARBY)
        found = [at for at, message in enumerate(chain.shapes_in(step, start), step) if message.role in (AI, HUMAN, SYSTEM)]
        start = found[-1] if found else step
        if found:
            break
    while stop < len(chain):
        messages = chain.shapes_in(stop, stop + NEARBY)
        ends = [i for i, message in enumerate(messages) if message.role in (AI, HUMAN, SYSTEM)]
        stop += ends[0] if ends else len(messages)
        if ends:
            break
    return start, stop
