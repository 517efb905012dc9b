"""The pieces of a document: units in file order, the envelope around them, and the places of message lists.

All offsets are bytes of the upload as UTF-8 (a UTF-16 upload is kept as UTF-8 and written back in its own encoding).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from chainviz.core.chain.messages import Fragment
from chainviz.core.chain.surroundings import Unread, unread_from, unread_rows

Read = Callable[[int, int], bytes]
"""The bytes of the upload from the first offset to the second."""
Pointer = tuple[str | int, ...]
"""Where a value lies in a JSON document: keys and indexes. In a JSON Lines file the first item is the line's index."""


@dataclass(frozen=True, slots=True)
class Unit:
    """One element of a message list or one line: `text` as the source spells it, `value` as JSON reads it."""

    ordinal: int
    lead: str
    text: str
    value: Any
    start: int
    """Byte offset of `text`; the lead lies just before it."""

    def fragment(self, blocks: tuple[int, ...] | None = None) -> Fragment:
        """Return the unit as a message's source; with `blocks` only those blocks of its content."""
        fragment = Fragment(self.ordinal, self.lead, self.text, blocks, self.start)
        if type(self.value) in (dict, list):
            object.__setattr__(fragment, "value", self.value)
        return fragment


@dataclass(frozen=True, slots=True)
class Span:
    """Bytes `start:end` of the upload."""

    start: int
    end: int


LIST_STEP = 1 << 40
"""Ordinals of the units of one list; the next list of the same chain counts on from the next multiple."""


@dataclass(frozen=True, slots=True)
class ListSpan:
    """One of the lists (or single messages) that make up a chain."""

    start: int
    """Byte offset of what lies between its brackets; in the text of `string`, where there is one."""
    end: int
    number: int = 0
    """Its place among the lists of the chain in file order."""
    single: bool = False
    string: Span | None = None
    """The JSON string that spells the list, without its quotation marks."""


@dataclass(frozen=True, slots=True)
class CarriedSpan:
    """A carried unit: a line or element that is not a message, or text between two lists of a chain; it is written back
    in place."""

    ordinal: int
    lead: int
    """Length of its lead in bytes; the lead lies just before `start`."""
    start: int
    end: int
    is_aside: bool = False
    """It is of another chain of the document: a line of another branch."""


@dataclass(frozen=True, slots=True)
class Lists:
    """The lists of a chain, by their numbers (ListSpan.number)."""

    order: tuple[int, ...]
    """All of them in chain order."""
    singles: tuple[int, ...] = ()
    """Those that are one message."""
    quoted: tuple[int, ...] = ()
    """Those that lie inside a JSON string."""
    spelled: tuple[CarriedSpan, ...] = ()
    """Units inside strings as the upload spells them, by ordinal."""


@dataclass(frozen=True, slots=True)
class Envelope:
    """Everything in a chain's document except its messages, as places in the upload."""

    region: Span
    """The chain's own document: the file, the line, or the object in a container that holds the list."""
    content: Span
    """What lies between the list's brackets up to its last element (JSON Lines: from the first line to the end of the last)."""
    pointer: Pointer
    """From the upload's root to the list."""
    lines: bool = False
    """Units are lines of a JSON Lines file."""
    inside: Pointer = ()
    """From the region to the list: the end of `pointer`."""
    lead: str = ""
    """The most frequent lead of a unit that is not the first: what a new unit gets."""
    first_lead: str = ""
    """The lead of the first unit."""
    single: bool = False
    """The document holds one message where others hold a list."""
    carried: tuple[CarriedSpan, ...] = ()
    slot_key: str = ""
    """The key of the top-level system beside the list, where the format has one ("" = it has none)."""
    slot: Span | None = None
    """The slot's value, if the document has it."""
    encoding: str = "utf-8"
    bom: bool = False
    warnings: tuple[str, ...] = ()
    """What was odd while reading, a sentence each: duplicate keys, NaN, lines that are not JSON."""
    unread: tuple[Unread, ...] = ()
    """What of the document no message shows although its format does not know it; () where the chain is fully read."""
    home: tuple[Span, Span] | None = None
    """Region and content in the upload, of a document whose surroundings were rewritten and are stored elsewhere."""
    lists: Lists | None = None
    """Of a chain that lies in several lists, or inside strings."""


@dataclass(frozen=True, slots=True)
class Tree:
    """Messages as nodes of a tree, in an object: `{key: {id: {member: message}}}`."""

    keys: tuple[str, ...]
    """The way to the tree from the object that holds it."""
    member: str
    """"" where the nodes are the messages."""
    path: Callable[[dict[str, Any]], Sequence[str]]
    """The ids of the nodes that make up the chain, in chain order, of the object that holds the tree."""
    parent: str = "parent"
    """The member of a node that names the one it follows."""
    copy: str = ""
    """The member of that object in which a list repeats the chain."""


@dataclass(frozen=True, slots=True)
class TextMember:
    """A member of a document that may be one message as a plain string."""

    key: str
    beside: tuple[str, ...]
    """Members of which the document has at least one."""

    @property
    def name(self) -> str:
        """The name of this member in a sequence; it differs from that of a list under the same key."""
        return f"{self.key} as text"


@dataclass(frozen=True, slots=True)
class Sample:
    """What detection looks at: the first units of a list and the plain members beside it."""

    values: tuple[Any, ...]
    beside: dict[str, Any]
    """Members of the object that holds the list, without the list; {} for a bare list."""
    key: str = ""
    """The member's name under which the list lies; "" for a bare list."""
    lines: bool = False
    document: dict[str, Any] = field(default_factory=dict)
    """Members of the chain's own document, the lists of messages in it emptied; {} where it is too large to look at."""


@dataclass(frozen=True, slots=True)
class FoundList:
    """A list of messages: its place, and enough of it to detect its format."""

    pointer: Pointer
    title: str
    """For a person: `simulations[3]`, `line 4`; "" where the file is one chain."""
    region: Span
    """The chain's own document (Envelope.region)."""
    start: int
    """Byte offset of what lies between the brackets (of the message itself if `single`, of the first line if `lines`)."""
    end: int
    inside: Pointer = ()
    """From the region to the list."""
    lines: bool = False
    single: bool = False
    raw: bool = False
    """It is plain text: one unit, which its format divides."""
    lists: tuple[ListSpan, ...] = ()
    """In chain order, where the chain lies in several lists or inside strings; () for the one list at start:end."""
    only: frozenset[int] | None = None
    """Where the units begin that belong to the chain, in bytes; the others are carried. None: all of them do."""
    left_out: frozenset[int] = frozenset()
    """Where units begin that are carried, in bytes."""
    key: str = ""
    """The name of the first list, where the pointer does not end with it (an attribute)."""
    sample: Sample = Sample((), {})
    warnings: tuple[str, ...] = ()
    """What was odd about the file, a sentence each; the envelope has them too."""
    unread: tuple[Unread, ...] = ()
    """Fields beside the messages that count as Envelope.unread."""


    @property
    def around(self) -> tuple[Span, ...]:
        """The ranges of the region outside the lists."""
        taken = sorted((each.string or Span(each.start, each.end) for each in self.lists), key=lambda span: span.start)
        taken = taken or [Span(self.start, self.end)]
        starts = (self.region.start, *(span.end for span in taken))
        return tuple(map(Span, starts, (*(span.start for span in taken), self.region.end)))


EMPTY_ENVELOPE = Envelope(Span(0, 0), Span(0, 0), (), lead=",\n  ", first_lead="\n  ")
"""A chain that no upload holds: it is written as a bare list."""


def to_json(envelope: Envelope) -> str:
    values = asdict(envelope)
    values["carried"] = _from_spans(envelope.carried)
    values["unread"] = unread_rows(envelope.unread)
    if envelope.lists is not None:
        values["lists"]["spelled"] = _from_spans(envelope.lists.spelled)
    return json.dumps(values, separators=(",", ":"))


def from_json(text: str) -> Envelope:
    values: dict[str, Any] = json.loads(text)
    for key in ("region", "content", "slot"):
        values[key] = Span(**values[key]) if values[key] is not None else None
    if values.get("home") is not None:
        values["home"] = tuple(Span(**span) for span in values["home"])
    for key in ("pointer", "inside", "warnings"):
        values[key] = tuple(values[key])
    values.pop("not_understood", None)  # sentences, as earlier releases stored it
    values["unread"] = unread_from(values.get("unread", ()))
    values["carried"] = _to_spans(values["carried"])
    if values.get("lists") is not None:
        spelled = _to_spans(values["lists"].pop("spelled"))
        values["lists"] = Lists(**{key: tuple(items) for key, items in values["lists"].items()}, spelled=spelled)
    return Envelope(**values)


def _from_spans(spans: tuple[CarriedSpan, ...]) -> list[list[int]]:
    return [[span.ordinal, span.lead, span.start, span.end, *([1] if span.is_aside else [])] for span in spans]


def _to_spans(items: list[list[int]]) -> tuple[CarriedSpan, ...]:
    return tuple(CarriedSpan(ordinal, lead, start, end, bool(aside)) for ordinal, lead, start, end, *aside in items)
