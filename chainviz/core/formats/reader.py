"""Read the messages of a chain from its units, and report how much of them, and of the fields around them, the format reads."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from difflib import SequenceMatcher
from typing import Any

from chainviz.core.chain.messages import SLOT, Message, Opaque, Part, ToolCall, ToolResult, is_known, text_of
from chainviz.core.chain.surroundings import Unread, UnreadKind
from chainviz.core.dialects.values import string_of
from chainviz.core.documents.json.edit import parse
from chainviz.core.documents.sequence_reader import read_units
from chainviz.core.documents.source import Source
from chainviz.core.documents.units import Envelope, FoundList, Unit
from chainviz.core.errors import DocumentError
from chainviz.core.formats.contract import Format
from chainviz.core.formats.coverage import INSTRUCTIONS, KNOWN_FIELDS, Coverage, is_misspelt_instruction
from chainviz.core.formats.misspelt_names import misspelt_names
from chainviz.core.formats.streams import is_sse


class _Reading:
    """The units of a chain, and what was found out about them. It does not refer to its iteration: a circle of both would stay in
    memory for a while, with messages that may be very long."""

    def __init__(self, source: Source, found: FoundList, format: Format, salvage: bool) -> None:
        self.format = format
        self.units = read_units(source, found, format.slots_of(found.inside), salvage=salvage)
        self.has_slot = False
        self.coverage = Coverage(format, source if found.lines else None)

    def messages(self) -> Iterator[Message]:
        for item in self.format.read(self._own()):
            if type(item) is Unit:
                self.units.carry(item)
                if not self.units.found.raw:
                    self.coverage.carry(item)
                if not self.units.found.lines:
                    kind = "not part of the chain" if self.format.is_message(item.value) else "not a message"
                    self.units.warn(item.start, f"an element of the list is {kind}; it is kept in place")
            elif isinstance(item, Message):
                self.coverage.show(item)
                self.has_slot = self.has_slot or (item.source[0].ordinal == SLOT if item.source else False)
                yield item

    def _own(self) -> Iterator[Unit]:
        found = self.units.found
        for unit in self.units:
            if (found.only is None or unit.start in found.only) and unit.start not in found.left_out:
                if not found.raw:
                    self.coverage.expect(unit)
                yield unit
            else:
                self.units.carry(unit)
                self.coverage.carry(unit, is_aside=True)


class ChainReader:
    """The messages of a chain. Iterate once; after that `envelope` and `warnings` are complete. Messages that were only looked at
    are kept for the iteration, so that a reader which judged a format goes on as the one that loads the chain."""

    def __init__(self, source: Source, found: FoundList, format: Format, *, salvage: bool = False) -> None:
        self.source, self.format = source, format
        self.is_used = False
        """Whether the iteration has begun."""
        self._reading = _Reading(source, found, format, salvage)
        self._messages = self._reading.messages()
        self._beginning: list[Message] = []
        """The messages that were looked at."""
        self._fault: DocumentError | None = None

    def __iter__(self) -> Iterator[Message]:
        self.is_used = True
        yield from self._beginning
        self._beginning.clear()
        if self._fault is not None:
            raise self._fault
        yield from self._messages

    def look(self, most: int) -> Iterator[Message]:
        """Yield the first messages, at most so many. The iteration will yield them again."""
        for place in range(most):
            if place == len(self._beginning):
                message = self._next()
                if message is None:
                    return
                self._beginning.append(message)
            yield self._beginning[place]

    def with_notes_of(self, found: FoundList) -> ChainReader:
        """Return the reader with the warnings and the unread fields that were found out about its list since it was made."""
        self._reading.units.found = found
        return self

    def _next(self) -> Message | None:
        if self._fault is not None:
            raise self._fault
        try:
            return next(self._messages, None)
        except DocumentError as error:
            self._fault = error
            raise

    @property
    def share_read(self) -> float:
        """The share of the units that the format understood so far, from 0 to 1."""
        return self._reading.coverage.share_read

    @property
    def envelope(self) -> Envelope:
        """The envelope. A slot whose value is not a message (null) is left unchanged."""
        envelope = self._reading.units.envelope
        envelope = replace(envelope, unread=(*envelope.unread, *self._reading.coverage.unread))
        return envelope if self._reading.has_slot else replace(envelope, slot=None)

    @property
    def warnings(self) -> tuple[str, ...]:
        return self.envelope.warnings


def read_chain(source: Source, found: FoundList, format: Format, *, salvage: bool = False) -> ChainReader:
    return ChainReader(source, found, format, salvage=salvage)


# A format understands nothing if it shows no messages, only parts of unknown types, or only empty messages although there are texts.


SHARE_READ = 50
"""The number of messages read to check whether a format understands a list."""
TEXTS = frozenset(("text", "content", "message", "value", "output", "prompt"))
"""Members with the text of a message, in all formats."""


def share_read(reader: ChainReader, found: FoundList) -> float:
    """Return the share of a list's beginning that a format understands, from 0 to 1. A broken list counts as understood, because
    reading the whole chain reports the fault."""
    if found.raw:
        return 1.0
    try:
        for _ in reader.look(SHARE_READ):
            pass
    except DocumentError:
        return 1.0
    return reader.share_read


def reads_nothing(reader: ChainReader, found: FoundList) -> bool:
    count = unknown = 0
    has_types = any(isinstance(value, dict) and "role" in value and "content" in value for value in found.sample.values)
    with suppress(DocumentError):  # reading the whole chain raises it again
        for message in reader.look(SHARE_READ):
            if message.parts and not (has_types and all(map(_is_unknown, message.parts))):
                return False
            count += 1
            unknown += len(message.parts)
        return not count or unknown > 0 or any(map(_says_something, found.sample.values))
    return False


def _is_unknown(part: Part) -> bool:
    """Return True if the part's type is unknown."""
    if not isinstance(part, Opaque) or is_known(part.kind):
        return False
    with suppress(ValueError, RecursionError):
        return string_of(parse(part.text), "type") == part.kind
    return False


def _says_something(value: Any) -> bool:
    return next(_texts(value), None) is not None


def _texts(value: Any, key: str = "") -> Iterator[str]:
    if isinstance(value, str):
        if key in TEXTS and value.strip():
            yield value
    elif isinstance(value, list):
        for each in value:
            yield from _texts(each, key)
    elif isinstance(value, dict):
        for name, each in value.items():
            yield from _texts(each, name)


# Fields with tools or instructions that the format does not read stay in the file, but no message shows them.


TOOLS = frozenset((
    "tool_calls", "toolCalls", "toolInvocations", "tool_invocations", "tool_uses", "function_call", "function_calls",
    "functionCalls", "tool_results", "toolResults", "tool_outputs", "tool_responses",
))  # fmt: skip
INSTRUCTING = re.compile(r"sys(?![a-z])|.*(system|instruction|preamble)", re.IGNORECASE)
"""Names, or misspelt names, of fields that may carry instructions."""
DEFINITIONS = ("tools", "functions", "tool_config")
ALIKE = 0.8
"""The least similarity of a misspelt name to the right one."""
_FLOW = ("messageStart", "message_start", "contentBlockDelta", "content_block_delta", "response.created", "chat.completion.chunk")
"""Names of events in a recorded stream."""
_TOOL = {"name", "function", "toolSpec", "tools", "functionDeclarations", "function_declarations"}
_NOTHING: tuple[Any, ...] = (None, "", [], {})
MEMBERS_READ = 12
"""The number of messages in which an instruction is searched for."""
SPAN_BYTES = 1_000_000
BEGINNING = 60
"""The number of characters by which an instruction is recognized in a message."""


def unread_fields(reader: ChainReader, found: FoundList) -> Iterator[Unread]:
    """Yield the fields with instructions, tools or a recorded stream that the format does not read, and fields with misspelt names."""
    named = list(_fields_of_content(reader, found))
    yield from named
    misspelt = (name for value in _around(reader.source, found) for name in misspelt_names(value, KNOWN_FIELDS))
    yield from (Unread("field", name, 1) for name in dict.fromkeys(misspelt) if name not in {each.name for each in named})


def _fields_of_content(reader: ChainReader, found: FoundList) -> Iterator[Unread]:
    beside = {key: value for key, value in found.sample.beside.items() if _instructs(key, value)}
    inside = {key for value in found.sample.values if isinstance(value, dict) for key in value if key in TOOLS and value[key]}
    messages = _first(reader) if beside or inside else []
    shown = "\n".join(map(text_of, messages))
    for key, value in beside.items():
        if isinstance(value, int | float) or _text(value)[:BEGINNING] not in shown:
            yield Unread("instructions", key, 1)
    yield from (Unread("definitions", key, 1) for key, value in found.sample.beside.items() if _defines(key, value))
    yield from (Unread(kind, key, 1) for kind, key in _answers_left(found.sample.document))
    if inside and not any(_has_tools(message) for message in messages):
        yield from (Unread("tools", key, 1) for key in sorted(inside))


def _around(source: Source, found: FoundList) -> Iterator[dict[str, Any]]:
    """Yield the objects to search: the document, the fields beside the message list with the names that lead to the list, and the
    span of a trace that was read as text."""
    yield found.sample.document
    path = dict.fromkeys((step for step in (*found.inside, found.key) if isinstance(step, str)), "list")
    yield path | found.sample.beside
    if found.raw and found.region.end - found.region.start < SPAN_BYTES:
        with suppress(ValueError, RecursionError):
            yield parse(source.read(found.region.start, found.region.end).decode("utf-8", "surrogateescape"))


def _instructs(key: str, value: Any) -> bool:
    if key in INSTRUCTIONS:
        return value not in _NOTHING
    if not isinstance(value, str | list | dict) or not (text := _text(value)):
        return False
    return is_misspelt_instruction(key) or (INSTRUCTING.match(key) is not None and len(text.split()) > 2)


def _defines(key: str, value: Any) -> bool:
    """Return True if a field contains tool definitions under a misspelt name."""
    items = [value] if isinstance(value, dict) else value if isinstance(value, list) else []
    return any(isinstance(item, dict) and _TOOL & item.keys() for item in items) and _is_misspelt_definition(key)


def _is_misspelt_definition(key: str) -> bool:
    name = re.sub(r"([A-Z])", r"_\1", key).lower()
    return name not in DEFINITIONS and any(SequenceMatcher(None, name, known).ratio() >= ALIKE for known in DEFINITIONS)


def _answers_left(document: Any) -> Iterator[tuple[UnreadKind, str]]:
    """Yield the names of fields, at any depth, with the events of a stream or a complete answer of Anthropic's API."""
    stack: list[tuple[str, Any]] = [("", document)]
    while stack:
        key, value = stack.pop()
        if isinstance(value, dict):
            if key and value.get("type") == "message" and value.get("role") == "assistant" and "stop_reason" in value:
                yield "list", key
            stack += value.items()
        elif isinstance(value, str) and is_sse(value) and any(name in value for name in _FLOW):
            yield "stream", key
        elif isinstance(value, list):
            if _flows(value):
                yield "stream", key
            else:
                stack += ((key, inner) for inner in value)


def _flows(values: Sequence[Any]) -> bool:
    first = values[0] if values else None
    names = {*first, first.get("type"), first.get("object")} if isinstance(first, dict) else set()
    return any(name in _FLOW for name in names if isinstance(name, str))


def _first(reader: ChainReader) -> Sequence[Message]:
    messages: list[Message] = []
    with suppress(DocumentError):  # reading the whole chain raises it again
        messages += reader.look(MEMBERS_READ)
    return messages


def _text(value: Any) -> str:
    """Return the first text of an instruction, which is a string, or a list or object of parts."""
    if isinstance(value, str):
        return value.strip()
    members = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return next((text for key, each in members if key not in ("type", "role") and (text := _text(each))), "")


def _has_tools(message: Message) -> bool:
    return any(isinstance(part, ToolCall | ToolResult | Opaque) for part in message.parts)
