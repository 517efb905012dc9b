"""Read-only logs in which several records make up one message: the pieces of an answer, its calls, the results of its tools."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from chainviz.core.chain.messages import Fragment, Message, Part, Role, Text, Thinking, ToolCall, ToolResult
from chainviz.core.documents.json.edit import dump, parse
from chainviz.core.documents.units import Unit
from chainviz.core.formats.read_only import ROLES, said
from chainviz.core.formats.read_only_units import ReadOnlyUnits, Said

MODEL, TOOLS = "assistant", "tool"


class EventLog(ReadOnlyUnits):
    """A format whose neighbouring records of the model, or of its tools, are one message."""

    roles: Mapping[str, Role] = ROLES
    """The roles of the words that `messages_in` returns."""
    joined: frozenset[str] = frozenset((MODEL, TOOLS))
    """Words whose neighbouring records are one message."""
    is_streamed = False
    """Neighbouring texts of a message are pieces of one text."""

    def counted(self, found: Sequence[Said], waiting: int) -> Iterable[int]:
        """The places of the messages of a record that count, while so many calls wait for their results."""
        return range(len(found))

    def is_piece(self, value: Any) -> bool:
        """Whether a record is a piece of an answer that a later record holds as a whole, unless the log ends before."""
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
        values = [parse(fragment.text) for fragment in source]
        found = [
            self.messages_in(value)[fragment.blocks[0] if fragment.blocks else 0]
            for value, fragment in zip(values, source, strict=True)
        ]
        return self.joined_message(found, source, is_streamed=all(map(self.is_piece, values)))

    def joined_message(self, found: Sequence[Said], source: Iterable[Fragment], *, is_streamed: bool) -> Message:
        parts = [part for _, parts in found for part in parts]
        whole = _whole(parts) if self.is_streamed or is_streamed else parts
        return said(found[0][0], whole, tuple(source), self.roles)


class _Group:
    """The message whose records are still coming."""

    def __init__(self, log: EventLog) -> None:
        self._log = log
        self._found: list[Said] = []
        self._source: list[Fragment] = []
        self._is_streamed = True
        """All its records are pieces of an answer."""
        self._waiting = 0
        """How many calls wait for their results."""

    def add(self, unit: Unit, found: Sequence[Said], *, is_piece: bool = False) -> Iterator[Message]:
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
    """How many calls wait for their results behind these parts; none behind what somebody else says."""
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
    """The arguments of a call as JSON text: a string as it is, "" where a record has none, anything else encoded."""
    return value if isinstance(value, str) else "" if value is None else dump(value)
