"""A chain as a state document: its stored messages as the dialect of the provider spells them, byte for byte."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from chainviz.core.chain.chain import MemoryChain, Splice
from chainviz.core.chain.messages import Fragment, Message
from chainviz.core.chain.unread import Unread, describe_unread
from chainviz.core.documents.assemble import units_of
from chainviz.core.documents.units import EMPTY_ENVELOPE
from chainviz.core.errors import Refused
from chainviz.core.formats import get_format
from chainviz.core.formats.contract import Format, unit_form
from chainviz.core.formats.frameworks.goaitools_state import GoaitoolsState
from chainviz.core.formats.stylist import Stylist
from chainviz.core.state.document import VERSION, State
from chainviz.core.state.processed_length import is_state, provider_length
from chainviz.core.state.raw_messages import DIALECTS, dialect_of
from chainviz.core.state.stored_and_sent import next_call

KEPT = "Export the chain in its own format, which keeps every byte."


def provider_of(format: str) -> str:
    """The provider to which a chain of this format is locked; "" where only a conversion makes it a state."""
    name = _dialect_name(format)
    return next((provider for provider, dialect in DIALECTS.items() if dialect.name == name), "")


def is_state_format(format: str) -> bool:
    return is_state(get_format(format))


def exported_in(format: str, provider: str) -> Format:
    """The dialect in which the messages of a chain stand in a state document of `provider`.

    Refused where the chain is written for another provider: that is a conversion, done explicitly.
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
    """The text of each message of the provider; one of them may hold several messages of a chain."""
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
