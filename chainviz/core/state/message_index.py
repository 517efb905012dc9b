"""Messages with running sums, so that any range is measured without reading its messages, and the prompt tokens of the last call:
recorded in the transcript, given by a person, or estimated."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Literal

from chainviz.core.chain.chain import Chain
from chainviz.core.chain.messages import AI, HUMAN, SYSTEM, Shape
from chainviz.core.errors import Refused
from chainviz.core.usage.model_catalog import estimated_tokens, tokenizer, tokens_of
from chainviz.core.usage.recorded import recorded_in


def ends_turn(message: Shape) -> bool:
    """Return True for an AI message without calls, which ends a turn. Tool rounds do not end it."""
    return message.role == AI and not message.calls


def leading_systems(messages: Sequence[Shape]) -> int:
    """Return the number of system messages at the beginning of a chain. They are not stored, because each call sends its own."""
    return sum(1 for _ in takewhile(lambda message: message.role == SYSTEM, messages))


class MessageIndex:
    """A list of messages that only grows; windows into it stay valid."""

    def __init__(self, messages: Iterable[Shape] = ()) -> None:
        self.messages: list[Shape] = []
        self.sizes = [0]
        """The total bytes before each message, and at the end the total of all."""
        self.humans: list[int] = []
        """Indexes of human messages. A state may be cut only at these."""
        self.turn_ends: list[int] = []
        """Indexes of AI messages without calls."""
        for message in messages:
            self.append(message)

    def append(self, message: Shape) -> None:
        place = len(self.messages)
        self.messages.append(message)
        self.sizes.append(self.sizes[-1] + message.size)
        if message.role == HUMAN:
            self.humans.append(place)
        elif ends_turn(message):
            self.turn_ends.append(place)


@dataclass(frozen=True, slots=True)
class Window:
    """The messages `start : stop` of a MessageIndex. Indexes count from the start of the window."""

    index: MessageIndex
    start: int
    stop: int

    @classmethod
    def of(cls, messages: Sequence[Shape]) -> Window:
        return cls(MessageIndex(messages), 0, len(messages))

    def __len__(self) -> int:
        return self.stop - self.start

    def __getitem__(self, place: int) -> Shape:
        if not 0 <= place < len(self):
            raise IndexError(place)
        return self.index.messages[self.start + place]

    def __iter__(self) -> Iterator[Shape]:
        return (self.index.messages[place] for place in range(self.start, self.stop))

    @property
    def size(self) -> int:
        """Content bytes."""
        return self.size_before(len(self))

    @property
    def systems(self) -> int:
        return sum(message.role == SYSTEM for message in self)

    @property
    def first_role(self) -> str:
        """The role of the first message; "" if there is none."""
        return self[0].role if len(self) else ""

    @property
    def turns(self) -> int:
        ends = self.index.turn_ends
        return bisect_left(ends, self.stop) - bisect_left(ends, self.start)

    def size_before(self, place: int) -> int:
        """Return the content bytes of the messages before `place`."""
        return self.index.sizes[self.start + place] - self.index.sizes[self.start]

    def first_over(self, size: int) -> int:
        """Return the first index with at least `size` bytes before it; the length of the window if there is none."""
        sizes = self.index.sizes
        return bisect_left(sizes, sizes[self.start] + size, self.start, self.stop) - self.start

    def human_from(self, place: int) -> int | None:
        """Return the index of the first human message at or after `place`; None if there is none."""
        humans = self.index.humans
        at = bisect_left(humans, self.start + place)
        return humans[at] - self.start if at < len(humans) and humans[at] < self.stop else None

    def human_before(self, place: int) -> int | None:
        """Return the index of the last human message before `place`; None if there is none."""
        humans = self.index.humans
        at = bisect_left(humans, self.start + place) - 1
        return humans[at] - self.start if at >= 0 and humans[at] >= self.start else None


Source = Literal["recorded", "given", "estimated", "o200k"]
Counter = Literal["recorded", "o200k", "bytes"]
"""How prompt tokens are counted if nobody gives their number."""
COUNTERS: dict[str, str] = {
    "recorded": "As recorded, else 4 bytes per token",
    "o200k": "With the tokenizer o200k",
    "bytes": "4 bytes per token",
}
NO_TOKENIZER = 'The tokenizer is not installed: pip install "chainviz[tokens]".'


@dataclass(frozen=True, slots=True)
class Usage:
    prompt_tokens: int
    sent: int
    """Content bytes of the messages that the call sent, including leading system messages."""
    source: Source = "recorded"

    def __str__(self) -> str:
        label = "" if self.source == "recorded" else f" ({self.source})"
        return f"{self.prompt_tokens:,} prompt tokens{label}"


def last_answer(messages: Sequence[Shape]) -> int | None:
    """Return the index of the last AI message, the answer of the last call; None if there is none."""
    return next((place for place in range(len(messages) - 1, -1, -1) if messages[place].role == AI), None)


def usage_of(chain: Chain, given: int = 0, counter: Counter = "recorded") -> Usage:
    """Return the usage of the chain's last call: `given` if it is more than 0, otherwise counted with `counter`. Raises Refused if the
    tokenizer is not installed.

    Recorded usage is that of the original call. It is too high if messages before the call were removed since; in that case, give
    the number.
    """
    shapes = chain.shapes()
    last = last_answer(shapes)
    sent = sum(shape.size for shape in shapes[: len(shapes) if last is None else last])
    if given > 0:
        return Usage(given, sent, "given")
    if counter == "o200k":
        if tokenizer() is None:
            raise Refused(NO_TOKENIZER)
        return Usage(tokens_of(chain.slice(0, len(shapes) if last is None else last)), sent, "o200k")
    recorded = recorded_in(chain[last]) if last is not None and counter == "recorded" else None
    if recorded is not None:
        return Usage(recorded[1].input, sent)
    return Usage(estimated_tokens(sent), sent, "estimated")
