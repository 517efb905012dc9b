"""How many tokens the last call of a model was asked with: recorded in the transcript, given by a person, or estimated."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from chainviz.core.chain.chain import Chain
from chainviz.core.chain.messages import AI, Message, Shape
from chainviz.core.documents.json_edit import parse

BYTES_PER_TOKEN = 4
_USAGE = ("usage", "usage_metadata")
_PROMPT_TOKENS = ("prompt_tokens", "input_tokens", "input")
_CACHED = ("cache_creation_input_tokens", "cache_read_input_tokens", "cacheRead", "cacheWrite")
"""Anthropic and pi count these beside the input; the others count cached tokens in it."""
_DEPTH = 4
"""Levels of a message's source that are searched: tau2 keeps its usage at `usage`, OpenHands at the fourth level."""

Source = Literal["recorded", "given", "estimated"]


@dataclass(frozen=True, slots=True)
class Usage:
    prompt_tokens: int
    sent: int
    """Content bytes of the messages that this call sent, leading system messages included."""
    source: Source = "recorded"

    def __str__(self) -> str:
        label = "" if self.source == "recorded" else f" ({self.source})"
        return f"{self.prompt_tokens:,} prompt tokens{label}"


def estimated_tokens(size: int, bytes_per_token: float = BYTES_PER_TOKEN) -> int:
    """Rounded up, so that what is estimated to fit fits when it is estimated again."""
    return int(-(-size // bytes_per_token))


def last_answer(messages: Sequence[Shape]) -> int | None:
    """The place of the last AI message: what the last call gave."""
    return next((place for place in range(len(messages) - 1, -1, -1) if messages[place].role == AI), None)


def usage_of(chain: Chain, given: int = 0) -> Usage:
    """The usage of the chain's last call: `given` if it is more than 0, else recorded, else estimated.

    A record is of the call as it was made: where messages before it were removed since, it is too high; give a number.
    """
    shapes = chain.shapes()
    last = last_answer(shapes)
    sent = sum(shape.size for shape in shapes[: len(shapes) if last is None else last])
    if given > 0:
        return Usage(given, sent, "given")
    recorded = recorded_tokens(chain[last]) if last is not None else None
    if recorded is not None:
        return Usage(recorded, sent)
    return Usage(estimated_tokens(sent), sent, "estimated")


def recorded_tokens(message: Message) -> int | None:
    """The prompt tokens that the source of an AI message records; None where it records none."""
    for fragment in reversed(message.source):
        found = _find_usage(parse(fragment.text), _DEPTH)
        if found is not None:
            return found
    return None


def _find_usage(value: Any, depth: int) -> int | None:
    """The nearest to the root."""
    level = [value]
    for _ in range(depth):
        objects = [item for item in level if isinstance(item, dict)]
        for item in objects:
            for key in _USAGE:
                tokens = prompt_tokens(item.get(key))
                if tokens is not None:
                    return tokens
        level = [inner for item in objects for inner in item.values()]
    return None


def prompt_tokens(usage: Any) -> int | None:
    """What a usage object of a provider counts as its prompt; None where it counts none."""
    if not isinstance(usage, Mapping):
        return None
    for key in _PROMPT_TOKENS:
        if type(usage.get(key)) is int:
            cached = [usage[name] for name in _CACHED if type(usage.get(name)) is int]
            return int(usage[key]) + (0 if key == "prompt_tokens" else sum(cached))
    return None
