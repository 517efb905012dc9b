"""The pieces of a document: units in file order, the envelope around them, and the positions of message lists.

All offsets count bytes of the upload as UTF-8. A UTF-16 upload is stored as UTF-8 and written back in its own encoding.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, NamedTuple

from chainviz.core.chain.messages import Fragment
from chainviz.core.chain.surroundings import Unread, unread_from, unread_rows

Read = Callable[[int, int], bytes]
"""A function that returns bytes `start:end` of the upload."""
Pointer = tuple[str | int, ...]
"""The position of a value in a JSON document: keys and indexes. In a JSON Lines file, the first item is the index of the line."""


class Unit(NamedTuple):
    """One element of a message list, or one line: its `text` in the source, and its decoded `value`."""

    ordinal: int
    lead: str
    text: str
    value: Any
    start: int
    """Byte offset of `text`, just after the lead."""

    def fragment(self, blocks: tuple[int, ...] | None = None) -> Fragment:
        """Return the unit as the source of a message, or only these `blocks` of its content."""
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
"""The distance between the first ordinals of two lists in the same chain."""


@dataclass(frozen=True, slots=True)
class ListSpan:
    """One of the lists, or single messages, that make up a chain."""

    start: int
    """Byte offset of the content between the brackets; in the decoded text of `string`, if there is one."""
    end: int
    number: int = 0
    """The index among the lists of the chain, in file order."""
    single: bool = False
    string: Span | None = None
    """The JSON string that contains the list, without its quotation marks."""


@dataclass(frozen=True, slots=True)
class CarriedSpan:
    """A carried unit: a line or element that is not a message, or the text between two lists of a chain. It is written back in its
    place."""

    ordinal: int
    lead: int
    """Length in bytes of the lead, which ends at `start`."""
    start: int
    end: int
    is_aside: bool = False
    """The unit belongs to another chain of the document, such as another branch of a session."""


@dataclass(frozen=True, slots=True)
class Lists:
    """The lists of a chain in several lists, identified by ListSpan.number."""

    order: tuple[int, ...]
    """All lists in chain order."""
    singles: tuple[int, ...] = ()
    """Lists that are a single message."""
    quoted: tuple[int, ...] = ()
    """Lists inside a JSON string."""
    spelled: tuple[CarriedSpan, ...] = ()
    """Where the upload has the units inside strings, by ordinal."""


@dataclass(frozen=True, slots=True)
class Envelope:
    """Everything in a chain's document except its messages, as positions in the upload."""

    region: Span
    """The chain's own document: the file, a line, or the object in a larger document that contains the list."""
    content: Span
    """From the list's opening bracket to the end of its last element. In JSON Lines, from the first line to the end of the last."""
    pointer: Pointer
    """The list's position from the root of the upload."""
    lines: bool = False
    """Units are lines of a JSON Lines file."""
    inside: Pointer = ()
    """The list's position from the region; the end of `pointer`."""
    lead: str = ""
    """The most frequent lead of units other than the first. New units get it."""
    first_lead: str = ""
    """The lead of the first unit."""
    single: bool = False
    """The document contains a single message instead of a list."""
    carried: tuple[CarriedSpan, ...] = ()
    slot_key: str = ""
    """The key of the top-level system prompt beside the list; "" if the format has none."""
    slot: Span | None = None
    """The slot's value, if the document has it."""
    encoding: str = "utf-8"
    bom: bool = False
    warnings: tuple[str, ...] = ()
    """A sentence for each oddity of the file, such as duplicate keys, NaN and lines that are not JSON."""
    unread: tuple[Unread, ...] = ()
    """Content that the format does not know and that no message shows; () if the chain is fully read."""
    home: tuple[Span, Span] | None = None
    """Region and content in the upload, if the text around the messages was rewritten and is stored elsewhere."""
    lists: Lists | None = None
    """The lists of a chain in several lists or inside strings; None for one list."""


@dataclass(frozen=True, slots=True)
class Tree:
    """A place for messages that are nodes of a tree in a document: `{key: {id: {member: message}}}`."""

    keys: tuple[str, ...]
    """The keys from the object that contains the tree to its nodes."""
    member: str
    """The member of a node with the message; "" if the node is the message."""
    path: Callable[[dict[str, Any]], Sequence[str]]
    """Returns the ids of the chain's nodes, in chain order, from the object that contains the tree."""
    parent: str = "parent"
    """The member of a node with the id of the node before it."""
    copy: str = ""
    """The member of the object whose list repeats the chain; "" if there is none."""


@dataclass(frozen=True, slots=True)
class TextMember:
    """A member of a document that may be one message as a plain string."""

    key: str
    beside: tuple[str, ...]
    """Other members, of which the document must have at least one."""

    @property
    def name(self) -> str:
        """The name of this member in `Format.sequences`, which differs from that of a list with the same key."""
        return f"{self.key} as text"


@dataclass(frozen=True, slots=True)
class Sample:
    """The sample by which a format is detected: the first units of a list, and the members beside the list."""

    values: tuple[Any, ...]
    beside: dict[str, Any]
    """Members of the object that contains the list, without the list; {} for a bare list."""
    key: str = ""
    """The key of the list; "" for a bare list."""
    lines: bool = False
    document: dict[str, Any] = field(default_factory=dict)
    """Members of the chain's own document, with empty message lists; {} if the document is too large."""


@dataclass(frozen=True, slots=True)
class FoundList:
    """A message list that was found in a file, with a sample by which its format can be detected."""

    pointer: Pointer
    title: str
    """The place for a person: `simulations[3]`, `line 4`; "" if the file is one chain."""
    region: Span
    """The chain's own document (Envelope.region)."""
    start: int
    """Byte offset of the content between the brackets, of the message if `single`, or of the first line if `lines`."""
    end: int
    inside: Pointer = ()
    """The list's position from the region."""
    lines: bool = False
    single: bool = False
    raw: bool = False
    """The region is plain text: one unit, which its format splits."""
    lists: tuple[ListSpan, ...] = ()
    """The lists in chain order, if there are several or they are inside strings; () for the one list at start:end."""
    only: frozenset[int] | None = None
    """Byte offsets of the units that belong to the chain; all others are carried. None if all units belong to it."""
    left_out: frozenset[int] = frozenset()
    """Byte offsets of units that are carried."""
    key: str = ""
    """The key of the first list, if the pointer does not end with it (an attribute)."""
    sample: Sample = Sample((), {})
    warnings: tuple[str, ...] = ()
    """A sentence for each oddity of the file; the envelope has them too."""
    unread: tuple[Unread, ...] = ()
    """Fields beside the messages that count as Envelope.unread."""
    skips_others: bool = False
    """Units that are not in `only` are neither decoded nor carried."""

    @property
    def around(self) -> tuple[Span, ...]:
        """The ranges of the region outside the lists."""
        taken = sorted((each.string or Span(each.start, each.end) for each in self.lists), key=lambda span: span.start)
        taken = taken or [Span(self.start, self.end)]
        starts = (self.region.start, *(span.end for span in taken))
        return tuple(map(Span, starts, (*(span.start for span in taken), self.region.end)))

    def skips(self, offset: int) -> bool:
        """Return True if the unit at an offset is neither decoded nor carried."""
        return self.skips_others and self.only is not None and offset not in self.only

    def without_others(self) -> FoundList:
        """Return the list for a reader that needs its messages and no envelope: lines of other chains are skipped."""
        if self.only is None:
            return self
        return replace(self, start=min(self.only, default=self.region.end), skips_others=True)


EMPTY_ENVELOPE = Envelope(Span(0, 0), Span(0, 0), (), lead=",\n  ", first_lead="\n  ")
"""The envelope of a chain without an upload, which is written as a bare list."""


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
