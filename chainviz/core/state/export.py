"""A chain as a state document and a state document as a chain's continuation, with what the chain would store and its next call
would send. Nothing is called; leading system messages and the next user message are a person's what-if."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from enum import StrEnum
from typing import Any, Protocol

from chainviz.core.chain.chain import MemoryChain, Splice
from chainviz.core.chain.messages import NEW, SYSTEM, Fragment, Message, Shape
from chainviz.core.chain.surroundings import Unread, describe_unread
from chainviz.core.counts import count_text
from chainviz.core.documents.assemble import units_of
from chainviz.core.documents.units import EMPTY_ENVELOPE
from chainviz.core.errors import Refused
from chainviz.core.formats import get_format
from chainviz.core.formats.contract import Format, unit_form
from chainviz.core.formats.frameworks.goaitools_state import GoaitoolsState
from chainviz.core.formats.stylist import Stylist
from chainviz.core.state.document import DIALECTS, VERSION, State, dialect_of
from chainviz.core.state.message_index import MessageIndex, Window, last_answer, leading_systems
from chainviz.core.state.processed_length import is_state, provider_length
from chainviz.core.usage.estimate import BYTES_PER_TOKEN, estimated_tokens

KEPT = "Export the chain in its own format, which keeps every byte."


def provider_of(format: str) -> str:
    """The provider to which a chain of this format is locked; "" where only a conversion makes it a state."""
    name = _dialect_name(format)
    return next((provider for provider, dialect in DIALECTS.items() if dialect.name == name), "")


def is_state_format(format: str) -> bool:
    return is_state(get_format(format))


def exported_in(format: str, provider: str) -> Format:
    """Return the dialect of the messages in a state document of `provider`.
    Raises Refused if the chain is written for another provider: that is a conversion, done explicitly.
    """
    dialect = dialect_of(provider)
    if _dialect_name(format) != dialect.name:
        raise Refused(
            f"This chain is in the format {get_format(format).label}; a state for {provider} contains "
            f"{dialect.label} messages. Convert the chain first."
        )
    return dialect


def require_readable(members: Mapping[str, Any], unread: Sequence[Unread]) -> None:
    """Raise Refused where the chain's own document has a version or provider that is not understood, or is not fully read:
    the state would differ from it without a word. `members` are those beside its messages; {} for another format."""
    if members and members.get("version") != VERSION:
        raise Refused(f"`version` of this state document is {members.get('version')}; chainviz writes version {VERSION} only. {KEPT}")
    if members and members.get("provider") not in DIALECTS:
        raise Refused(f"`provider` of this state document is “{str(members.get('provider'))[:40]}”, which is unknown. {KEPT}")
    if unread:
        raise Refused(f"A state cannot be written of a chain that is not fully read: {describe_unread(unread[0])} {KEPT}")


def state_of(messages: Sequence[Message], format: str, provider: str, *, processed_length: int | None = None) -> State:
    """The state of a chain, without its leading system messages unless it is a state document itself.

    `processed_length` counts stored messages of the chain; None: up to the last AI message. Refused as by `exported_in`.
    """
    dialect = exported_in(format, provider)
    call = next_call(messages, processed_length=processed_length, is_state=is_state_format(format))
    sources = [_source(messages, place, dialect) for place in range(call.stored.start, len(messages))]
    seen = provider_length(call.seen if processed_length is None else processed_length, sources)
    return State(provider, tuple(raw_texts(sources, dialect)), seen)


def raw_texts(sources: Iterable[tuple[Fragment, ...]], dialect: Format) -> Iterator[str]:
    """Yield the text of each message of the provider; one of them may contain several messages of a chain."""
    return units_of(sources, unit_form(dialect))


def _source(messages: Sequence[Message], place: int, dialect: Format) -> tuple[Fragment, ...]:
    message = messages[place]
    if message.source:
        return message.source
    stylist = Stylist(MemoryChain(tuple(messages), dialect.name), dialect, EMPTY_ENVELOPE)
    return next(stylist.written([Splice(place, 1, (message,))])).messages[0].source


def _dialect_name(format: str) -> str:
    found = get_format(format)
    return found.dialect.name if isinstance(found, GoaitoolsState) else found.name


STARTS_WITH_SYSTEM = "The state starts with a system message. The Go library goaitools drops it at the next save; chainviz keeps it."


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
        """The number of system messages among them."""

    @property
    def first_role(self) -> str:
        """The role of the first message; "" if there is none."""

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
        """Estimate the tokens of the next request."""
        return estimated_tokens(self.sent_size, bytes_per_token)

    def mark(self, place: int) -> Mark:
        """Return the mark of the message at a place of the chain."""
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
        seen = count_text(processed_length, "message")
        yield f"The model has seen {seen}, but only {len(stored):,} are stored; all of them count as seen."


def continuation(stored: Sequence[Message], start: int, state: Sequence[Message]) -> Iterator[Splice]:
    """Yields the changes that make the messages of `state` of the `stored` ones, which begin at `start` in the chain.

    Messages that are the same, byte for byte, stay; new ones keep the text of their source.
    """
    matcher = SequenceMatcher(None, [_words(message) for message in stored], [_words(message) for message in state])
    for kind, begin, end, first, last in matcher.get_opcodes():
        if kind != "equal":
            yield Splice(start + begin, end - begin, tuple(_new(message) for message in state[first:last]))


def _words(message: Message) -> tuple[str, ...]:
    return (message.role, *(f"{fragment.blocks} {fragment.text}" for fragment in message.source))


def _new(message: Message) -> Message:
    """Return the message with a source that belongs to no document yet."""
    return replace(message, source=tuple(Fragment(NEW, "", each.text, each.blocks) for each in message.source))
