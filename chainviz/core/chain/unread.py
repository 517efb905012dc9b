"""What of a chain's document no message shows although its format does not know it: such a chain is not fully read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from chainviz.core.chain.paths import Path
from chainviz.core.chain.problems import Problem
from chainviz.core.errors import Refused

UnreadKind = Literal["record", "role", "part", "field", "instructions", "tools"]
"""A record without a message, a message with an unknown role, a part of an unknown type, texts in an unknown field of a record,
and instructions or tool calls in a field that the format does not read."""
IN_MESSAGES: frozenset[UnreadKind] = frozenset(("role", "part", "field", "tools"))
"""The kinds of content that lies in messages; the others lie between them."""
MOST_PLACES = 5
"""Places that are kept of each name."""
MOST_NAMES = 50
"""Different names that are kept of a chain."""


@dataclass(frozen=True, slots=True)
class UnreadPlace:
    """Where a record lies in its document."""

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


def describe_unread(unread: Unread) -> str:
    """Returns a sentence that names what was not read, and where the first of it lie."""
    name = unread.name[:LONGEST_NAME]
    if unread.kind == "instructions":
        return f"The field “{name}” beside the messages contains instructions that are not shown as a message."
    if unread.kind == "tools":
        return f"The field “{name}” of messages contains tool calls or results that are not shown."
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
    """Raises Refused, with what was not read, unless `unread` is empty: a repair could lose what was not understood."""
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
