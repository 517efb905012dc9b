"""The pieces of a document: units in file order, the envelope around them, and where a message list lies (DESIGN 4.1).

All offsets are bytes of the upload as UTF-8 (a UTF-16 upload is kept as UTF-8 and written back in its own encoding).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from chainviz.core.chain.messages import Fragment

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
        """As a message's source; with `blocks` only those of its content."""
        return Fragment(self.ordinal, self.lead, self.text, blocks, self.start)


@dataclass(frozen=True, slots=True)
class Span:
    """Bytes `start:end` of the upload."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class CarriedSpan:
    """A carried unit: a line or element that is no message and is written back in place."""

    ordinal: int
    lead: int
    """Length of its lead in bytes; the lead lies just before `start`."""
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Envelope:
    """Everything of a chain's document that is no message, as places in the upload."""

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
    """What was odd while reading, a sentence each: duplicate keys, NaN, lines that are no JSON."""
    home: tuple[Span, Span] | None = None
    """Region and content in the upload, of a document whose surroundings were written anew and lie elsewhere since."""


@dataclass(frozen=True, slots=True)
class Sample:
    """What detection looks at: the first units of a list and the plain members beside it."""

    values: tuple[Any, ...]
    beside: dict[str, Any]
    """Members of the object that holds the list, without the list; {} for a bare list."""
    key: str = ""
    """The member's name under which the list lies; "" for a bare list."""
    lines: bool = False


@dataclass(frozen=True, slots=True)
class FoundList:
    """A list of messages: where it lies, and enough of it to tell its format."""

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
    sample: Sample = Sample((), {})
    warnings: tuple[str, ...] = ()
    """What was odd about the file, a sentence each; the envelope has them too."""


EMPTY_ENVELOPE = Envelope(Span(0, 0), Span(0, 0), (), lead=",\n  ", first_lead="\n  ")
"""A chain that no upload holds: it is written as a bare list."""
