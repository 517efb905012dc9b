"""Measures how much of a chain's units its format reads: every record and every text of it is shown, or known to be beside the
conversation, or it counts as unread.

A text of a record is shown where a part of the record's messages contains it. Of the others, texts in fields that the format
knows do not count, nor do short words such as ids and dates. A part that is empty is different: then each unknown field of its
record may be what should have filled it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Container, Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from chainviz.core.chain.calls.arguments import is_json
from chainviz.core.chain.messages import (
    AI,
    HUMAN,
    SLOT,
    SYSTEM,
    TOOL,
    Binary,
    Image,
    Message,
    Opaque,
    Part,
    Reasoning,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)  # fmt: skip
from chainviz.core.chain.part_types import is_known
from chainviz.core.chain.unread import MOST_NAMES, MOST_PLACES, Unread, UnreadKind, UnreadPlace
from chainviz.core.dialects.members import string_of
from chainviz.core.dialects.patching import data_url, encode_base64
from chainviz.core.documents.json import edit as json_edit
from chainviz.core.documents.source import Source
from chainviz.core.documents.units import LIST_STEP, Unit
from chainviz.core.formats.contract import Format
from chainviz.core.formats.known_fields import KNOWN_FIELDS

ROLES = frozenset((SYSTEM, HUMAN, AI, TOOL))
READ_KINDS = frozenset(
    ("text", "input_text", "output_text", "tool_use", "tool_result", "tool_call", "tool-call", "tool-result", "tool_response",
     "toolCall", "toolResult", "toolUse", "functionCall", "functionResponse", "function_call", "function_call_output",
     "function_result", "thinking", "content", "part", "value", "message", "")
)  # fmt: skip
"""Types of parts that are a text, a call or a result in some format: one that is none here was not read."""
CONTENT_FIELDS = frozenset(("text", "content", "contents", "parts", "arguments", "args", "thinking", "reasoning_content", "thoughts"))
"""Names under which formats keep what is said or called."""
ARGUMENTS = ("arguments", "args", "input", "parameters")
"""Names under which formats keep the arguments of a call."""
STRANGE = 0.25
"""The weight of an unknown record beside a message."""
LEAST = 4
"""Characters of a shown text by which a longer text is recognised that contains it, as where a format splits one."""


def is_fully_read(message: Message, format: Format) -> bool:
    """Whether the parts of a message show everything that its units hold. Of a unit that it shares with other messages only its own
    parts are judged."""
    if not message.source:
        return True
    coverage = Coverage(format)
    for fragment in message.source:
        if fragment.blocks is None and fragment.ordinal != SLOT:
            with suppress(ValueError, RecursionError):
                coverage.expect(Unit(fragment.ordinal, "", fragment.text, json_edit.parse(fragment.text), -1))
    coverage.show(message)
    return not coverage.unread and _is_known(message, format)


def _is_known(message: Message, format: Format) -> bool:
    roles = message.role in ROLES or message.role in format.known_roles
    return roles and all(is_known_part(part, format) for part in message.parts)


def is_known_part(part: Part, format: Format) -> bool:
    """Whether a part was read, or is of a type that its format carries as it is."""
    if not isinstance(part, Opaque):
        return True
    return format.is_known_kind(part.kind) or (part.kind not in READ_KINDS and is_known(part.kind))


class Coverage:
    """Told of each unit and each message while a chain is read; `unread` is complete when the chain has been read."""

    def __init__(self, format: Format, lines: Source | None = None) -> None:
        """`lines`: the file, where each unit has a line of its own."""
        self._format = format
        self._lines = lines
        self._waiting: dict[int, Unit] = {}
        """Units that no message was read from so far."""
        self._left: dict[int, _Leftover] = {}
        """Units that messages were read from, with what those do not show."""
        self._found: dict[tuple[UnreadKind, str], list[UnreadPlace]] = {}
        self._counts: dict[tuple[UnreadKind, str], int] = {}
        self._strange = 0
        """Unknown records."""
        self._read = 0
        """Units that messages were read from."""
        self._lacking: dict[int, float] = {}
        """How much of those units was not read, by ordinal, where it is anything: half of one whose message shows something."""
        self._places: dict[int, int] = {}
        """The places of units in chain order, where their ordinals do not tell because they lie in several lists."""
        self._arrived = 0

    def expect(self, unit: Unit) -> None:
        """The format is about to read the unit."""
        if unit.ordinal == SLOT:
            return
        self._waiting[unit.ordinal] = unit
        if unit.ordinal >= LIST_STEP:
            self._places[unit.ordinal] = self._arrived
        self._arrived += 1

    def carry(self, unit: Unit, *, is_aside: bool = False) -> None:
        """The unit is no message of the chain. `is_aside`: it was not given to the format, as a line of another branch."""
        self._waiting.pop(unit.ordinal, None)
        value = unit.value
        if unit.ordinal == SLOT or self._format.is_carried(value):
            return
        if self._format.is_message(value) and (is_aside or next(_unseen(value, (), self._known(value)), None) is None):
            return
        self._strange += 1
        self._add("record", _type_of(value), unit)

    def show(self, message: Message) -> None:
        """The message was read."""
        units = [unit for fragment in message.source if (unit := self._waiting.pop(fragment.ordinal, None)) is not None]
        again = [left for fragment in message.source if (left := self._left.get(fragment.ordinal)) is not None]
        if not units and not again:
            return
        is_shared = any(fragment.blocks is not None for fragment in message.source)
        self._read += len(units)
        self._judge(message, units or [again[0].unit])
        shown, is_hollow = _Shown(message), _is_hollow(message)
        for left in again:
            left.fields = [each for each in left.fields if each[1] not in shown]
            left.is_hollow |= is_hollow
        for unit in units:
            value = self._format.spoken(unit.value)
            fields = [each for each in _unseen(value, shown, self._known(value)) if each[2] or is_hollow or is_shared]
            if fields:
                weight = 0.5 if _shows_something(message) else 1.0
                self._left[unit.ordinal] = _Leftover(unit, fields, is_hollow, weight)

    def _judge(self, message: Message, units: list[Unit]) -> None:
        """Notes an unknown role and unknown parts of a message."""
        unit = units[0]
        if not _is_known(message, self._format):
            self._lacking[unit.ordinal] = 0.5 if _shows_something(message) else 1.0
        is_known_role = message.role in ROLES or message.role in self._format.known_roles
        if not is_known_role:
            self._add("role", message.role, unit)
        for part in message.parts:
            if isinstance(part, Opaque) and not is_known_part(part, self._format) and (is_known_role or part.kind != message.role):
                self._add("part", part.kind, unit)

    def _known(self, value: object) -> Container[str]:
        return KNOWN_FIELDS.union(self._format.carried_in(value))

    def _add(self, kind: UnreadKind, name: str, unit: Unit) -> None:
        key = (kind, name)
        if key not in self._found and len(self._found) >= MOST_NAMES:
            key = (kind, "")
        places = self._found.setdefault(key, [])
        self._counts[key] = self._counts.get(key, 0) + 1
        if len(places) < MOST_PLACES:
            line = self._lines.place(unit.start)[0] if self._lines is not None and unit.start >= 0 else 0
            places.append(UnreadPlace(self._places.get(unit.ordinal, unit.ordinal), line))

    def _settle(self) -> None:
        for unit in [*self._waiting.values()]:
            self.carry(unit)
        self._waiting.clear()
        self._settle_fields()

    def _settle_fields(self) -> None:
        for left in self._left.values():
            for name in dict.fromkeys(key for key, _, is_prose in left.fields if is_prose or left.is_hollow):
                self._lacking.setdefault(left.unit.ordinal, left.weight)
                self._add("field", name, left.unit)
        self._left.clear()

    @property
    def share_read(self) -> float:
        """How much of the units is fully read so far, from 0 to 1. An unknown record weighs less than a message that is not fully
        read: it may be about something else than the conversation."""
        self._settle_fields()
        whole = self._read + STRANGE * self._strange
        return (self._read - sum(self._lacking.values())) / whole if whole else 1.0

    @property
    def unread(self) -> tuple[Unread, ...]:
        self._settle()
        return tuple(Unread(*key, self._counts[key], tuple(places)) for key, places in self._found.items())


@dataclass(slots=True)
class _Leftover:
    """A unit with the texts that no message shows so far: the name of the field, the text, and whether it reads as prose."""

    unit: Unit
    fields: list[tuple[str, str, bool]]
    is_hollow: bool
    weight: float
    """How much of the unit is not read, from 0 to 1."""


class _Shown:
    """The texts that the parts of a message show."""

    def __init__(self, message: Message) -> None:
        self._texts = {text for part in message.parts for text in _texts_of(part) if text}
        media = (*message.parts, *(each for part in message.parts if isinstance(part, ToolResult) for each in part.media))
        self._has_binary = any(isinstance(part, Binary) for part in media)
        self._inner: set[str] | None = None

    def __contains__(self, text: object) -> bool:
        if not isinstance(text, str) or text in self._texts:
            return True
        if self._inner is None:
            self._inner = {leaf for shown in self._texts for leaf in _json_leaves(shown)}
        if text in self._inner:
            return True
        if self._has_binary and _BASE64.fullmatch(text):
            return True
        is_long = len(text) >= LEAST or text.isalpha() or _is_prose(text)
        if any((is_long and text in shown) or (len(shown) >= LEAST and shown in text) for shown in self._texts):
            return True
        return text[:1] in ("{", "[") and is_json(text) and all(leaf in self._texts | self._inner for leaf in _json_leaves(text))


def _texts_of(part: Part) -> Iterator[str]:
    if isinstance(part, Text):
        yield part.text
    elif isinstance(part, Thinking):
        yield from (part.content, part.signature)
    elif isinstance(part, ToolCall):
        yield from (part.arguments, part.name, part.id, part.type)
    elif isinstance(part, ToolResult):
        yield from (part.content, part.name, part.call_id, *(text for media in part.media for text in _texts_of(media)))
    elif isinstance(part, Image):
        yield part.url
    elif isinstance(part, Binary):
        yield from (encode_base64(part.content), data_url(part.mime, part.content))
    elif isinstance(part, Opaque):
        yield part.text
    reasoning = getattr(part, "reasoning", None)
    if isinstance(reasoning, Reasoning):
        yield from (reasoning.content, reasoning.signature)


def _json_leaves(text: str) -> Iterator[str]:
    if text[:1] in ("{", "[", '"'):
        with suppress(ValueError, RecursionError):
            yield from (leaf for _, leaf, _ in _unseen(json.loads(text), (), ()))


def _shows_something(message: Message) -> bool:
    return any(not isinstance(part, Opaque) and any(_texts_of(part)) for part in message.parts)


def _is_hollow(message: Message) -> bool:
    """Whether the message, or a part of it, lacks what such a part usually has."""
    return not message.parts or any(map(_lacks, message.parts))


def _lacks(part: Part) -> bool:
    if isinstance(part, Text):
        return not part.text and (part.reasoning is None or part.reasoning.is_empty)
    if isinstance(part, Thinking):
        return not (part.content or part.signature)
    if isinstance(part, ToolCall):
        return not (part.name and part.id and part.arguments)
    return isinstance(part, ToolResult) and not (part.call_id and (part.content or part.media))


def _unseen(value: Any, shown: Container[str], known: Container[str]) -> Iterator[tuple[str, str, bool]]:
    """Yields each text and number of a decoded value that is not shown, with the name of its field, and whether it reads as prose.
    Fields with known names are passed over; a text under the name of a content counts as prose."""
    stack: list[tuple[str, Any]] = [("", value)]
    while stack:
        key, value = stack.pop()
        kind = type(value)
        if kind is dict:
            yield from _unseen_of_block(value, shown, known)
            stack += [(name, inner) for name, inner in value.items() if name not in known]
        elif kind is list:
            stack += [(key, inner) for inner in value]
        elif kind is str and value and value not in shown:
            yield key, value, key in CONTENT_FIELDS or _is_prose(value)
        elif kind in (int, float) and str(value) not in shown:
            yield key, str(value), False


def _unseen_of_block(block: dict[str, Any], shown: Container[str], known: Container[str]) -> Iterator[tuple[str, str, bool]]:
    """Yields the name of a call that is not shown, and short texts in unknown fields of a block of reasoning, such as its signature."""
    function = block.get("function")
    inner = function if isinstance(function, dict) else block
    name = string_of(inner, "name")
    if name and name not in shown and any(key in inner for key in ARGUMENTS):
        yield "name", name, True
    if string_of(block, "type") in ("thinking", "reasoning"):
        for key, value in block.items():
            if isinstance(value, str) and value and key not in known and value not in shown:
                yield key, value, True


_WORDS = re.compile(r"[\[{<]|data:|.*[\s\u0080-\U0010ffff]", re.DOTALL)
_BASE64 = re.compile(r"[\w+/-]{2,}=*", re.ASCII)
"""How formats spell bytes, which a message holds decoded."""
_DATE = re.compile(r"\d{4}-\d\d-\d\d|<[a-z]+>$")


def _is_prose(text: str) -> bool:
    """Whether a text has words, or spells a value: an id, a date or one word does not tell."""
    return _WORDS.match(text) is not None and _DATE.match(text) is None


def _type_of(value: Any) -> str:
    for key in ("type", "role", "kind"):
        if name := string_of(value, key):
            return name
    return ""
