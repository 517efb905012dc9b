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
    """The parts that an API accepts from another provider's messages. Any other part becomes text, or is left out, when a message
    moves into a format of the API (cross_provider.py)."""

    kinds: Container[str] = frozenset()
    """Kinds of opaque parts that the API defines. Only messages of another format of the same API have them."""
    images: Container[str] = IMAGES
    """Media types of embedded images."""
    addresses: Container[str] = frozenset(("http", "https"))
    """URL schemes of linked images."""
    reasoning: bool = False
    """The API accepts reasoning without a signature of its own."""
    files: Container[str] = frozenset()
    """Media types of files, apart from images."""
    media_of_model: bool = False
    """An AI message may contain images and files."""
    media_in_results: bool = True
    """A tool result may contain images; otherwise they follow the results in a user message."""
    free_form_calls: bool = False
    """The arguments of a call may be plain text (OpenAI's custom tools)."""


COMPACT_SUMMARY = "compact summary"
"""The label of a summary that replaces all messages before it."""


@dataclass(frozen=True, slots=True)
class Style:
    """How to write a new message so that it matches its document."""

    near: str = ""
    """Source text of the nearest message of the same role; "" if there is none."""
    ascii: bool = True
    """Non-ASCII characters are written as escapes."""
    slot: bool = False
    """The message is a leading system message that belongs in the slot beside the list."""
    number: int = 0
    """The message's index in the new document, for ids that must not repeat."""


@dataclass(frozen=True, slots=True)
class Choice:
    """An option of reading a format that a person may choose."""

    name: str
    label: str
    values: tuple[tuple[str, str], ...]
    """Name and label of each value; the first is the default. Names are unique within a format."""


class Format(Protocol):
    name: str
    """The name; choices other than the default follow a colon: `react_log:text,call`."""
    label: str
    tested_with: str
    """The tools and versions whose files or types the format was tested with."""
    slot_key: str = ""
    """Key of a top-level system prompt beside the list; "" if the format has none. Its value is read as Unit(ordinal=SLOT)."""

    slot_aliases: tuple[str, ...] = ()
    """Other spellings of the slot's key. A document keeps its own spelling."""

    def slots_of(self, inside: Pointer) -> Sequence[Pointer]:
        """Return the possible pointers of the slot for the list at `inside`. All pointers are relative to the region."""
        keys = (self.slot_key, *self.slot_aliases) if self.slot_key and inside else ()
        return tuple((*inside[:-1], key) for key in keys)

    template: str = ""
    """A new document whose only list is the empty message list; "" for a bare list."""

    def new_document(self, stored: int) -> str:
        """Return the template of a document with `stored` messages. The text before the list must not depend on the number."""
        return self.template

    @property
    def list_key(self) -> str:
        """The key of the list in a new document; "" for a bare list."""
        members = json.loads(self.template).items() if self.template else ()
        return next((key for key, value in members if value == []), "")

    request: RequestForm | None = None
    """How a request spells tools and settings; None if documents of this format have no place for them."""

    training: RequestForm | None = None
    """How a line of a fine-tuning file spells tools and settings; None if the format has no such files."""

    blocks_at: Pointer
    """Where a unit has the content blocks that Fragment.blocks numbers; () if a unit is plain text instead of JSON."""

    calls_at: Pointer = ()
    """Where a unit has its tool calls, if they are a list beside the blocks."""

    links: Links | None = None
    """How a unit names the unit it follows; None if units have no links."""

    join: Join | None = None
    """Assembles a unit from the fragments of its messages; None to join their blocks in order."""

    takes: Callable[[Sequence[Fragment], Fragment], bool] | None = None
    """Whether a new fragment joins the unit of the fragments before it; None if only the result half of a call does."""

    lines: bool = False
    """A new document of this format is JSON Lines (or plain lines), not one list."""

    any_near: bool = False
    """A new message may take its style from a message of another role, if none has its own."""

    api: str = ""
    """The API that sends and receives these messages. Formats of the same API understand each other's signatures and parts of
    every kind. "" for the storage of a program that uses several APIs."""

    accepts: Accepts | None = None
    """The parts that the API accepts from other providers; None for storage, which accepts everything."""

    carries_parts: bool = False
    """Parts of any other format are stored unchanged."""

    packs: bool = False
    """A tool message may contain several results; otherwise each result is written as a message of its own."""

    names_results: bool = False
    """Results name the function that was called. A result without a name gets that of its call when it moves to this format."""

    results_in_calls: bool = False
    """A result is stored in its call, so there is no place for one whose turn lacks the call."""

    joins_turns: bool = False
    """The API requires all results of a turn, and the text after them, in one message."""

    user_tools: bool = False
    """A human message may call tools and contain their results, as in tau2's dual control."""

    late_system: str = ""
    """A sentence that says how a system message changes if it does not open the chain; "" if it does not change."""

    writes: bool = True
    """Messages of this format can be changed and written. Otherwise they can be read, exported unchanged and converted."""

    hints: tuple[str, ...] = ()
    """Keys or values that a scan looks for before it decodes anything: every message of the format has at least one of them.
    () for a format that is not JSON."""

    answers: tuple[Keys, ...] = ()
    """Where a document contains a single message: the last keys of its pointer, without list indexes, such as
    `("choices", "message")`. () if the document itself is the message."""

    sequences: tuple[tuple[Keys, ...], ...] = ()
    """Members of one object that together form a chain, in chain order, each a list or one message:
    `(("input",), ("output",))`. An attribute `{"key": K, "value": …}` counts as the member K; a member may also be inside a
    JSON string."""

    texts: tuple[TextMember, ...] = ()
    """Members of the document that may contain a message as a plain string; `sequences` refers to them by name."""

    tree: Tree | None = None
    """Where to find the nodes, if the messages of a chain form a tree."""

    copies: tuple[Keys, ...] = ()
    """Keys of members whose lists only repeat another list of the document. They are chains only if there is no other list."""

    carried_types: frozenset[str] = frozenset()
    """Values of `type` (or `role`) of known records without a message: session heads, snapshots, summaries. Any other record
    without a message counts as not understood."""

    carried_fields: frozenset[str] = frozenset()
    """Names of known fields whose texts are not shown, in addition to KNOWN_FIELDS: copies of results, notes for the screen."""

    known_kinds: frozenset[str] = frozenset()
    """Types of known parts (`Opaque.kind`) that are carried unchanged, in addition to those of `part_types`."""

    def is_known_kind(self, kind: str) -> bool:
        return kind in self.known_kinds

    def spoken(self, value: Any) -> Any:
        """Return the content of a record that its messages must show, such as the chosen one of several answers."""
        return value

    def carried_in(self, value: object) -> frozenset[str]:
        """Return the `carried_fields` of one record."""
        return self.carried_fields

    known_roles: frozenset[str] = frozenset()
    """Roles that the format knows in addition to system, human, ai and tool."""

    def without_piece(self, text: str) -> str:
        """Return a text beside the messages without its piece of a streamed answer, which a message repeats as a whole."""
        return text

    streams_answers: bool = False
    """Documents may have the pieces of an answer beside its message. They are emptied when the chain changes, because a piece may
    have half of what was removed."""

    def is_carried(self, value: object) -> bool:
        """Return True if a decoded record without a message is of a known type."""
        names = [value.get("type"), value.get("role")] if isinstance(value, dict) else []
        return any(isinstance(name, str) and name in self.carried_types for name in names)

    choices: tuple[Choice, ...] = ()
    """The options of reading this format."""

    def chosen(self, values: Collection[str]) -> Format:
        """Return the format with these values of its choices, and the default for all others."""
        return self

    def is_message(self, value: object) -> bool:
        """Return True if a decoded list element (or line) looks like a message or unit of this format.

        `value` may lack the last members of a very long message. A list is offered if one of its first three objects is a
        message of any format; `confidence` then decides which.
        """
        return False

    def find(self, source: Source) -> tuple[FoundList, ...]:
        """Return the chains of a document that is not JSON or that contains several chains in one list; () for any other
        document, whose lists are found by `hints` and `is_message`."""
        return ()

    def confidence(self, sample: Sample) -> float:
        """Return how likely the sample is in this format, from 0 (impossible) to 1 (certain). A message that no other format has
        makes it nearly certain."""
        return 0.97 if any(self.is_message(value) for value in sample.values) else 0.0

    def read(self, units: Iterable[Unit]) -> Iterator[Message | Unit]:
        """Yield messages with their source fragments and part origins, in chain order. A unit that is not part of any message is
        yielded itself, and its document keeps it."""

    def message(self, role: str, source: tuple[Fragment, ...]) -> Message:
        """Return the message of stored fragments, equal to the one that `read` yielded."""

    def write(self, message: Message, style: Style) -> tuple[Fragment, ...]:
        """Return the fragments of `message`, so that `message(role, write(m)) == m`.

        With a source, only the values that differ are changed (parts are matched by `origin`); ordinals, lead, unknown fields,
        key order and number spelling stay. Without a source, the fragments are new and have the ordinal NEW.
        """

    def sent_from(self, messages: Sequence[Message]) -> int:
        """Return the index of the first message that a resumed session sends: those before its last compaction are not sent."""
        return max((place for place, message in enumerate(messages) if message.label == COMPACT_SUMMARY), default=0)

    def is_sent(self, message: Message) -> bool:
        """Return True if an agent that resumes the session sends the message; False if its compaction replaced the message."""
        return True

    def sent_twice(self, messages: Sequence[Message]) -> Sequence[Fragment]:
        """Return the units that make an agent send something twice when it resumes the session."""
        return ()

    def losses(self, message: Message) -> tuple[str, ...]:
        """Return a sentence for each loss when `message` is written without its source."""


def unit_form(format: Format) -> UnitForm:
    return UnitForm(format.blocks_at, format.links, format.join, format.takes)


def refusal(format: Format) -> str:
    """Return the sentence that refuses a change to a document in a read-only format."""
    return f"{format.label} is read-only: convert the chain to another format, then change that."


__all__ = ["Choice", "Format", "Sample", "Style", "refusal", "unit_form"]
