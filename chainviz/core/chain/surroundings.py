"""The content of a document beside the messages of a chain: members around the list, a slot, lines that are not
messages, and content that was not read."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from chainviz.core.chain.paths import Path
from chainviz.core.chain.problems import Problem
from chainviz.core.errors import Refused

# A chain is not fully read when its document has content that no message shows although its format does not know it.


UnreadKind = Literal["record", "role", "part", "field", "instructions", "tools", "definitions", "stream", "list"]
"""A record without a message, a message with an unknown role, a part of an unknown type, texts in an unknown field of a record,
and instructions, tool calls, tool definitions, a recorded stream or more messages in a field that the format does not read."""
IN_MESSAGES: frozenset[UnreadKind] = frozenset(("role", "part", "field", "tools"))
"""The kinds of content that lies in messages; the others lie between them."""
MOST_PLACES = 5
"""Places that are kept of each name."""
MOST_NAMES = 50
"""Different names that are kept of a chain."""


@dataclass(frozen=True, slots=True)
class UnreadPlace:
    """The position of a record in its document."""

    index: int
    """The place of the record among the lines, or the elements of the list, from 0; -1 for what lies beside the list."""
    line: int = 0
    """The line in the file, from 1, where each record has a line of its own; else 0."""


@dataclass(frozen=True, slots=True)
class Unread:
    """Everything of one kind and name that was not read."""

    kind: UnreadKind
    name: str
    """The type of the record or part, the role, or the name of the field; "" for a record that has no type."""
    count: int
    places: tuple[UnreadPlace, ...] = ()
    """The first few."""


def unread_rows(unread: Sequence[Unread]) -> list[list[Any]]:
    """Returns plain lists for a store; `unread_from` reads them."""
    return [[each.kind, each.name, each.count, [[place.index, place.line] for place in each.places]] for each in unread]


def unread_from(rows: Iterable[Sequence[Any]]) -> tuple[Unread, ...]:
    return tuple(
        Unread(kind, name, count, tuple(UnreadPlace(*place) for place in places)) for kind, name, count, places in rows
    )


_WHAT: dict[UnreadKind, tuple[str, str, str]] = {
    "record": ("record of", "records of", "type"),
    "role": ("message with", "messages with", "role"),
    "part": ("part of", "parts of", "type"),
    "field": ("text in", "texts in", "field"),
}
LONGEST_NAME = 60


def still_unread(unread: Sequence[Unread], roles: Callable[[], Container[str]]) -> tuple[Unread, ...]:
    """Return what is still unread after a change. An unknown role counts only while a message has it; `roles` returns the roles."""
    known = roles() if any(each.kind == "role" for each in unread) else ()
    return tuple(each for each in unread if each.kind != "role" or each.name in known)


def describe_unread(unread: Unread) -> str:
    """Return a sentence that names the content that was not read, and its first places."""
    name = unread.name[:LONGEST_NAME]
    if unread.kind == "instructions":
        return f"The field “{name}” beside the messages contains instructions that are not shown as a message."
    if unread.kind == "tools":
        return f"The field “{name}” of messages contains tool calls or results that are not shown."
    if unread.kind == "definitions":
        return f"The field “{name}” beside the messages contains tool definitions under a name that chainviz does not know."
    if unread.kind == "stream":
        return f"The field “{name}” contains a recorded stream that is not shown."
    if unread.kind == "list":
        return f"The field “{name}” beside the messages contains more messages, which this chain does not show."
    one, several, noun = _WHAT[unread.kind]
    named = f" (“{name}”)" if name else ""
    return f"{unread.count:,} {one if unread.count == 1 else several} a {noun} that chainviz does not know{named}{_where(unread)}."


def _where(unread: Unread) -> str:
    places = [place for place in unread.places if place.index >= 0]
    if not places:
        return ""
    word = "line" if places[0].line else "record"
    numbers = [f"{place.line or place.index + 1:,}" for place in places]
    more = ", …" if unread.count > len(numbers) else ""
    return f" in {word}{'s' if len(numbers) > 1 or more else ''} {', '.join(numbers)}{more}"


def refuse_unread(unread: Sequence[Unread]) -> None:
    """Raise Refused, with the content that was not read, unless `unread` is empty: a repair could lose what was not
    understood."""
    if unread:
        first = describe_unread(unread[0])
        more = f" {len(unread) - 1:,} more kinds of content were not read." if len(unread) > 1 else ""
        raise Refused(f"The chain is not fully read: {first}{more} It is not repaired, because that could lose what was not understood.")


UNREAD = "not-fully-read"
"""The rule of what was not read."""


def unread_problems(unread: Sequence[Unread]) -> Iterator[Problem]:
    """Yields a problem for each kind of content that was not read."""
    for each in unread:
        yield Problem(UNREAD, "unchecked", Path(1), 0, None, describe_unread(each))


Rewrite = Callable[[str], str]
"""Takes a text of the document and returns it rewritten. A text never begins or ends inside a JSON string."""


class Surroundings(Protocol):
    @property
    def is_single(self) -> bool:
        """Whether the document is one message in place of a list, such as a provider's response."""

    @property
    def ends_single(self) -> bool:
        """Whether the last message of the document is in no list: none can be added after it."""

    def holders(self) -> Iterator[dict[str, Any]]:
        """The objects around the list of messages, the nearest first, without the messages; nothing for lines."""

    @property
    def unread(self) -> Sequence[Unread]:
        """Content of the document that no message shows although its format does not know it. Empty if the chain is
        fully read."""

    def texts(self) -> Sequence[str]:
        """Return the texts of the document in order, in the spelling of the source, and those of its file that are
        written with it."""

    def document_texts(self) -> Sequence[str]:
        """Texts of the document without those of other documents in the same file."""

    def rewritten(self, rewrite: Rewrite) -> Surroundings | None:
        """Returns the surroundings with every text rewritten, or None where `rewrite` changes nothing. Each text is
        rewritten alone: what spans two of them is not seen as one."""


class NoSurroundings:
    """The surroundings of messages that no document contains: no texts, and nothing unread."""

    is_single = ends_single = False
    unread: Sequence[Unread] = ()

    def holders(self) -> Iterator[dict[str, Any]]:
        return iter(())

    def texts(self) -> Sequence[str]:
        return ()

    document_texts = texts

    def rewritten(self, rewrite: Rewrite) -> Surroundings | None:
        return None


NO_SURROUNDINGS = NoSurroundings()
