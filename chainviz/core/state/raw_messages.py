"""The stored messages of a state: raw text on one side, what the dialect of its provider reads in it on the other."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field

from chainviz.core.chain.messages import SYSTEM, TOOL, CallRef, Message
from chainviz.core.documents.json.edit import parse
from chainviz.core.documents.units import Unit
from chainviz.core.errors import Refused
from chainviz.core.formats import FORMATS
from chainviz.core.formats.contract import Format, Style
from chainviz.core.formats.conversion import moved
from chainviz.core.formats.crossing import Route
from chainviz.core.formats.frameworks.goaitools_state import GoaitoolsState

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
