"""Many rows of numbers in little memory: an array for each column, as bytes for storing."""

from __future__ import annotations

import zlib
from array import array
from collections.abc import Iterable, Iterator
from typing import Generic, NamedTuple, TypeVar

Row = TypeVar("Row", bound=NamedTuple)
_TYPE = "q"
"""Signed, 8 bytes."""


class NumberTable(Generic[Row]):
    """Rows are named tuples whose fields are all integers."""

    def __init__(self, row: type[Row], columns: Iterable[array[int]] = ()) -> None:
        self._row = row
        self._columns = tuple(columns) or tuple(array(_TYPE) for _ in row._fields)

    @classmethod
    def unpack(cls, row: type[Row], packed: bytes) -> NumberTable[Row]:
        """The table that `pack` wrote."""
        content = zlib.decompress(packed)
        length = len(content) // len(row._fields)
        return cls(row, (array(_TYPE, content[at * length : (at + 1) * length]) for at in range(len(row._fields))))

    def pack(self) -> bytes:
        return zlib.compress(b"".join(column.tobytes() for column in self._columns), 1)

    def append(self, row: Row) -> None:
        for column, value in zip(self._columns, row, strict=True):
            column.append(value)

    def __len__(self) -> int:
        return len(self._columns[0])

    def __getitem__(self, number: int) -> Row:
        return self._row._make(column[number] for column in self._columns)

    def __iter__(self) -> Iterator[Row]:
        return map(self._row._make, zip(*self._columns, strict=True))

    def column(self, name: str) -> array[int]:
        return self._columns[self._row._fields.index(name)]
