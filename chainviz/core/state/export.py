"""Export a chain as a state document, continue a chain from a state document, and preview what the next call would send and store. No
model is called; a person provides the leading system messages and the next user message of the preview."""

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
from chainviz.core.state.call import MessageIndex, Window, last_answer, leading_systems
from chainviz.core.state.document import DIALECTS, VERSION, State, dialect_of, is_state, provider_length
from chainviz.core.usage.model_catalog import BYTES_PER_TOKEN, estimated_tokens

KEPT = "Export the chain in its own format, which keeps every byte."


def provider_of(format: str) -> str:
    """Return the provider of a chain in this format; "" if the chain must be converted before it can become a state."""
    name = _dialect_name(format)
    return next((provider for provider, dialect in DIALECTS.items() if dialect.name == name), "")


def is_state_format(format: str) -> bool:
    return is_state(get_format(format))


def exported_in(format: str, provider: str) -> Format:
    """Return the dialect of the messages in a state document of `provider`. Raises Refused if the chain is written for another
    provider: that is a conversion, done explicitly.
    """
    dialect = dialect_of(provider)
    if _dialect_name(format) != dialect.name:
        raise Refused(
            f"This chain is in the format {get_format(format).label}; a state for {provider} contains "
            f"{dialect.label} messages. Convert the chain first."
        )
    return dialect


def require_readable(members: Mapping[str, Any], unread: Sequence[Unread]) -> None:
    """Raise Refused if the chain's document has an unknown version or provider, or is not fully read, because the state would silently
    differ from it. `members` are the members beside the messages of a state document; {} for any other format."""
    if members and members.get("version") != VERSION:
        raise Refused(f"`version` of this state document is {members.get('version')}; chainviz writes version {VERSION} only. {KEPT}")
    if members and members.get("provider") not in DIALECTS:
        raise Refused(f"`provider` of this state document is “{str(members.get('provider'))[:40]}”, which is unknown. {KEPT}")
    if unread:
        raise Refused(f"A state cannot be written of a chain that is not fully read: {describe_unread(unread[0])} {KEPT}")


def state_of(messages: Sequence[Message], format: str, provider: str, *, processed_length: int | None = None) -> State:
    """Return the state of a chain, without its leading system messages unless the chain is a state document itself.

    `processed_length` counts stored messages of the chain; None counts up to the last AI message. Raises Refused like `exported_in`.
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
    """How the next call treats a message of the chain."""

    NOT_STORED = "sent, not stored"
    """A leading system message: each call sends its own."""
    SEEN = "stored"
    APPENDED = "appended since"
    """Stored after the last call, so the model has not seen it."""


class StoredMessages(Protocol):
    """The sizes of a chain's stored messages. `Window` adds them up in memory; the database has the sums."""

    @property
    def start(self) -> int:
        """The index in the chain of the first stored message."""

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
        """Return the content bytes of the first `place` stored messages."""


@dataclass(frozen=True, slots=True)
class NextCall:
    stored: StoredMessages
    seen: int
    """The number of stored messages that the model has seen."""
    leading: tuple[Message, ...] = ()
    """System messages of the next call, which are sent first and never stored."""
    user: Message | None = None
    """The next user message, which is sent last and stored when the reply is complete."""
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
        """Content bytes of the stored messages that the model has not seen."""
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
    """Return the next call of a chain. `processed_length` counts stored messages; None counts up to the last AI message.

    `is_state`: the chain is a state document, so all its messages are stored, whatever their roles.
    """
    start = 0 if is_state else leading_systems(messages)
    stored = Window(MessageIndex(messages), start, len(messages))
    if processed_length is None:
        last = last_answer(messages)
        processed_length = 0 if last is None else last + 1 - start
    return call_after(stored, processed_length, leading, user)


def call_after(stored: StoredMessages, processed_length: int, leading: Sequence[Message] = (), user: Message | None = None) -> NextCall:
    """Return the next call of a chain whose stored messages are already measured."""
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
    """Yield the changes that turn the `stored` messages, which begin at `start` in the chain, into those of `state`.

    Messages that are equal byte for byte stay; new ones keep the text of their source.
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
