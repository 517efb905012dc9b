"""What a model would be sent for a plan, and would write: estimated from sizes, without reading a body."""

from __future__ import annotations

from chainviz.core.chain.messages import HUMAN
from chainviz.core.operations.summarize.planning.plan import Piece, Plan
from chainviz.core.operations.summarize.writers.context_window import CONTEXT, prompt_room
from chainviz.core.operations.summarize.writers.prompt import instructions
from chainviz.core.usage.estimate import estimated_tokens
from chainviz.core.usage.recorded import TokenUsage

TAGS = 60
"""Bytes around a message in a prompt."""


def estimated_usage(plan: Plan, window: int) -> TokenUsage:
    """Calls and tokens of all pieces; `window` is the model's in tokens, 0 where it is not known."""
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
