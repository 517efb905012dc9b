"""A chain as a state document: its stored messages as the dialect of the provider spells them, byte for byte."""

from __future__ import annotations

from collections.abc import Sequence

from chainviz.core.chain.messages import Message
from chainviz.core.documents import json_edit
from chainviz.core.documents.units import EMPTY_ENVELOPE
from chainviz.core.errors import Refused
from chainviz.core.formats import get_format
from chainviz.core.formats.contract import Format
from chainviz.core.formats.goaitools_state import GoaitoolsState
from chainviz.core.load import export_chain
from chainviz.core.state.document import State
from chainviz.core.state.raw_messages import DIALECTS, dialect_of
from chainviz.core.state.stored_and_sent import next_call


def provider_of(format: str) -> str:
    """The provider to which a chain of this format is locked; "" where only a conversion makes it a state."""
    name = _dialect_name(format)
    return next((provider for provider, dialect in DIALECTS.items() if dialect.name == name), "")


def is_state_format(format: str) -> bool:
    return isinstance(get_format(format), GoaitoolsState)


def state_of(messages: Sequence[Message], format: str, provider: str, *, processed_length: int | None = None) -> State:
    """The state of a chain, without its leading system messages unless it is a state document itself.

    `processed_length` counts stored messages; None: up to the last AI message. Refused where the chain is written for
    another provider: that is a conversion, done explicitly.
    """
    dialect = dialect_of(provider)
    if _dialect_name(format) != dialect.name:
        raise Refused(
            f"This chain is in the format {get_format(format).label}; a state for {provider} holds messages of "
            f"{dialect.label}. Convert the chain first."
        )
    call = next_call(messages, processed_length=processed_length, is_state=is_state_format(format))
    stored = messages[call.stored.start :]
    texts = _raw(stored, dialect)
    seen = len(texts) - len(_raw(stored[call.seen :], dialect))
    if processed_length is not None and processed_length > len(stored):
        seen = processed_length
    return State(provider, texts, seen)


def _dialect_name(format: str) -> str:
    found = get_format(format)
    return found.dialect.name if isinstance(found, GoaitoolsState) else found.name


def _raw(messages: Sequence[Message], dialect: Format) -> tuple[str, ...]:
    """The text of each message of the provider; of one it may make several of ours."""
    document = export_chain(messages, EMPTY_ENVELOPE, dialect, lambda start, end: b"").decode(
        "utf-8", "surrogateescape"
    )
    array = json_edit.load_array(document)
    return tuple(array.raw(place) for place in range(len(array)))
