"""The contract of a format: how its documents are recognised, read and written, and what its API accepts."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Container, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from chainviz.core.chain.messages import Fragment, Message
from chainviz.core.documents.assemble import Join, UnitForm
from chainviz.core.documents.detection.recognition import Keys
from chainviz.core.documents.source import Source
from chainviz.core.documents.units import FoundList, Pointer, Sample, TextMember, Tree, Unit
from chainviz.core.documents.written_lists import Links
from chainviz.core.formats.requests.form import RequestForm

IMAGES = frozenset(("image/png", "image/jpeg", "image/gif", "image/webp"))
PDF = "application/pdf"
DOCUMENTS = frozenset(
    (PDF, "text/plain", "text/csv", "text/html", "text/markdown", "application/msword", "application/vnd.ms-excel",
     "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
     "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet")
)  # fmt: skip


class _Any:
    def __contains__(self, _: object) -> bool:
        return True


ANY: Container[str] = _Any()


@dataclass(frozen=True, slots=True)
class Accepts:
    """The parts that an API accepts from another provider's messages. Each part that is not declared here becomes text, or
    is left out, when a message moves into a format of the API (crossing.py)."""

    kinds: Container[str] = frozenset()
    """Kinds of opaque parts that are its own; only messages of another format of the same API bring them."""
    images: Container[str] = IMAGES
    """Media types of pictures that carry their bytes."""
    addresses: Container[str] = frozenset(("http", "https"))
    """Schemes of the addresses of pictures."""
    reasoning: bool = False
    """Reasoning without a signature of its own."""
    files: Container[str] = frozenset()
    """Media types of files, besides those of pictures."""
    media_of_model: bool = False
    """An AI message may hold pictures and files."""
    media_in_results: bool = True
    """A tool result may hold pictures; else they follow the results in a message of the user."""
    free_form_calls: bool = False
    """The arguments of a call may be plain text (OpenAI's custom tools)."""


COMPACT_SUMMARY = "compact summary"
"""The label of the message that stands for all before it."""


@dataclass(frozen=True, slots=True)
class Style:
    """The style of a document, for new content in it."""

    near: str = ""
    """Source text of the nearest message of the same role; "" where there is none."""
    ascii: bool = True
    """Non-ASCII characters are written as escapes."""
    slot: bool = False
    """A leading system message belongs into the slot beside the list."""
    number: int = 0
    """The message's place in a document that is rewritten, for ids that must not repeat."""


@dataclass(frozen=True, slots=True)
class Choice:
    """Something a person may decide about how a format is read."""

    name: str
    label: str
    values: tuple[tuple[str, str], ...]
    """Name and label of each; the first is the usual one. No two values of a format have the same name."""


class Format(Protocol):
    name: str
    """With choices that are not the usual ones behind a colon: `react_log:text,call`."""
    label: str
    tested_with: str
    """The tools, with their versions, whose files or types it was tried on."""
    slot_key: str = ""
    """Key of a top-level system beside the list ("" = this format has none). Its value comes as Unit(ordinal=SLOT)."""

    slot_aliases: tuple[str, ...] = ()
    """Other spellings of the slot's key, which documents keep."""

    def slots_of(self, inside: Pointer) -> Sequence[Pointer]:
        """Return where the slot of the list at `inside` may be; both pointers start at the region."""
        keys = (self.slot_key, *self.slot_aliases) if self.slot_key and inside else ()
        return tuple((*inside[:-1], key) for key in keys)

    template: str = ""
    """A new document with one empty list, the messages'; "" = a bare list."""

    def new_document(self, stored: int) -> str:
        """The template for so many messages. What is before the list does not depend on their number."""
        return self.template

    @property
    def list_key(self) -> str:
        """The key of the list in a new document; "" for a bare list."""
        members = json.loads(self.template).items() if self.template else ()
        return next((key for key, value in members if value == []), "")

    request: RequestForm | None = None
    """How requests spell tools and settings; None where a document of this format has no place for them."""

    training: RequestForm | None = None
    """The same for a line of a file for fine-tuning."""

    blocks_at: Pointer
    """Where in a unit the content blocks lie that Fragment.blocks counts; () where a unit is plain text, no JSON."""

    calls_at: Pointer = ()
    """Where in a unit its tool calls lie, in formats where they are a list beside the blocks."""

    links: Links | None = None
    """How a unit names the one it follows, in formats where it does."""

    join: Join | None = None
    """How a unit is put together of the fragments that messages own of it; None: the blocks of each in order."""

    takes: Callable[[Sequence[Fragment], Fragment], bool] | None = None
    """Whether a new fragment is written into the unit of these fragments, which it follows; None: the result half of a call is."""

    lines: bool = False
    """A new document of this format is JSON Lines (or plain lines), not one list."""

    any_near: bool = False
    """A message of another role shows how a new one is to be written, where there is none of its own."""

    api: str = ""
    """The API whose messages these are, or which a program sends them to as they are: formats of the same one understand each
    other's signatures and parts of every kind. "" for the storage of a program that uses several."""

    accepts: Accepts | None = None
    """What the API accepts of other providers' messages; None for a storage, which judges nothing."""

    carries_parts: bool = False
    """Parts of any other format are kept as they are."""

    packs: bool = False
    """A tool message may contain several results; otherwise each result is written as a message of its own."""

    names_results: bool = False
    """A result names the function that was called; one that does not gets the name of its call when it moves here."""

    joins_turns: bool = False
    """The API wants all results of a turn, and the text behind them, in one message."""

    user_tools: bool = False
    """A human message may call tools and hold their results, as in tau2's dual control."""

    late_system: str = ""
    """What becomes of a system message that does not open the chain; "" where it stays one."""

    writes: bool = True
    """Messages of this format can be changed and written; else it is read, exported as it came, and converted."""

    hints: tuple[str, ...] = ()
    """Keys, or values, of which every message of this format has at least one: what a scan looks for before it decodes anything.
    () for a format that is not JSON."""

    answers: tuple[Keys, ...] = ()
    """Where a document holds a single message, by its last keys without the indexes of lists:
    `("choices", "message")`; () where the document itself is the message."""

    sequences: tuple[tuple[Keys, ...], ...] = ()
    """Members of one object that make up one chain, in chain order, each a list or one message:
    `(("input",), ("output",))`. An attribute `{"key": K, "value": …}` counts as the member K; a member may also lie in a
    JSON string."""

    texts: tuple[TextMember, ...] = ()
    """Members of the document that may hold a message as a plain string; `sequences` calls them by their names."""

    tree: Tree | None = None
    """Where the messages of a chain are nodes of a tree."""

    copies: tuple[Keys, ...] = ()
    """Members in which all lists repeat what another list of the document holds, by their keys: they are no chains where
    there is another one."""

    carried_types: frozenset[str] = frozenset()
    """Values of `type` (or `role`) of records that the format knows to hold no message: heads of sessions, snapshots, summaries.
    Every other record that no message is read from is not understood."""

    carried_fields: frozenset[str] = frozenset()
    """Names of fields whose texts the format knows and does not show, beside KNOWN_FIELDS: copies of results, notes for the screen."""

    known_kinds: frozenset[str] = frozenset()
    """Types of parts that the format knows and carries as they are (`Opaque.kind`), beside those of `part_types`."""

    def is_known_kind(self, kind: str) -> bool:
        return kind in self.known_kinds

    def spoken(self, value: Any) -> Any:
        """The part of a record that its messages are to show, such as the chosen one of several versions of an answer."""
        return value

    def carried_in(self, value: object) -> frozenset[str]:
        """The `carried_fields` of one record."""
        return self.carried_fields

    known_roles: frozenset[str] = frozenset()
    """Roles that the format knows beside system, human, ai and tool."""

    def is_carried(self, value: object) -> bool:
        """Whether the format knows a decoded record from which no message is read."""
        names = [value.get("type"), value.get("role")] if isinstance(value, dict) else []
        return any(isinstance(name, str) and name in self.carried_types for name in names)

    choices: tuple[Choice, ...] = ()
    """What may be decided about reading it."""

    def chosen(self, values: Collection[str]) -> Format:
        """The format as it reads with these values of its choices, the usual ones otherwise."""
        return self

    def is_message(self, value: object) -> bool:
        """Whether a decoded member of a list (or a line) looks like a message, or a unit, of this format.

        `value` may be cut off: of a very long message only the first members are known. A list is offered where one of
        its first three objects is a message to any format; `confidence` then says which format it is.
        """
        return False

    def find(self, source: Source) -> tuple[FoundList, ...]:
        """The chains of a document that is not JSON, or that several chains share; () for every other one. In JSON, lists
        are found by `hints` and `is_message`."""
        return ()

    def confidence(self, sample: Sample) -> float:
        """Return 0 (cannot be) to 1 (certain); one message that no other format has makes a format nearly certain."""
        return 0.97 if any(self.is_message(value) for value in sample.values) else 0.0

    def read(self, units: Iterable[Unit]) -> Iterator[Message | Unit]:
        """Yield messages with their source fragments and part origins, in chain order. Units that are yielded are carried."""

    def message(self, role: str, source: tuple[Fragment, ...]) -> Message:
        """The message again from its stored fragments alone, equal to what `read` gave."""

    def write(self, message: Message, style: Style) -> tuple[Fragment, ...]:
        """The fragments of `message`.

        With source: only leaves that differ are patched (parts are matched by `origin`), ordinals, lead, unknown fields,
        key order and number spelling stay. Without: built with ordinal NEW. `message(role, write(m)) == m`.
        """

    def sent_from(self, messages: Sequence[Message]) -> int:
        """The place of the first message that a resumed session still sends: not what its last compaction left behind."""
        return max((place for place, message in enumerate(messages) if message.label == COMPACT_SUMMARY), default=0)

    def is_sent(self, message: Message) -> bool:
        """Whether an agent that resumes the session sends the message, which its compaction did not leave behind."""
        return True

    def sent_twice(self, messages: Sequence[Message]) -> Sequence[Fragment]:
        """The units because of which an agent that resumes the session would send something twice."""
        return ()

    def losses(self, message: Message) -> tuple[str, ...]:
        """Return a sentence for each thing that is lost when `message` is written without source."""


def unit_form(format: Format) -> UnitForm:
    return UnitForm(format.blocks_at, format.links, format.join, format.takes)


def refusal(format: Format) -> str:
    """Return the reason why nothing is written into a document of a read-only format."""
    return f"{format.label} is read-only: convert the chain to another format, then change that."


__all__ = ["Choice", "Format", "Sample", "Style", "refusal", "unit_form"]
