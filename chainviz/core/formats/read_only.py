"""Base classes of read-only formats: their chains can be shown, exported unchanged and converted, but not changed.

`ReadOnly` is the general base. `ReadOnlyUnits` has its messages in JSON units, one or several each. In an `EventLog`, several
records form one message: the pieces of an answer, its calls, the results of its tools. The functions that read members of such
JSON return nothing for a malformed value and never raise.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from chainviz.core.chain.messages import (
    AI,
    HUMAN,
    SLOT,
    SYSTEM,
    TOOL,
    Fragment,
    Message,
    Opaque,
    Part,
    Role,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)
from chainviz.core.dialects.values import string_of
from chainviz.core.documents.json.edit import dump, value_of
from chainviz.core.documents.json.scan import byte_length
from chainviz.core.documents.source import Source
from chainviz.core.documents.units import FoundList, Pointer, Sample, Span, Unit
from chainviz.core.errors import Refused
from chainviz.core.formats.contract import Format, Style, refusal

HEAD = 1 << 16
"""Number of bytes at the start of a file that identify its format."""
ROLES: dict[str, Role] = {
    "system": SYSTEM, "developer": SYSTEM, "user": HUMAN, "human": HUMAN, "you": HUMAN, "assistant": AI, "ai": AI,
    "model": AI, "bot": AI, "chatgpt": AI, "claude": AI, "gemini": AI, "tool": TOOL, "function": TOOL,
}  # fmt: skip


_WORDS = {SYSTEM: "system", HUMAN: "user", AI: "assistant", TOOL: "tool"}


class ReadOnly(Format):
    blocks_at: Pointer = ()
    lines = True
    writes = False

    def rate(self, head: str) -> float:
        """Return the confidence, from 0 to 1, that a text which begins with `head` is in this format."""
        raise NotImplementedError

    def stretches(self, text: str) -> Iterable[tuple[int, int]]:
        """Return the start and end of each message in the text."""
        raise NotImplementedError

    def find(self, source: Source) -> tuple[FoundList, ...]:
        """Return the whole file as one chain."""
        start = 3 if source.bom else 0
        head = source.text(start, HEAD)
        if not self.rate(head):
            return ()
        tail = source.read(max(start, source.size - HEAD), source.size)
        end = source.size - (len(tail) - len(tail.rstrip()))
        return (FoundList((), "", Span(0, source.size), start, end, lines=True, raw=True, sample=self.sample(head)),)

    def sample(self, head: str) -> Sample:
        """Return the sample of a text from `find`. Strings in a JSON list may look like such a text, so the sample is marked."""
        return Sample((head,), {}, key=f"{self.name} text", lines=True)

    def confidence(self, sample: Sample) -> float:
        return self.rate(sample.values[0]) if sample.key == f"{self.name} text" else 0.0

    def read(self, units: Iterable[Unit]) -> Iterator[Message | Unit]:
        for unit in units:
            yield from self._messages(unit) if isinstance(unit.value, str) else [unit]

    def _messages(self, unit: Unit) -> Iterator[Message | Unit]:
        """Yield the messages of a text. Text between two messages becomes the lead of the second; text after the last one is
        yielded as a unit."""
        end, start, ordinal = 0, unit.start, unit.ordinal
        for first, last in self.stretches(unit.text):
            lead, text = unit.text[end:first], unit.text[first:last]
            start += byte_length(lead)
            yield self.message("", (Fragment(ordinal, lead, text, None, start),))
            end, start, ordinal = last, start + byte_length(text), ordinal + 1
        if end < len(unit.text):
            yield Unit(ordinal, "", unit.text[end:], None, start)

    def write(self, message: Message, style: Style) -> tuple[Fragment, ...]:
        """Return the source of an unchanged message. Raises Refused for any other message."""
        if message.source and self.message(message.role, message.source) == message:
            return message.source
        raise Refused(refusal(self))

    def losses(self, message: Message) -> tuple[str, ...]:
        return (refusal(self),)


def make_message(word: str, parts: Iterable[Part], source: tuple[Fragment, ...], roles: Mapping[str, Role] = ROLES) -> Message:
    """Return a message. `word` is the document's name for the role; an empty one means the model."""
    parts = tuple(parts)
    role = roles.get(word) or ROLES.get(word.lower(), word or AI)
    if parts and all(isinstance(part, ToolResult) for part in parts):
        role = TOOL  # with an unknown role, the results would not match their calls
    label = "" if word in ("", _WORDS.get(role)) else word
    return Message(role, tuple(replace(part, origin=place) for place, part in enumerate(parts)), source=source, label=label)


def spoken(word: str, content: str) -> tuple[Part, ...]:
    """Return the part for a text of a role. The result of a tool has no call id."""
    if ROLES.get(word) == TOOL:
        return (ToolResult("", "", content),)
    return (Text(content),) if content else ()


Turn = tuple[str, Sequence[Part]]
"""The document's name for a role, and the parts of a message."""


class ReadOnlyUnits(ReadOnly):
    lines = False
    certainty = 0.97
    """The confidence in a list with a message of the format."""

    def messages_in(self, value: Any) -> Sequence[Turn]:
        """Return the messages of a unit; none if the unit is not part of the conversation."""
        raise NotImplementedError

    def instructions(self, value: Any) -> Sequence[Part]:
        """Return the parts of the slot; none if it is empty."""
        return [Text(value)] if isinstance(value, str) and value else ()

    def find(self, source: Source) -> tuple[FoundList, ...]:
        return ()

    def confidence(self, sample: Sample) -> float:
        return self.certainty if any(self.is_message(value) for value in sample.values) else 0.0

    def read(self, units: Iterable[Unit]) -> Iterator[Message | Unit]:
        for unit in units:
            if unit.ordinal == SLOT:
                if self.instructions(unit.value):
                    yield self.message(SYSTEM, (unit.fragment(),))
                continue
            found = self.messages_in(unit.value) if self.is_message(unit.value) else ()
            if not found:
                yield unit
            for place, (word, parts) in enumerate(found):
                yield make_message(word, parts, (unit.fragment((place,) if len(found) > 1 else None),))

    def message(self, role: Role, source: tuple[Fragment, ...]) -> Message:
        value = value_of(source[0])
        if source[0].ordinal == SLOT:
            return make_message("system", self.instructions(value), source)
        place = source[0].blocks[0] if source[0].blocks else 0
        word, parts = self.messages_in(value)[place]
        return make_message(word, parts, source)

    def join(self, fragments: Sequence[Fragment]) -> str:
        return fragments[0].text


def inner(value: Any, key: str) -> dict[str, Any]:
    found = value.get(key) if isinstance(value, dict) else None
    return found if isinstance(found, dict) else {}


def as_text(value: Any) -> str:
    """Return a string unchanged, the texts of a list of blocks, "" for null, and any other value as JSON."""
    if isinstance(value, str):
        return value
    texts = [string_of(item, "text") for item in value if string_of(item, "type") == "text"] if isinstance(value, list) else []
    if texts and len(texts) == len(value):
        return "\n".join(texts)
    return "" if value is None else dump(value)


def attachment(item: Any) -> Opaque:
    """Return the part for a file that the document mentions but does not contain."""
    return Opaque("attachment", dump(item))


def unknown(item: Any) -> Opaque:
    return Opaque(string_of(item, "type") or "part", dump(item))


def text_part(item: Any) -> Part:
    """Return the text of a block, or an unknown block if it has none."""
    text = item.get("text") if isinstance(item, dict) else None
    return Text(text) if isinstance(text, str) else unknown(item)


def with_results(word: str, parts: Sequence[Part], results: Sequence[ToolResult]) -> list[Turn]:
    """Return a message, followed by a message with the results of its tools, if there are any."""
    return [(word, parts), *([("tool", results)] if results else [])]


def in_steps(word: str, pairs: Iterable[tuple[Part, ToolResult | None]]) -> list[Turn]:
    """Return the model's parts and the results of its calls as messages, step by step. A step ends at a part that follows results."""
    steps: list[tuple[list[Part], list[ToolResult]]] = [([], [])]
    for part, result in pairs:
        if steps[-1][1] and result is None:
            steps.append(([], []))
        steps[-1][0].append(part)
        steps[-1][1].extend([result] if result else [])
    return [turn for parts, results in steps for turn in with_results(word, parts, results)]


MODEL, TOOLS = "assistant", "tool"


class EventLog(ReadOnlyUnits):
    """The base of logs in which consecutive records of the model, or of its tools, form one message."""

    roles: Mapping[str, Role] = ROLES
    """The role for each name that `messages_in` returns."""
    joined: frozenset[str] = frozenset((MODEL, TOOLS))
    """The names of roles whose consecutive records form one message."""
    is_streamed = False
    """Consecutive texts of a message are pieces of one text."""

    def counted(self, found: Sequence[Turn], waiting: int) -> Iterable[int]:
        """Return the indexes of a record's messages to keep, if `waiting` calls have no result yet."""
        return range(len(found))

    def is_piece(self, value: Any) -> bool:
        """Return True for a piece of an answer that a later record repeats in full. If the log ends before, the pieces are shown."""
        return False

    def read(self, units: Iterable[Unit]) -> Iterator[Message | Unit]:
        group = _Group(self)
        pieces: list[Unit] = []
        for unit in units:
            found = self.messages_in(unit.value) if self.is_message(unit.value) else ()
            if not found:
                yield unit
            elif self.is_piece(unit.value):
                pieces.append(unit)
            else:
                yield from pieces if found[0][0] == MODEL else group.add_all(pieces)
                pieces = []
                yield from group.add(unit, found)
        yield from group.add_all(pieces)
        yield from group.close()

    def message(self, role: Role, source: tuple[Fragment, ...]) -> Message:
        values = [value_of(fragment) for fragment in source]
        found = [
            self.messages_in(value)[fragment.blocks[0] if fragment.blocks else 0] for value, fragment in zip(values, source, strict=True)
        ]
        return self.joined_message(found, source, is_streamed=all(map(self.is_piece, values)))

    def joined_message(self, found: Sequence[Turn], source: Iterable[Fragment], *, is_streamed: bool) -> Message:
        parts = [part for _, parts in found for part in parts]
        whole = _whole(parts) if self.is_streamed or is_streamed else parts
        return make_message(found[0][0], whole, tuple(source), self.roles)


class _Group:
    """The message under construction, with the records read so far."""

    def __init__(self, log: EventLog) -> None:
        self._log = log
        self._found: list[Turn] = []
        self._source: list[Fragment] = []
        self._is_streamed = True
        """True if all records are pieces of an answer."""
        self._waiting = 0
        """The number of calls without a result so far."""

    def add(self, unit: Unit, found: Sequence[Turn], *, is_piece: bool = False) -> Iterator[Message]:
        for place in self._log.counted(found, self._waiting):
            word, parts = found[place]
            if self._found and not (word == self._found[0][0] and word in self._log.joined):
                yield from self.close()
            self._found.append((word, parts))
            self._source.append(unit.fragment((place,) if len(found) > 1 else None))
            self._is_streamed = self._is_streamed and is_piece
            self._waiting = _waiting(word, parts, self._waiting)

    def add_all(self, pieces: Iterable[Unit]) -> Iterator[Message]:
        for piece in pieces:
            yield from self.add(piece, self._log.messages_in(piece.value), is_piece=True)

    def close(self) -> Iterator[Message]:
        if self._found:
            yield self._log.joined_message(self._found, self._source, is_streamed=self._is_streamed)
        self._found, self._source, self._is_streamed = [], [], True


def _waiting(word: str, parts: Sequence[Part], before: int) -> int:
    """Return the number of calls without a result after these parts; 0 if neither the model nor a tool sent them."""
    if word not in (MODEL, TOOLS):
        return 0
    calls, results = (sum(isinstance(part, kind) for part in parts) for kind in (ToolCall, ToolResult))
    return max(0, before + calls - results)


def _whole(pieces: Iterable[Part]) -> Iterator[Part]:
    """Yield the parts, with consecutive pieces of a text or a thought joined."""
    last: Part | None = None
    for piece in pieces:
        if isinstance(last, Text) and isinstance(piece, Text):
            last = Text(last.text + piece.text)
        elif isinstance(last, Thinking) and isinstance(piece, Thinking):
            last = Thinking(last.content + piece.content, last.signature or piece.signature)
        else:
            if last is not None:
                yield last
            last = piece
    if last is not None:
        yield last


def call_arguments(value: Any) -> str:
    """Return the arguments of a call as JSON text: a string unchanged, "" for None, any other value encoded."""
    return value if isinstance(value, str) else "" if value is None else dump(value)
