"""The rows of a version as pages show them: header messages and body pairs. The store implements the protocol from its outline."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from chainviz.core.chain.messages import AI, HUMAN, SYSTEM, Shape
from chainviz.core.chain.paths import Path
from chainviz.core.chain.tree import SUMMARIZATION_TOOL


@dataclass(frozen=True, slots=True)
class Row:
    """A header message or a body pair: the messages `start:stop` of its version."""

    path: Path
    start: int
    stop: int
    shapes: tuple[Shape, ...]

    @property
    def is_pair(self) -> bool:
        return bool(self.path.pair)

    @property
    def size(self) -> int:
        return sum([shape.size for shape in self.shapes])

    @property
    def kind(self) -> str:
        """The kind of the row. Only rows of the same kind are compared."""
        return "pair" if self.is_pair else self.shapes[0].role

    @property
    def call_ids(self) -> tuple[str, ...]:
        return tuple(call.id for call in self.shapes[0].calls)

    @property
    def is_summary(self) -> bool:
        calls = self.shapes[0].calls
        return self.is_pair and bool(calls) and calls[0].name == SUMMARIZATION_TOOL


class Place(NamedTuple):
    """The place of a row: its messages `start:stop`, and its path."""

    path: Path
    start: int
    stop: int


class Measure(NamedTuple):
    """The number of messages and pairs and the size in bytes of a range of whole rows."""

    messages: int = 0
    pairs: int = 0
    size: int = 0

    def __add__(self, other: object) -> Measure:
        if not isinstance(other, Measure):
            return NotImplemented
        return Measure(self.messages + other.messages, self.pairs + other.pairs, self.size + other.size)


class Rows(Protocol):
    """The rows of one version. No method may read a long version as a whole."""

    def __len__(self) -> int:
        """Return the number of messages."""

    def starts(self, start: int, stop: int) -> Sequence[int]:
        """Return the index of the first message of each row in `start:stop`."""

    def span(self, message: int) -> tuple[int, int]:
        """Return start and stop of the row that contains this message."""

    def place(self, message: int) -> Place:
        """Return the place of the row that contains this message, without reading any content."""

    def rows(self, start: int, stop: int) -> Sequence[Row]:
        """Return the rows that contain any of the messages `start:stop`, in order."""

    def measure(self, start: int, stop: int) -> Measure:
        """Measure the messages `start:stop`, which begin and end at a row."""


class ShapeRows:
    """The rows of a list of messages or shapes in memory."""

    def __init__(self, shapes: Sequence[Shape]) -> None:
        self._shapes = shapes
        self._starts: list[int] = []
        self._places: list[tuple[int, int, int]] = []
        self._sizes = [0]
        self._pairs: list[int] = []
        self._find_rows()

    def _find_rows(self) -> None:
        """Find the start of each row by the rules of `parse`, in one pass that stores only numbers."""
        section = pair = header = pairs = total = 0
        for i, shape in enumerate(self._shapes):
            role = shape.role
            total += shape.size
            self._sizes.append(total)
            if role in (SYSTEM, HUMAN):
                if pair or not section:
                    section, pair, header = section + 1, 0, 0
                place = (section, 0, header)
                header += 1
            elif role == AI or not pair:
                section, pair, pairs = section or 1, pair + 1, pairs + 1
                place = (section, pair, 0)
            else:
                continue
            self._starts.append(i)
            self._places.append(place)
            self._pairs.append(pairs)

    def __len__(self) -> int:
        return len(self._shapes)

    def starts(self, start: int, stop: int) -> list[int]:
        return self._starts[bisect_left(self._starts, start) : bisect_left(self._starts, stop)]

    def span(self, message: int) -> tuple[int, int]:
        i = bisect_right(self._starts, message)
        return self._starts[i - 1], self._starts[i] if i < len(self._starts) else len(self._shapes)

    def place(self, message: int) -> Place:
        return self._place(bisect_right(self._starts, message) - 1)

    def rows(self, start: int, stop: int) -> list[Row]:
        if start >= stop:
            return []
        first = bisect_right(self._starts, start) - 1
        last = bisect_right(self._starts, stop - 1)
        return [self._row(i) for i in range(first, last)]

    def _place(self, i: int) -> Place:
        start = self._starts[i]
        stop = self._starts[i + 1] if i + 1 < len(self._starts) else len(self._shapes)
        section, pair, header = self._places[i]
        return Place(Path(section, pair) if pair else Path(section, 0, header), start, stop)

    def _row(self, i: int) -> Row:
        path, start, stop = self._place(i)
        return Row(path, start, stop, tuple(self._shapes[start:stop]))

    def measure(self, start: int, stop: int) -> Measure:
        if start >= stop:
            return Measure()
        return Measure(stop - start, self._pairs_before(stop) - self._pairs_before(start), self._sizes[stop] - self._sizes[start])

    def _pairs_before(self, place: int) -> int:
        i = bisect_right(self._starts, place - 1) - 1
        return self._pairs[i] if i >= 0 else 0
