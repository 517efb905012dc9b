"""An opened pair of very many messages: a step reads only the messages it shows.

Each call stands beside the message in the same place behind the AI message, where that holds its result. Nobody looks
through the whole pair for a result that stands elsewhere: it is shown in its own place.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from chainviz.chains.render.node import PairNode, exchange, left_over, message_head, spoken
from chainviz.chains.render.parts import Reading, call_html
from chainviz.chains.render.steps import ALL, Asked, LazyPieces, Piece, step
from chainviz.core.chain.messages import Part, ToolCall
from chainviz.core.chain.paths import Path

LARGE = 200
"""Messages from which a pair is shown in this way."""


def large_pair_html(reading: Reading, node: PairNode, asked: Asked = ALL) -> str:
    return step(reading, node.path, _Pieces(reading, node), asked)


class _Pieces(LazyPieces):
    """The head of the AI message, its parts, each call with the message in its place, and the messages that are left."""

    def __init__(self, reading: Reading, node: PairNode) -> None:
        self._reading = reading
        self._node = node
        self._parts: tuple[Part, ...] = node.ai.parts if node.ai is not None else ()
        calls = node.ai.calls if node.ai is not None else ()
        self._places = {call.part: place for place, call in enumerate(calls) if place < len(node.rest)}
        """By part of the AI message: the message that should answer it."""
        self._first = int(node.ai is not None) + len(self._parts)
        """The piece with which the messages begin that answer no call in their place."""

    def __len__(self) -> int:
        return self._first + len(self._node.rest) - len(self._places)

    def __getitem__(self, piece: Any) -> Any:
        if isinstance(piece, slice):
            return [self[place] for place in range(len(self))[piece]]
        if not 0 <= piece < len(self):
            raise IndexError(piece)
        if piece >= self._first:
            return Piece(self._message(piece - self._first + len(self._places)))
        assert self._node.ai is not None
        if not piece:
            return Piece(partial(message_head, self._node.ai, "ai", "AI"))
        return Piece(partial(self._part, piece - 1))

    def place_of(self, part: Path) -> int | None:
        if not part.message:
            return None if part.part is None else part.part + 1
        place = part.message - 1
        calls = [own for own, at in self._places.items() if at == place]
        return calls[0] + 1 if calls else self._first + place - len(self._places)

    def _message(self, place: int) -> Callable[[], str]:
        return partial(left_over, self._reading, self._node, place, set())

    def _part(self, index: int) -> str:
        part = self._parts[index]
        path = Path(self._node.path.section, self._node.path.pair, 0, index)
        if not isinstance(part, ToolCall):
            return spoken(self._reading, path, part)
        place = self._places.get(index)
        if place is None:
            return f'<div class="tool-call">{call_html(self._reading, path, part)}</div>'
        found = [result for result in self._node.read(place).results if result.id == part.id]
        if len(found) == 1:
            return exchange(self._reading, self._node, index, part, (place, found[0].part))
        alone = f'<div class="tool-call">{call_html(self._reading, path, part)}</div>'
        return alone + self._message(place)()
