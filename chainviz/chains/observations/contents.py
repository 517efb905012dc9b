"""Reads the messages whose results or calls a page shows, and only those."""

from __future__ import annotations

from collections.abc import Iterable

from chainviz.core.chain.messages import Binary, Image, Message, Part, Text, ToolCall, ToolResult
from chainviz.core.documents.json.long_strings import length_of, part_of
from chainviz.core.observations.index import ObservationIndex, ResultRow
from chainviz.store.content.chain import StoredChain

MOST_PARTS = 2_000
"""A message with more parts is not read for a card; the card links to the part."""


class Contents:
    """Results of a window, with what they answer."""

    def __init__(self, chain: StoredChain, index: ObservationIndex, rows: Iterable[ResultRow]) -> None:
        self._messages: dict[int, Message] = {}
        self._index = index
        places = {index.groups[row.group].message for row in rows} | {row.call_message for row in rows}
        self.add(chain, places - {-1})

    def add(self, chain: StoredChain, places: Iterable[int]) -> None:
        wanted = sorted(places)
        few = [place for place in wanted if len(chain.rows(place, place + 1)[0].shape.parts) <= MOST_PARTS]
        self._messages |= zip(few, chain.begun_at(few), strict=True)

    def part(self, message: int, part: int) -> Part | None:
        """None for a message of too many parts."""
        found = self._messages.get(message)
        return found.parts[part] if found is not None else None

    def result(self, row: ResultRow) -> Part | None:
        return self.part(self._index.groups[row.group].message, row.part)

    def text(self, row: ResultRow) -> str:
        """The whole content of a result; "" where it was not read."""
        match self.result(row):
            case Text(text=text):
                return part_of(text, row.start, row.end)
            case ToolResult(content=content):
                return part_of(content, 0, length_of(content))
        return ""

    def call(self, row: ResultRow) -> ToolCall | Text | None:
        found = self.part(row.call_message, row.call_part) if row.call_message >= 0 else None
        return found if isinstance(found, ToolCall | Text) else None

    def media_parts(self, message: int) -> list[int]:
        """Parts of a message that are images or files, which belong to the results in its texts in order."""
        found = self._messages.get(message)
        return [at for at, part in enumerate(found.parts) if isinstance(part, Image | Binary)] if found else []
