"""Write units back into their lists: separators between units, lists in their places, escapes inside strings."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain as link
from typing import TypeVar

from chainviz.core.chain.messages import NEW, Fragment
from chainviz.core.documents.json import edit as json_edit
from chainviz.core.documents.json.decode import quoted, unquoted
from chainviz.core.documents.json.scan import to_bytes
from chainviz.core.documents.units import LIST_STEP, Envelope, Lists, Read

_NOWHERE = -10
_TEXT = re.compile(rb'\A([\s,]*)(".*")\s*\Z', re.DOTALL)
"""A unit that is a JSON string, with its lead."""


@dataclass(frozen=True, slots=True)
class Piece:
    """One unit, or several consecutive units of the upload."""

    ordinal: int
    last: int
    lead: str
    content: Iterable[bytes]
    is_carried: bool = False
    """The unit is copied from the upload unchanged."""
    is_aside: bool = False
    """The unit belongs to another chain of the document."""


def with_leads(envelope: Envelope, pieces: Iterable[Piece], number: int = 0) -> Iterator[tuple[str, Piece]]:
    """Yield each unit of a list with its lead: its own if its place is unchanged, otherwise one that fits the new place."""
    before: int | None = None
    for piece in pieces:
        stays = piece.ordinal >= 0 and piece.ordinal - 1 == (number * LIST_STEP - 1 if before is None else before)
        if stays:
            lead = piece.lead
        elif before is None:
            lead = envelope.first_lead if not number else ""
        else:
            lead = _inner_lead(envelope, piece)
        before = piece.last if piece.last >= 0 else _NOWHERE
        yield lead, piece


def _inner_lead(envelope: Envelope, piece: Piece) -> str:
    mark, usual = ("\n", "\n") if envelope.lines else (",", ", ")
    for lead in (piece.lead if piece.ordinal >= 0 else "", envelope.lead):
        if mark in lead:
            return lead
    return usual


def single(units: Iterator[bytes]) -> Iterator[bytes]:
    """Yield a single message in place of a list. No message becomes null, and several messages become a list, in which a bare text,
    such as the `input` of OpenAI's Responses, is a message of the user."""
    first = next(units, b"null")
    second = next(units, None)
    if second is None:
        yield first
        return
    yield b"["
    yield from (_TEXT.sub(rb'\1{"role": "user", "content": \2}', unit) for unit in link((first, second), units))
    yield b"]"


Part = TypeVar("Part")


def by_list(sources: Iterable[tuple[Part, ...]], lists: Lists) -> Iterator[tuple[Part, ...]]:
    """Yield the sources of a chain's messages in file order of their lists.

    The order of the chain is kept: a message that was moved after one of a later list joins that list. A new message joins the list of
    the message before it or, at the beginning of the chain, of the message after it.
    """
    ranks = {number: rank for rank, number in enumerate(lists.order)}
    filed: list[list[tuple[Part, ...]]] = [[] for _ in lists.order]
    leading: list[tuple[Part, ...]] = []
    rank = NEW
    for source in sources:
        own = next((each.ordinal for each in source if isinstance(each, Fragment) and each.ordinal >= 0), NEW)
        if own >= 0:
            rank = max(rank, ranks[own // LIST_STEP])
        if rank == NEW:
            leading.append(source)
            continue
        filed[lists.order[rank]] += [*leading, source]
        leading = []
    filed[lists.order[0]] += leading
    for number in range(len(filed)):
        yield from filed[number]


class ListWriter:
    """Writes the units of a chain in several lists, with the text between the lists."""

    def __init__(self, envelope: Envelope, lists: Lists, read: Read) -> None:
        self._envelope = envelope
        self._lists = lists
        self._read = read
        self._spelled = {span.ordinal: span for span in lists.spelled}

    def written(self, pieces: Iterable[Piece]) -> Iterator[bytes]:
        number = 0
        units: list[Piece] = []
        for piece in pieces:
            if piece.is_carried and piece.ordinal == (number + 1) * LIST_STEP - 1:
                yield from self._list(number, units)
                yield from piece.content
                number, units = number + 1, []
            else:
                units.append(piece)
        yield from self._list(number, units)

    def _list(self, number: int, pieces: list[Piece]) -> Iterator[bytes]:
        led = with_leads(self._envelope, pieces, number)
        if number in self._lists.quoted:
            units = (self._quoted(lead, piece) for lead, piece in led)
        else:
            units = (to_bytes(lead) + b"".join(piece.content) for lead, piece in led)
        return single(units) if number in self._lists.singles else units

    def _quoted(self, lead: str, piece: Piece) -> bytes:
        """Return the unit inside a string, in the spelling of the upload if it is unchanged."""
        content = b"".join(piece.content)
        if piece.is_carried:
            return to_bytes(lead) + content
        unit = to_bytes(lead) + content
        span = self._spelled.get(piece.ordinal)
        spelled = self._read(span.start - span.lead, span.end) if span else b""
        if span and unquoted(spelled) == unit:
            return spelled
        model = spelled or b"".join(self._read(each.start, each.end) for each in self._lists.spelled[:1])
        return to_bytes(quoted(unit.decode("utf-8", "surrogateescape"), ascii_only=model.isascii()))


# Units may name the unit before them, as a line of Claude Code names its parent. An edit changes these links: a new or moved line, or
# one whose parent was removed, gets the line before it as its parent, and the children of that line become children of the new line.
# All other lines keep their parents, so branches of a session stay branches. Lines of other branches change only if their parent did.


@dataclass(frozen=True, slots=True)
class Links:
    """The names of the members with a unit's id, the id of its parent, the mark of a side chain, and the id of the first unit that a
    compaction kept. `shares`: a new unit at a fork belongs to all branches."""

    own: str
    parent: str
    aside: str
    kept: str = ""
    shares: bool = True


def uuid_of(text: str) -> str:
    """Return an id in the form of a UUID that depends only on `text`."""
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
    return "-".join((digest[:8], digest[8:12], digest[12:16], digest[16:20], digest[20:32]))


class Linker:
    """Updates the links of units, one at a time, in the order in which they are written."""

    def __init__(self, links: Links) -> None:
        self._links = links
        self._written: set[str] = set()
        self._before = self._highest = NEW
        self._has_gaps = False
        self._anchors: dict[bool, str] = {}
        self._latest_of: dict[bool, str] = {}
        """The ids of the last unit that kept its place and of the last unit, for side chains (True) and for the main chain."""
        self._heirs: dict[tuple[bool, str], str] = {}
        """For each unit that kept its place, the last new unit after it, which becomes the parent of its children."""
        self._instead: dict[str, str] = {}
        """For each removed unit, the unit that replaces it as a parent."""

    def linked(self, ordinal: int, text: str) -> str:
        own, parent, is_linked, aside = self._ids(text)
        anchor, latest = self._anchors.get(aside, ""), self._latest_of.get(aside, "")
        stands = self._stands(ordinal)
        if is_linked:
            if not stands:
                if ordinal == NEW or own in self._written:
                    own = uuid_of(f"{latest} {own}")
                    text = json_edit.replace_at(text, (self._links.own,), json_edit.quote(own))
                text = self._after(latest, text)
                self._heirs[aside, anchor] = own
            elif heir := self._heir(aside, parent):
                text = self._after(heir, text)
            elif self._is_gone(parent) and (latest or not aside):
                self._instead[parent] = latest
                text = self._after(latest, text)
            self._latest_of[aside] = own
            self._anchors[aside] = own if stands else anchor
        self._written.add(own)
        return text

    def beside(self, ordinal: int, text: str) -> str:
        """Return a unit of another branch, linked to the replacement of a unit that was removed."""
        self._stands(ordinal)
        own, parent, is_linked, aside = self._ids(text)
        heir = self._heirs.get((aside, parent)) if parent and self._links.shares else None
        if is_linked and heir:
            text = self._after(heir, text)
        elif is_linked and self._is_gone(parent) and not aside:
            text = self._after(self._instead.get(parent, self._latest_of.get(aside, "")), text)
        self._written.add(own)
        return text

    def _stands(self, ordinal: int) -> bool:
        """Return True if a unit keeps its place."""
        stands = ordinal > self._highest
        self._has_gaps = self._has_gaps or ordinal != self._before + 1
        self._before, self._highest = ordinal, max(ordinal, self._highest)
        return stands

    def _is_gone(self, parent: str) -> bool:
        return bool(parent) and self._has_gaps and parent not in self._written

    def _heir(self, aside: bool, parent: str) -> str:
        """Return the unit that replaces a parent. A unit without a parent begins the chain, or continues it after a compaction."""
        key = aside, parent
        return self._heirs.get(key, "") if parent else self._heirs.pop(key, "")

    def _after(self, latest: str, text: str) -> str:
        parent = json_edit.quote(latest) if latest else "null"
        return json_edit.replace_at(text, (self._links.parent,), parent)

    def _ids(self, text: str) -> tuple[str, str, bool, bool]:
        """Return a unit's own id and that of its parent ("" for none), whether it has a parent, and whether it is in a side chain."""
        links = self._links
        try:
            value = json_edit.parse(text)
        except (ValueError, RecursionError):
            value = None
        if type(value) is not dict or not isinstance(value.get(links.own), str):
            return "", "", False, False
        parent = value.get(links.parent)
        aside = value.get(links.aside) is True
        return value[links.own], parent if isinstance(parent, str) else "", links.parent in value, aside
