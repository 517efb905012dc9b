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

    def read(self, units: Iterable[Unit]) -> Iterator[Message | Unit]:
        word, source, parts, waiting = "", list[Fragment](), list[Part](), 0
        for unit in units:
            found = self.messages_in(unit.value) if self.is_message(unit.value) else ()
            if not found:
                yield unit
            for place in self.counted(found, waiting):
                own, said_parts = found[place]
                if source and not (own == word and own in self.joined):
                    yield self._message(word, parts, source)
                    source, parts = [], []
                word = own
                parts += said_parts
                source.append(unit.fragment((place,) if len(found) > 1 else None))
                waiting = _waiting(own, said_parts, waiting)
        if source:
            yield self._message(word, parts, source)

    def message(self, role: Role, source: tuple[Fragment, ...]) -> Message:
        found = [self._said(fragment) for fragment in source]
        return self._message(found[0][0], [part for _, parts in found for part in parts], source)

    def _said(self, fragment: Fragment) -> Said:
        return self.messages_in(parse(fragment.text))[fragment.blocks[0] if fragment.blocks else 0]

    def _message(self, word: str, parts: Sequence[Part], source: Iterable[Fragment]) -> Message:
        return said(word, _whole(parts) if self.is_streamed else parts, tuple(source), self.roles)


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
    """The arguments of a call as JSON text: a string as it is, anything else encoded."""
    return value if isinstance(value, str) else dump(value if value is not None else {})
