"""Recorded streams of a provider's answers, joined into the messages they make: server-sent events, or chunks of JSON one after
another.

The chunks stay as they are, so a stream is exported byte for byte; a message in it cannot be changed. The registry passes
in the format whose messages the chunks make.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from chainviz.core.chain.messages import AI, Fragment, Message, Role
from chainviz.core.dialects.api_errors import error_in
from chainviz.core.dialects.streams.chunks import Chunk, Chunks
from chainviz.core.dialects.streams.events import Event, events, is_sse
from chainviz.core.formats.contract import Format
from chainviz.core.formats.read_only import ReadOnly

TELLING = 8
"""Objects at the beginning of a text that tell whether they are chunks."""


class Stream(ReadOnly):
    packs = True

    def __init__(self, dialect: Format, chunks: Chunks) -> None:
        self.dialect = dialect
        self.chunks = chunks
        self.api = dialect.api
        self.name = f"{dialect.name}_stream"
        self.label = f"{dialect.label}, recorded stream"
        self.tested_with = dialect.tested_with

    def rate(self, head: str) -> float:
        """Chunks that are whole answers are a list of answers, unless they were sent as events."""
        sent = is_sse(head)
        if not sent and not head.lstrip().startswith(("{", "[")):
            return 0.0
        seen = list(islice((event.value for event in events(head) if isinstance(event.value, dict)), TELLING))
        chunks = [value for value in seen if self.chunks.is_chunk(value)]
        is_stream = sent or (len(chunks) > 1 and not all(map(self.chunks.is_whole, chunks)))
        is_own = 2 * len(chunks) > len(seen) and any(map(self.chunks.is_proof, chunks))
        return 0.97 if is_stream and is_own else 0.0

    def stretches(self, text: str) -> Iterator[tuple[int, int]]:
        """Where the chunks of each message lie, without the line breaks behind them."""
        group: list[Event] = []
        key, has_chunks = "", False
        for event in events(text):
            chunk = self._chunk(event)
            own = self.chunks.key(chunk) if chunk else ""
            if has_chunks and chunk and ((own and key and own != key) or self.chunks.opens(chunk)):
                yield _stretch(group, text)
                group, has_chunks = [], False
            key = own or key
            has_chunks = has_chunks or chunk is not None
            group.append(event)
        if has_chunks:
            yield _stretch(group, text)

    def _chunk(self, event: Event) -> Chunk | None:
        return event.value if isinstance(event.value, dict) and self.chunks.is_chunk(event.value) else None

    def message(self, role: Role, source: tuple[Fragment, ...]) -> Message:
        seen = list(events(source[0].text))
        joined = self.chunks.joined([chunk for event in seen if (chunk := self._chunk(event))])
        error = next(filter(None, (error_in(event.value) for event in seen)), None)
        units = tuple(Fragment(place, "", unit) for place, unit in enumerate(joined.units))
        parts = self.dialect.message(AI, units).parts if units else ()
        return Message(AI, parts, source=source, note=f"error: {error.name}" if error else joined.note)


def _stretch(group: list[Event], text: str) -> tuple[int, int]:
    start, end = group[0].start, group[-1].end
    return start, start + len(text[start:end].rstrip())
