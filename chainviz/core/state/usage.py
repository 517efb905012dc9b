"""How many tokens the last call of a model was asked with: recorded in the transcript, given by a person, or estimated."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from chainviz.core.chain.chain import Chain
from chainviz.core.chain.messages import AI, Shape
from chainviz.core.usage.estimate import estimated_tokens
from chainviz.core.usage.recorded import recorded_in

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
    recorded = recorded_in(chain[last]) if last is not None else None
    if recorded is not None:
        return Usage(recorded[1].input, sent)
    return Usage(estimated_tokens(sent), sent, "estimated")
