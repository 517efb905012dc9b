"""Bases of formats that are shown, exported as they came, and converted: nothing new is written into their documents.

`ReadOnly` is any of them; `ReadOnlyUnits` keeps its messages in JSON, one or several a unit; in an `EventLog` several records
make up one message: the pieces of an answer, its calls, the results of its tools. The functions that read members of such JSON
are here too: hostile values give nothing, never an error.
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
"""Bytes that tell what a text is."""
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
        """The confidence in a text that begins with `head`."""
        raise NotImplementedError

    def stretches(self, text: str) -> Iterable[tuple[int, int]]:
        """Return where the messages are in the text."""
        raise NotImplementedError

    def find(self, source: Source) -> tuple[FoundList, ...]:
        """The whole file as one chain."""
        start = 3 if source.bom else 0
        head = source.text(start, HEAD)
        if not self.rate(head):
            return ()
        tail = source.read(max(start, source.size - HEAD), source.size)
        end = source.size - (len(tail) - len(tail.rstrip()))
        return (FoundList((), "", Span(0, source.size), start, end, lines=True, raw=True, sample=self.sample(head)),)

    def sample(self, head: str) -> Sample:
        """Return the sample of a text that `find` found, because strings in a JSON list may look like one."""
        return Sample((head,), {}, key=f"{self.name} text", lines=True)

    def confidence(self, sample: Sample) -> float:
        return self.rate(sample.values[0]) if sample.key == f"{self.name} text" else 0.0

    def read(self, units: Iterable[Unit]) -> Iterator[Message | Unit]:
        for unit in units:
            yield from self._messages(unit) if isinstance(unit.value, str) else [unit]

    def _messages(self, unit: Unit) -> Iterator[Message | Unit]:
        """Text between two messages leads the second; text behind the last one is carried."""
        end, start, ordinal = 0, unit.start, unit.ordinal
        for first, last in self.stretches(unit.text):
            lead, text = unit.text[end:first], unit.text[first:last]
            start += byte_length(lead)
            yield self.message("", (Fragment(ordinal, lead, text, None, start),))
            end, start, ordinal = last, start + byte_length(text), ordinal + 1
        if end < len(unit.text):
            yield Unit(ordinal, "", unit.text[end:], None, start)

    def write(self, message: Message, style: Style) -> tuple[Fragment, ...]:
        """The source of a message that is as it was. Raises Refused for every other message."""
        if message.source and self.message(message.role, message.source) == message:
            return message.source
        raise Refused(refusal(self))

    def losses(self, message: Message) -> tuple[str, ...]:
        return (refusal(self),)


def make_message(
    word: str, parts: Iterable[Part], source: tuple[Fragment, ...], roles: Mapping[str, Role] = ROLES
) -> Message:
    """Return the message of the role that the document calls `word`; without a word, it is the model's."""
    parts = tuple(parts)
    role = roles.get(word) or ROLES.get(word.lower(), word or AI)
    if parts and all(isinstance(part, ToolResult) for part in parts):
        role = TOOL  # with a word that nobody listed, no result would find its call
    label = "" if word in ("", _WORDS.get(role)) else word
    return Message(role, tuple(replace(part, origin=place) for place, part in enumerate(parts)), source=source, label=label)


def spoken(word: str, content: str) -> tuple[Part, ...]:
    """Return the parts of a text of that role. Nothing names the call that a result answers."""
    if ROLES.get(word) == TOOL:
        return (ToolResult("", "", content),)
    return (Text(content),) if content else ()


Turn = tuple[str, Sequence[Part]]
"""The word of a role, and the parts of a message."""


class ReadOnlyUnits(ReadOnly):
    lines = False
    certainty = 0.97
    """The confidence in a list with a message of the format."""

    def messages_in(self, value: Any) -> Sequence[Turn]:
        """Return the turns of a unit; none for a unit that is carried."""
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
    """A file that is only referred to."""
    return Opaque("attachment", dump(item))


def unknown(item: Any) -> Opaque:
    return Opaque(string_of(item, "type") or "part", dump(item))


def text_part(item: Any) -> Part:
    """Return the text of a block, or an unknown block if it has none."""
    text = item.get("text") if isinstance(item, dict) else None
    return Text(text) if isinstance(text, str) else unknown(item)


def with_results(word: str, parts: Sequence[Part], results: Sequence[ToolResult]) -> list[Turn]:
    """A message, and what its tools returned."""
    return [(word, parts), *([("tool", results)] if results else [])]


def in_steps(word: str, pairs: Iterable[tuple[Part, ToolResult | None]]) -> list[Turn]:
    """Parts of a model with what its calls returned, step by step: a step ends where something follows its results."""
    steps: list[tuple[list[Part], list[ToolResult]]] = [([], [])]
    for part, result in pairs:
        if steps[-1][1] and result is None:
            steps.append(([], []))
        steps[-1][0].append(part)
        steps[-1][1].extend([result] if result else [])
    return [said for parts, results in steps for said in with_results(word, parts, results)]


MODEL, TOOLS = "assistant", "tool"


class EventLog(ReadOnlyUnits):
    """A format whose neighbouring records of the model, or of its tools, are one message."""

    roles: Mapping[str, Role] = ROLES
    """The roles of the words that `messages_in` returns."""
    joined: frozenset[str] = frozenset((MODEL, TOOLS))
    """Words whose neighbouring records are one message."""
    is_streamed = False
    """Neighbouring texts of a message are pieces of one text."""

    def counted(self, found: Sequence[Turn], waiting: int) -> Iterable[int]:
        """The places of the messages of a record that count, while so many calls wait for their results."""
        return range(len(found))

    def is_piece(self, value: Any) -> bool:
        """Return True for a piece of an answer that a later record repeats as a whole, unless the log ends before."""
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
            self.messages_in(value)[fragment.blocks[0] if fragment.blocks else 0]
            for value, fragment in zip(values, source, strict=True)
        ]
        return self.joined_message(found, source, is_streamed=all(map(self.is_piece, values)))

    def joined_message(self, found: Sequence[Turn], source: Iterable[Fragment], *, is_streamed: bool) -> Message:
        parts = [part for _, parts in found for part in parts]
        whole = _whole(parts) if self.is_streamed or is_streamed else parts
        return make_message(found[0][0], whole, tuple(source), self.roles)


class _Group:
    """The message whose records are still coming."""

    def __init__(self, log: EventLog) -> None:
        self._log = log
        self._found: list[Turn] = []
        self._source: list[Fragment] = []
        self._is_streamed = True
        """All its records are pieces of an answer."""
        self._waiting = 0
        """How many calls wait for their results."""

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
    """Count the calls that wait for their results behind these parts; none behind another speaker."""
    if word not in (MODEL, TOOLS):
        return 0
    calls, results = (sum(isinstance(part, kind) for part in parts) for kind in (ToolCall, ToolResult))
    return max(0, before + calls - results)


def _whole(pieces: Iterable[Part]) -> Iterator[Part]:
    """Parts with neighbouring pieces of a text, or of a thought, put together."""
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
    """Return the arguments of a call as JSON text: a string unchanged, "" if a record has none, anything else encoded."""
    return value if isinstance(value, str) else "" if value is None else dump(value)
