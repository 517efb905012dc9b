"""What a chain would keep as a state, and what its next call would send: two columns over the same messages.

Nothing is called and nothing changes; the leading system messages and the next user message are a person's what-if.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from chainviz.core.chain.messages import SYSTEM, Message, Shape
from chainviz.core.state.message_index import MessageIndex, Window, leading_systems
from chainviz.core.state.usage import last_answer
from chainviz.core.usage.estimate import BYTES_PER_TOKEN, estimated_tokens

STARTS_WITH_SYSTEM = "The state starts with a system message. goaitools drops it at the next save; chainviz keeps it."


class Mark(StrEnum):
    """What becomes of a message of the chain."""

    NOT_STORED = "sent, not stored"
    """It leads the chain as the system messages of the last call: each call brings its own."""
    SEEN = "stored"
    APPENDED = "appended since"
    """Stored after the last call: the model has not seen it."""


class StoredMessages(Protocol):
    """The stored messages of a chain, measured: `Window` counts them one by one, a database knows the sums."""

    @property
    def start(self) -> int:
        """Place of the first one in the chain."""

    @property
    def size(self) -> int:
        """Content bytes."""

    @property
    def systems(self) -> int:
        """How many of them are system messages."""

    @property
    def first_role(self) -> str:
        """ "" where there is none."""

    def __len__(self) -> int: ...

    def size_before(self, place: int) -> int:
        """Content bytes of the first `place` of them."""


@dataclass(frozen=True, slots=True)
class NextCall:
    stored: StoredMessages
    seen: int
    """How many of the stored ones the model has seen: the divider."""
    leading: tuple[Message, ...] = ()
    """System messages of the next call: sent before the stored ones, never stored."""
    user: Message | None = None
    """The next user message: sent last, stored once the reply is complete."""
    warnings: tuple[str, ...] = ()

    @property
    def sent_count(self) -> int:
        return len(self.leading) + len(self.stored) + (self.user is not None)

    @property
    def sent_size(self) -> int:
        """Content bytes."""
        own = sum(message.size for message in self.leading) + (self.user.size if self.user else 0)
        return own + self.stored.size

    @property
    def appended_size(self) -> int:
        """Content bytes of the messages the model has not seen."""
        return self.stored.size - self.stored.size_before(self.seen)

    def tokens(self, bytes_per_token: float = BYTES_PER_TOKEN) -> int:
        """Of the next request, estimated."""
        return estimated_tokens(self.sent_size, bytes_per_token)

    def mark(self, place: int) -> Mark:
        """Of the message at a place of the chain."""
        at = place - self.stored.start
        return Mark.NOT_STORED if at < 0 else Mark.SEEN if at < self.seen else Mark.APPENDED


def next_call(
    messages: Sequence[Shape],
    leading: Sequence[Message] = (),
    user: Message | None = None,
    *,
    processed_length: int | None = None,
    is_state: bool = False,
) -> NextCall:
    """`processed_length` counts stored messages; None puts the divider behind the last AI message.

    `is_state`: the chain is a state document, whose messages are stored whatever their role.
    """
    start = 0 if is_state else leading_systems(messages)
    stored = Window(MessageIndex(messages), start, len(messages))
    if processed_length is None:
        last = last_answer(messages)
        processed_length = 0 if last is None else last + 1 - start
    return call_after(stored, processed_length, leading, user)


def call_after(
    stored: StoredMessages, processed_length: int, leading: Sequence[Message] = (), user: Message | None = None
) -> NextCall:
    """The next call, where the stored messages are measured already."""
    seen = max(0, min(processed_length, len(stored)))
    return NextCall(stored, seen, tuple(leading), user, tuple(_warnings(stored, processed_length)))


def _warnings(stored: StoredMessages, processed_length: int) -> Iterator[str]:
    if not len(stored):
        yield "Nothing would be stored: after the next call, the state contains only its user message and the reply."
    elif stored.first_role == SYSTEM:
        yield STARTS_WITH_SYSTEM
    if processed_length > len(stored):
        yield f"processed_length is {processed_length:,}, more than the {len(stored):,} stored messages; it counts them all."
