"""Pieces of an answer that Claude Code prints as it streams (`stream_event`), before the lines with its whole blocks.

A stream that breaks off holds pieces of blocks that never came as a whole; they are what the model said last.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from chainviz.core.chain.messages import AI, Fragment, Message, Part, Text, Thinking
from chainviz.core.dialects.blocks.anthropic_read import read_blocks
from chainviz.core.dialects.blocks.block_units import Content
from chainviz.core.dialects.streams.anthropic import ANTHROPIC
from chainviz.core.documents.json.edit import parse
from chainviz.core.documents.units import Unit

_BLOCKS = ("content_block_start", "content_block_delta")


def is_piece(value: Any) -> bool:
    return type(value) is dict and value.get("type") == "stream_event" and type(value.get("event")) is dict


def with_partial_messages(units: Iterable[Unit]) -> Iterator[Message | Unit]:
    """The units, and in their places the messages that never came as a whole; all other pieces come back as units."""
    pieces = _Pieces()
    for unit in units:
        if is_piece(unit.value):
            if unit.value["event"].get("type") == "message_start":
                yield from pieces.close()
            pieces.add(unit)
            continue
        inner = unit.value.get("message") if type(unit.value) is dict else None
        if type(inner) is dict and not pieces.takes(inner):
            yield from pieces.close()
        yield unit
    yield from pieces.close()


def message_of(source: Sequence[Fragment]) -> Message:
    """The message of pieces, as far as it came."""
    unit = ANTHROPIC.joined([parse(fragment.text)["event"] for fragment in source]).units[0]
    parts = read_blocks(Content(parse(unit).get("content"), unit, ("content",)), AI)
    return Message(AI, tuple(part for part in parts if not _is_empty(part)), source=tuple(source), note="cut off")


def _is_empty(part: Part) -> bool:
    return (isinstance(part, Text) and not part.text) or (isinstance(part, Thinking) and not part.content)


class _Pieces:
    """The pieces of the answer that is streaming."""

    def __init__(self) -> None:
        self._units: list[Unit] = []
        self._id: Any = None
        self._whole = 0
        """How many blocks of the answer came as a whole."""

    def add(self, unit: Unit) -> None:
        message = unit.value["event"].get("message")
        self._id = message.get("id") if type(message) is dict else self._id
        self._units.append(unit)

    def takes(self, inner: dict[str, Any]) -> bool:
        """Whether a message holds whole blocks of the answer that is streaming."""
        content = inner.get("content")
        is_own = self._id is not None and inner.get("id") == self._id
        self._whole += len(content) if is_own and type(content) is list else 0
        return is_own

    def close(self) -> Iterator[Message | Unit]:
        """The message of the blocks that did not come as a whole, behind all other pieces."""
        units = self._units
        left = [unit for unit in units if self._is_left(unit.value["event"])]
        message = message_of([unit.fragment() for unit in left]) if left else None
        own = {unit.ordinal for unit in left} if message is not None and message.parts else set()
        self._units, self._id, self._whole = [], None, 0
        yield from (unit for unit in units if unit.ordinal not in own)
        if message is not None and own:
            yield message

    def _is_left(self, event: dict[str, Any]) -> bool:
        index = event.get("index")
        return event.get("type") in _BLOCKS and type(index) is int and index >= self._whole
