"""An opened node of very many messages or parts: a step reads only those it shows.

Each call of a pair stands beside the message in the same place behind the AI message, where that holds its result; in a
pair of few messages that have very many parts, beside the part in the same place. Nobody looks through the whole pair
for a result that stands elsewhere: it is shown in its own place.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import accumulate
from operator import attrgetter
from typing import Any

from chainviz.chains.render.node import (
    ALL,
    LazyPieces,
    Piece,
    StepQuery,
    call_with_result_html,
    message_head,
    message_name,
    spoken,
    step,
    unmatched_part_html,
    unmatched_parts_html,
)
from chainviz.chains.render.parts import Reading, call_html
from chainviz.core.chain.messages import Part, ToolCall, ToolResult
from chainviz.core.chain.paths import Path
from chainviz.store.content.message_shapes import StoredShape

LARGE = 200
"""The number of messages from which a pair is shown this way."""


@dataclass(frozen=True, slots=True)
class LargeNode:
    """The data of an open node. Bodies are read only when they are shown."""

    path: Path
    ai: StoredShape | None
    rest: Sequence[StoredShape]
    """The messages behind the AI message; the one message of a header."""
    read: Callable[[int, range], Sequence[Part]]
    """Some parts of a message, which is given by its place in `rest`; -1: of the AI message."""


def large_pair_html(reading: Reading, node: LargeNode, asked: StepQuery = ALL) -> str:
    return step(reading, node.path, _Pieces(reading, node), asked)


def large_header_html(reading: Reading, node: LargeNode, asked: StepQuery = ALL) -> str:
    return step(reading, node.path, _HeaderPieces(reading, node), asked)


class _HeaderPieces(LazyPieces):
    """The parts of one message."""

    def __init__(self, reading: Reading, node: LargeNode) -> None:
        self._reading = reading
        self._node = node

    def __len__(self) -> int:
        return len(self._node.rest[0].parts)

    def __getitem__(self, piece: Any) -> Any:
        return Piece(partial(self._part, range(len(self))[piece]))

    def place_of(self, part: Path) -> int | None:
        return part.part

    def _part(self, index: int) -> str:
        (part,) = self._node.read(0, range(index, index + 1))
        return spoken(self._reading, _below(self._node.path, self._node.path.message, index), part)


class _Pieces(LazyPieces):
    """The head of the AI message, its parts, each call with its answer, and the answers without a call."""

    def __init__(self, reading: Reading, node: LargeNode) -> None:
        self._reading = reading
        self._node = node
        self._calls = list(map(attrgetter("part"), node.ai.calls)) if node.ai is not None else []
        self._ends = [] if len(node.rest) > LARGE else list(accumulate(len(message.parts) or 1 for message in node.rest))
        """In a pair of few messages, where the parts of each end; a message without parts takes a place too."""
        self._answers = self._ends[-1] if self._ends else len(node.rest)
        """The number of messages, or of parts in a pair of few messages, that calls may be shown beside."""
        self._first = 0 if node.ai is None else 1 + len(node.ai.parts)
        """The piece with which those begin that answer no call in their place."""

    def __len__(self) -> int:
        return self._first + max(0, self._answers - len(self._calls))

    def __getitem__(self, piece: Any) -> Any:
        place = range(len(self))[piece]
        if place >= self._first:
            return Piece(partial(self._answer, place - self._first + len(self._calls)))
        if not place and self._node.ai is not None:
            return Piece(partial(message_head, self._node.ai, "ai", "AI"))
        return Piece(partial(self._part, place - 1))

    def place_of(self, part: Path) -> int | None:
        if not part.message:
            return None if part.part is None else part.part + 1
        answer = part.message - 1
        if self._ends:
            answer = (self._ends[answer - 1] if answer else 0) + (part.part or 0)
        return self._calls[answer] + 1 if answer < len(self._calls) else self._first + answer - len(self._calls)

    def _at(self, answer: int) -> tuple[int, int | None]:
        """Return the message, and its part if parts are counted."""
        if not self._ends:
            return answer, None
        place = bisect_right(self._ends, answer)
        return place, answer - (self._ends[place - 1] if place else 0)

    def _part(self, index: int) -> str:
        (part,) = self._node.read(-1, range(index, index + 1))
        path = _below(self._node.path, 0, index)
        if not isinstance(part, ToolCall):
            return spoken(self._reading, path, part)
        alone = f'<div class="tool-call">{call_html(self._reading, path, part)}</div>'
        answer = bisect_left(self._calls, index)
        if answer >= min(self._answers, len(self._calls)) or self._calls[answer] != index:
            return alone
        place, own = self._at(answer)
        found = self._result(place, own, part.id)
        if found is None:
            return alone + self._answer(answer)
        (result,) = self._node.read(place, range(found, found + 1))
        assert isinstance(result, ToolResult)
        return call_with_result_html(self._reading, path, part, _below(self._node.path, place + 1, found), result)

    def _result(self, place: int, own: int | None, id: str) -> int | None:
        """Return the only part there that is a result of this call, or None."""
        message = self._node.rest[place]
        parts = message.parts
        looked = range(len(parts)) if own is None else range(own, min(own + 1, len(parts)))
        found = [i for i in looked if message.role == "tool" and parts[i].kind == "tool_result" and parts[i].id == id]
        return found[0] if len(found) == 1 else None

    def _answer(self, answer: int) -> str:
        place, own = self._at(answer)
        message, path = self._node.rest[place], _below(self._node.path, place + 1)
        if own is None or not message.parts:
            return unmatched_parts_html(self._reading, path, message, lambda shown: self._node.read(place, shown))
        (part,) = self._node.read(place, range(own, own + 1))
        head = "" if own else message_head(message, *message_name(message))
        return head + unmatched_part_html(self._reading, _below(self._node.path, place + 1, own), message.role, part)


def _below(path: Path, message: int | None, part: int | None = None) -> Path:
    return Path(path.section, path.pair, message, part)
