"""A conversation state and its JSON: the messages byte for byte, each beside what the dialect of its provider reads in it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from chainviz.core.chain.messages import SYSTEM, TOOL, CallRef, Message
from chainviz.core.documents.json.edit import parse
from chainviz.core.documents.json.scan import to_bytes
from chainviz.core.documents.units import Unit
from chainviz.core.errors import Refused
from chainviz.core.formats import FORMATS
from chainviz.core.formats.contract import Format, Style
from chainviz.core.formats.conversion import moved
from chainviz.core.formats.cross_provider import Route
from chainviz.core.formats.frameworks.goaitools_state import GoaitoolsState

VERSION = 1
"""The version this program reads and writes (seed 3, Version Field)."""


@dataclass(frozen=True, slots=True)
class State:
    provider: str
    """The state works with this provider only (seed 3, Provider Field)."""
    messages: tuple[str, ...] = ()
    """The JSON text of each message."""
    processed_length: int = 0
    """How many messages the model has seen. A document may say more than there are messages."""
    others: tuple[tuple[str, str], ...] = ()
    """Members of the document that seed 3 does not know: key and JSON text."""

    @property
    def seen(self) -> int:
        """The number of messages that the model has seen."""
        return max(0, min(self.processed_length, len(self.messages)))


def members_beside(texts: Iterable[str]) -> dict[str, Any]:
    """Return the members of a document beside its messages, from the texts before and behind them; {} if they are not
    an object."""
    try:
        found = json.loads("".join(texts))
    except (ValueError, RecursionError):
        return {}
    return {key: value for key, value in found.items() if key != "messages"} if isinstance(found, dict) else {}


def unknown_members(members: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    """Return the members that state documents do not define: key and JSON text."""
    known = ("version", "provider", "processed_length", "messages")
    return tuple((key, json.dumps(value)) for key, value in members.items() if key not in known)


def write_state(state: State) -> bytes:
    """The document in the reference's member order; the messages keep their own white space."""
    return b"".join(state_document(state, state.messages))


def state_document(state: State, messages: Iterable[str]) -> Iterator[bytes]:
    """Yield a state document in pieces while the texts of the messages are read; the messages of `state` are ignored."""
    head = {
        "version": str(VERSION),
        "provider": json.dumps(state.provider),
        "processed_length": str(state.processed_length),
    }
    yield to_bytes("{" + "".join(f"{_member(key, text)}," for key, text in head.items()) + '"messages":[')
    for number, text in enumerate(messages):
        yield to_bytes(f",{text}" if number else text)
    yield to_bytes("]" + "".join(f",{_member(key, text)}" for key, text in state.others) + "}")


def _member(key: str, text: str) -> str:
    return f"{json.dumps(key)}:{text}"


DIALECTS: dict[str, Format] = {
    format.provider: format.dialect for format in FORMATS if isinstance(format, GoaitoolsState)
}
"""The provider names chainviz knows, and how their messages are written."""


def dialect_of(provider: str) -> Format:
    """Refused where no dialect is known for the provider."""
    if provider not in DIALECTS:
        known = " and ".join(DIALECTS)
        raise Refused(f"The provider “{provider[:40]}” is not known; chainviz knows {known}.")
    return DIALECTS[provider]


@dataclass(frozen=True, slots=True)
class RawMessage:
    """One message of a provider, with the shape that a compactor needs.

    It may hold several messages of a chain: a user message of Anthropic holds tool results and text.
    """

    text: str
    messages: tuple[Message, ...]
    role: str = field(init=False)
    """tool where any of it is a tool result: a state must not begin there."""
    size: int = field(init=False)
    calls: tuple[CallRef, ...] = field(init=False)
    results: tuple[CallRef, ...] = field(init=False)

    def __post_init__(self) -> None:
        roles = [message.role for message in self.messages]
        object.__setattr__(self, "role", TOOL if TOOL in roles else roles[0] if roles else "")
        object.__setattr__(self, "size", sum(message.size for message in self.messages))
        object.__setattr__(self, "calls", tuple(call for message in self.messages for call in message.calls))
        object.__setattr__(self, "results", tuple(result for message in self.messages for result in message.results))

    @property
    def is_user_action(self) -> bool:
        return any(message.is_user_action for message in self.messages)

    def is_system(self, *, or_developer: bool = False) -> bool:
        """The role is literally `system`, as in the reference, or with `or_developer` also `developer`."""
        return self.role == SYSTEM and (or_developer or not self.messages[0].label)


def read_raw(text: str, dialect: Format) -> RawMessage:
    found = dialect.read([Unit(0, "", text, parse(text), -1)])
    return RawMessage(text, tuple(message for message in found if isinstance(message, Message)))


def write_raw(message: Message, dialect: Format, near: str = "") -> Iterator[RawMessage]:
    """A message of ours as the dialect stores it, one or several; `near` is the text of a neighbour, for its style."""
    for one in moved(Route(dialect, dialect), message):
        for fragment in dialect.write(one, Style(near, near.isascii())):
            yield read_raw(fragment.text, dialect)


KNOWN = ("role", "content", "tool_calls", "tool_call_id")


def known_fields(text: str) -> str:
    """A message as goaitools sends it, and as it stores a reply: without the fields that its OpenAI client does not know."""
    message = parse(text)
    return json.dumps({key: message[key] for key in KNOWN if message.get(key) is not None})
