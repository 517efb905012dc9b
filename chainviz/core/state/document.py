"""A conversation state, its JSON document, and the update of processed_length after a change.

The messages keep every byte, and are read in the format of the state's provider.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from chainviz.core.chain.messages import SYSTEM, TOOL, CallRef, Message
from chainviz.core.documents.assemble import follows
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
"""The version of state documents that chainviz reads and writes."""


@dataclass(frozen=True, slots=True)
class State:
    provider: str
    """The only provider that the state works with."""
    messages: tuple[str, ...] = ()
    """The JSON text of each message."""
    processed_length: int = 0
    """The number of messages that the model has seen, from the document. It may exceed the number of messages."""
    others: tuple[tuple[str, str], ...] = ()
    """Unknown members of the document: key and JSON text."""

    @property
    def seen(self) -> int:
        """The number of stored messages that the model has seen."""
        return max(0, min(self.processed_length, len(self.messages)))


def members_beside(texts: Iterable[str]) -> dict[str, Any]:
    """Return the members of a document beside its messages, given the texts before and after the messages; {} if they do not form an
    object."""
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
    """Return the document, with members in the order of goaitools. The messages keep their white space."""
    return b"".join(state_document(state, state.messages))


def state_document(state: State, messages: Iterable[str]) -> Iterator[bytes]:
    """Yield a state document in pieces while the texts of the messages are read; the messages of `state` are ignored."""
    head = {"version": str(VERSION), "provider": json.dumps(state.provider), "processed_length": str(state.processed_length)}
    yield to_bytes("{" + "".join(f"{_member(key, text)}," for key, text in head.items()) + '"messages":[')
    for number, text in enumerate(messages):
        yield to_bytes(f",{text}" if number else text)
    yield to_bytes("]" + "".join(f",{_member(key, text)}" for key, text in state.others) + "}")


def _member(key: str, text: str) -> str:
    return f"{json.dumps(key)}:{text}"


DIALECTS: dict[str, Format] = {format.provider: format.dialect for format in FORMATS if isinstance(format, GoaitoolsState)}
"""The known providers by name, with the format of their messages."""


def dialect_of(provider: str) -> Format:
    """Return the format of a provider's messages. Raises Refused for an unknown provider."""
    if provider not in DIALECTS:
        known = " and ".join(DIALECTS)
        raise Refused(f"The provider “{provider[:40]}” is not known; chainviz knows {known}.")
    return DIALECTS[provider]


@dataclass(frozen=True, slots=True)
class RawMessage:
    """One message of a provider, with the shape that a compactor needs.

    It may contain several messages of a chain, as a user message of Anthropic contains tool results and text.
    """

    text: str
    messages: tuple[Message, ...]
    role: str = field(init=False)
    """The role; `tool` if any part is a tool result, because a state must not begin there."""
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
        """Return True if the role in the JSON is `system`, or with `or_developer` also for `developer`."""
        return self.role == SYSTEM and (or_developer or not self.messages[0].label)


def read_raw(text: str, dialect: Format) -> RawMessage:
    found = dialect.read([Unit(0, "", text, parse(text), -1)])
    return RawMessage(text, tuple(message for message in found if isinstance(message, Message)))


def write_raw(message: Message, dialect: Format, near: str = "") -> Iterator[RawMessage]:
    """Yield the messages that store a chain's message in the dialect. `near` is the text of a neighbour, for the style."""
    for one in moved(Route(dialect, dialect), message):
        for fragment in dialect.write(one, Style(near, near.isascii())):
            yield read_raw(fragment.text, dialect)


KNOWN = ("role", "content", "tool_calls", "tool_call_id")


def known_fields(text: str) -> str:
    """Return a message without the fields that goaitools' OpenAI client does not know; it neither sends nor stores those."""
    message = parse(text)
    return json.dumps({key: message[key] for key in KNOWN if message.get(key) is not None})


class Origin(Protocol):
    """The share of a provider's message in a message of the chain: a fragment, or its span in the store."""

    @property
    def ordinal(self) -> int: ...

    @property
    def blocks(self) -> tuple[int, ...] | None: ...


class Change(Protocol):
    """A splice: `added` messages replace `removed` messages from `start`. Changes are in order and do not overlap."""

    @property
    def start(self) -> int: ...

    @property
    def removed(self) -> int: ...

    @property
    def added(self) -> int: ...


Origins = Iterable[Sequence[Origin]]
"""The origins of each message of a chain."""


@dataclass(frozen=True, slots=True)
class ChangedState:
    """A chain that is a state document before and after a change."""

    format: Format
    changes: Sequence[Change]
    before: Callable[[], Origins]
    """Called only if a message of the provider may contain several messages of the chain."""
    after: Callable[[], Origins]

    def length(self, processed_length: int) -> int:
        """Return the processed_length after the change."""
        if not self.format.packs:
            return shifted_length(processed_length, self.changes)
        seen = shifted_length(seen_messages(processed_length, self.before()), self.changes)
        return provider_length(seen, self.after())


def shifted_length(processed_length: int, changes: Sequence[Change]) -> int:
    """Return the processed length after changes, counted in messages of the chain. New messages before the last seen one, such as a
    summary, count as seen."""
    seen = processed_length
    for change in changes:
        gone = max(0, min(change.removed, processed_length - change.start))
        if change.start < processed_length:
            seen += change.added - gone
    return max(0, seen)


def seen_messages(processed_length: int, origins: Origins) -> int:
    """Return the number of messages of a chain that the first `processed_length` of the provider contain."""
    counts = list(_provider_counts(origins))
    beyond = max(0, processed_length - (counts[-1] if counts else 0))
    return bisect_right(counts, processed_length) + beyond


def provider_length(seen: int, origins: Origins) -> int:
    """Return the number of messages of the provider that contain the first `seen` of a chain."""
    counts = [0, *_provider_counts(origins)]
    beyond = max(0, seen - (len(counts) - 1))
    return counts[seen - beyond] + beyond


def _provider_counts(origins: Origins) -> Iterator[int]:
    """Yield for each message of a chain the number of messages of the provider up to it."""
    count = 0
    last: Origin | None = None
    for fragments in origins:
        for fragment in fragments:
            count += last is None or not is_shared(fragment, last)
            last = fragment
        yield count


def is_shared(fragment: Origin, last: Origin) -> bool:
    """Return True if both origins are in one message of the provider."""
    if fragment.blocks is None or last.blocks is None or fragment.ordinal != last.ordinal:
        return False
    return fragment.ordinal >= 0 or follows(fragment.blocks, last.blocks)


_LENGTH = re.compile(r'("processed_length"\s*:\s*)(-?\d+)')


def recorded_length(texts: Iterable[str]) -> int | None:
    """Return the processed_length in the texts beside the messages of a state document, or None if it has none."""
    found = next(filter(None, map(_LENGTH.search, texts)), None)
    return int(found[2]) if found else None


def with_length(text: str, length: int) -> str:
    return _LENGTH.sub(lambda found: f"{found[1]}{length}", text, count=1)


def is_state(format: Format) -> bool:
    return isinstance(format, GoaitoolsState)
