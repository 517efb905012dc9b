"""Recorded streams of a provider's answers, server-sent events or one chunk a line: joined into the messages they make.

The chunks stay as they are, so a stream is exported byte for byte; a message in it cannot be changed. The registry passes
in the format whose messages the chunks make.
"""

from __future__ import annotations

from collections.abc import Iterator

from chainviz.core.chain.messages import AI, Fragment, Message, Role
from chainviz.core.dialects.stream_chunks import Chunks
from chainviz.core.dialects.stream_events import Event, events, is_sse
from chainviz.core.formats.contract import Format
from chainviz.core.formats.read_only import ReadOnly


class Stream(ReadOnly):
    packs = True

    def __init__(self, dialect: Format, chunks: Chunks) -> None:
        self.dialect = dialect
        self.chunks = chunks
        self.name = f"{dialect.name}_stream"
        self.label = f"{dialect.label}, recorded stream"
        self.tested_with = dialect.tested_with

    def rate(self, head: str) -> float:
        """A single line that is no server-sent event may be a whole answer."""
        if not head.lstrip().startswith(("{", "data:", "event:", "id:", "retry:", ":")):
            return 0.0
        seen = [event.value for event in events(head) if isinstance(event.value, dict)][:8]
        count = sum(self.chunks.is_chunk(value) for value in seen)
        return 0.97 if count and 2 * count > len(seen) and (is_sse(head) or count > 1) else 0.0

    def stretches(self, text: str) -> Iterator[tuple[int, int]]:
        """Where the chunks of each message lie, without the line breaks behind them."""
        group: list[Event] = []
        key = ""
        for event in events(text):
            own = self.chunks.key(event.value) if self._is_chunk(event) else ""
            if own and key and own != key:
                yield _stretch(group, text)
                group = []
            key = own or key
            group.append(event)
        if any(self._is_chunk(event) for event in group):
            yield _stretch(group, text)

    def _is_chunk(self, event: Event) -> bool:
        return isinstance(event.value, dict) and self.chunks.is_chunk(event.value)

    def message(self, role: Role, source: tuple[Fragment, ...]) -> Message:
        text = source[0].text
        joined = self.chunks.joined([event.value for event in events(text) if self._is_chunk(event)])
        units = tuple(Fragment(place, "", unit) for place, unit in enumerate(joined.units))
        parts = self.dialect.message(AI, units).parts if units else ()
        return Message(AI, parts, source=source, note=joined.note)


def _stretch(group: list[Event], text: str) -> tuple[int, int]:
    start, end = group[0].start, group[-1].end
    return start, start + len(text[start:end].rstrip())
