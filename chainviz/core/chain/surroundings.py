"""The content of a document beside the messages of a chain: the fields around the message list, a top-level system prompt, lines
that are not messages, and content that was not read."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from chainviz.core.chain.paths import Path
from chainviz.core.chain.problems import Problem
from chainviz.core.counts import count_text
from chainviz.core.errors import NotFullyRead

# A chain is not fully read if its document has content that its format does not know and that no message shows.


UnreadKind = Literal["record", "role", "part", "field", "instructions", "tools", "definitions", "stream", "list"]
"""In order: a record without a message, a message with an unknown role, a part of an unknown type and a text in an unknown field;
then a field with instructions, tool calls, tool definitions, a recorded stream or more messages that the format does not read."""
IN_MESSAGES: frozenset[UnreadKind] = frozenset(("role", "part", "field", "tools"))
"""The kinds of unread content inside messages; the other kinds are between messages."""
MOST_PLACES = 5
"""The number of places kept for each name."""
MOST_NAMES = 50
"""The number of names kept for a chain."""


@dataclass(frozen=True, slots=True)
class UnreadPlace:
    """The position of a record in its document."""

    index: int
    """The index of the record among the lines or list elements; -1 for content beside the list."""
    line: int = 0
    """The line in the file, from 1, if each record has its own line; otherwise 0."""


@dataclass(frozen=True, slots=True)
class Unread:
    """All unread content of one kind and name."""

    kind: UnreadKind
    name: str
    """The type of the record or part, the role, or the name of the field; "" for a record without a type."""
    count: int
    places: tuple[UnreadPlace, ...] = ()
    """The first places, at most MOST_PLACES."""


def unread_rows(unread: Sequence[Unread]) -> list[list[Any]]:
    """Return the unread content as plain lists for the store. `unread_from` reads them back."""
    return [[each.kind, each.name, each.count, [[place.index, place.line] for place in each.places]] for each in unread]


def unread_from(rows: Iterable[Sequence[Any]]) -> tuple[Unread, ...]:
    return tuple(Unread(kind, name, count, tuple(UnreadPlace(*place) for place in places)) for kind, name, count, places in rows)


_WHAT: dict[UnreadKind, tuple[str, str, str]] = {
    "record": ("record of", "records of", "type"),
    "role": ("message with", "messages with", "role"),
    "field": ("text in", "texts in", "field"),
}
_NOT_SHOWN: dict[UnreadKind, str] = {
    "instructions": "The field “{}” beside the messages contains instructions that are not shown as a message.",
    "tools": "The field “{}” of messages contains tool calls or results that are not shown.",
    "definitions": "The field “{}” beside the messages contains tool definitions under a name that chainviz does not know.",
    "stream": "The field “{}” contains a recorded stream that is not shown.",
    "list": "The field “{}” beside the messages contains more messages, which this chain does not show.",
}
LONGEST_NAME = 60


def still_unread(unread: Sequence[Unread], roles: Callable[[], Container[str]]) -> tuple[Unread, ...]:
    """Return the content that is still unread after a change. An unknown role counts only if `roles()` still contains it."""
    known = roles() if any(each.kind == "role" for each in unread) else ()
    return tuple(each for each in unread if each.kind != "role" or each.name in known)


def describe_unread(unread: Unread) -> str:
    """Return a sentence that names the content that was not read, and its first places."""
    name = unread.name[:LONGEST_NAME]
    if unread.kind in _NOT_SHOWN:
        return _NOT_SHOWN[unread.kind].format(name)
    named = f" (“{name}”)" if name else ""
    if unread.kind == "part":
        return f"{count_text(unread.count, 'part')}{named}{_where(unread)} cannot be read: its type is unknown, or a field is missing."
    one, several, noun = _WHAT[unread.kind]
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
    """Raise Refused with the content that was not read, if there is any: a repair could lose it."""
    if unread:
        first = describe_unread(unread[0])
        more = f" {len(unread) - 1:,} more kinds of content were not read." if len(unread) > 1 else ""
        why = "It is not repaired, because that could lose what was not understood."
        raise NotFullyRead(f"The chain is not fully read: {first}{more} {why}")


UNREAD = "not-fully-read"
"""The rule that reports unread content."""


def unread_problems(unread: Sequence[Unread]) -> Iterator[Problem]:
    """Yield a problem for each kind and name of unread content."""
    for each in unread:
        yield Problem(UNREAD, "unchecked", Path(1), 0, None, describe_unread(each))


Rewrite = Callable[[str], str]
"""A function that rewrites one text of a document. The text never begins or ends inside a JSON string."""


class Surroundings(Protocol):
    @property
    def is_single(self) -> bool:
        """True if the document is a single message instead of a list, such as a provider's response."""

    @property
    def ends_single(self) -> bool:
        """True if the last message of the document is outside any list, so that no message can be added after it."""

    def holders(self) -> Iterator[dict[str, Any]]:
        """Yield the objects around the message list, innermost first, without the messages. JSON Lines have none."""

    @property
    def unread(self) -> Sequence[Unread]:
        """Content that the format does not know and that no message shows. Empty if the chain is fully read."""

    def texts(self) -> Sequence[str]:
        """Return the texts of the document in order, spelled as in the source, with the other texts of its file that are written
        with it."""

    def document_texts(self) -> Sequence[str]:
        """Return the texts of the document, without the texts of other documents in the same file."""

    def first_records(self, most: int) -> Sequence[str]:
        """Return the first records of the document that are not messages of the chain, without reading the others."""

    def rewritten(self, rewrite: Rewrite) -> Surroundings | None:
        """Return the surroundings with every text rewritten, or None if `rewrite` changes nothing. Each text is rewritten on
        its own, so content that spans two texts is not recognized."""


class NoSurroundings:
    """The surroundings of messages without a document: no texts, nothing unread."""

    is_single = ends_single = False
    unread: Sequence[Unread] = ()

    def holders(self) -> Iterator[dict[str, Any]]:
        return iter(())

    def texts(self) -> Sequence[str]:
        return ()

    document_texts = texts

    def first_records(self, most: int) -> Sequence[str]:
        return ()

    def rewritten(self, rewrite: Rewrite) -> Surroundings | None:
        return None


NO_SURROUNDINGS = NoSurroundings()
