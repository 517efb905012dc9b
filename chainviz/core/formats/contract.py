"""What a format is: provider document to messages and back, one file a format."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Protocol

from chainviz.core.chain.messages import Fragment, Message
from chainviz.core.documents.links import Links
from chainviz.core.documents.source import Source
from chainviz.core.documents.units import FoundList, Pointer, Sample, Unit


@dataclass(frozen=True, slots=True)
class Style:
    """How the document writes, for what is new in it."""

    near: str = ""
    """Source text of the nearest message of the same role; "" where there is none."""
    ascii: bool = True
    """Non-ASCII characters are written as escapes."""
    slot: bool = False
    """A leading system message belongs into the slot beside the list."""
    number: int = 0
    """The message's place in a document that is written anew, for ids that must not repeat."""


class Format(Protocol):
    name: str
    label: str
    slot_key: str = ""
    """Key of a top-level system beside the list ("" = this format has none). Its value comes as Unit(ordinal=SLOT)."""

    template: str = ""
    """A new document with an empty list under `messages`; "" = a bare list."""

    blocks_at: Pointer
    """Where in a unit the content blocks lie that Fragment.blocks counts; () where a unit is plain text, no JSON."""

    links: Links | None = None
    """How a unit names the one it follows, in formats where it does."""

    lines: bool = False
    """A new document of this format is JSON Lines (or plain lines), not one list."""

    packs: bool = True
    """A tool message may hold several results; else each has a message of its own."""

    def find(self, source: Source) -> tuple[FoundList, ...]:
        """The lists of a document that is not JSON; () where it is none of this format. JSON is found for all formats."""
        return ()

    def confidence(self, sample: Sample) -> float:
        """0 (cannot be) to 1 (certain)."""

    def read(self, units: Iterable[Unit]) -> Iterator[Message | Unit]:
        """Messages with their source fragments and part origins, in chain order; a Unit that comes back is carried."""

    def message(self, role: str, source: tuple[Fragment, ...]) -> Message:
        """The message again from its stored fragments alone, equal to what `read` gave."""

    def write(self, message: Message, style: Style) -> tuple[Fragment, ...]:
        """The fragments of `message`.

        With source: only leaves that differ are patched (parts are matched by `origin`), ordinals, lead, unknown fields,
        key order and number spelling stay. Without: built anew with ordinal NEW. `message(role, write(m)) == m`.
        """

    def losses(self, message: Message) -> tuple[str, ...]:
        """What the format has no place for when `message` is written without source, a sentence each."""


__all__ = ["Format", "Sample", "Style"]
