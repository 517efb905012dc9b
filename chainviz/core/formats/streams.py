"""Join the chunks of recorded streams into messages. A stream is server-sent events, or JSON objects one after another.

The chunks are not changed, so a stream is exported byte for byte; its messages are read-only. Each vendor's folder describes the
chunks of its API (`Chunks`). An unknown or truncated chunk adds nothing. Arguments of a call are joined as text, so they keep
their spelling.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from chainviz.core.chain.messages import AI, Fragment, Message, Role
from chainviz.core.dialects.api_errors import error_in
from chainviz.core.dialects.values import Speller, input_text
from chainviz.core.documents.json import edit as json_edit
from chainviz.core.documents.json.edit import decode, dump
from chainviz.core.documents.units import Pointer
from chainviz.core.formats.contract import Format
from chainviz.core.formats.read_only import ReadOnly

_FIELD = re.compile(r"(?:event|data|id|retry)?:")
_LINES = re.compile(r"[^\n]*\n|[^\n]+")
_OBJECT = re.compile(r"[\s,\[\]]*(?=\{)")
"""The separators that may precede an object."""
_REST = re.compile(r"[^\n]*\n?")
_AFTER = re.compile(r"[ \t\r,\]]*\n?")
_DECODER = json.JSONDecoder(strict=False)


@dataclass(frozen=True, slots=True)
class Event:
    """One event. `start` and `end` are positions in the text and include the blank line."""

    start: int
    end: int
    value: Any
    """The JSON of the event, or None for `[DONE]`, a comment or a truncated chunk."""


def is_sse(text: str) -> bool:
    """Return True if a text begins like server-sent events."""
    first = next((line for line in text.splitlines() if line.strip()), "")
    return _FIELD.match(first) is not None


def events(text: str) -> Iterator[Event]:
    """Yield the events of a text. Together they cover the whole text."""
    return _server_sent(text) if is_sse(text) else _objects(text)


def _server_sent(text: str) -> Iterator[Event]:
    """Yield server-sent events. An event ends at a blank line or, if that is missing, at the next field after complete data."""
    start, data = 0, ""
    for line in _LINES.finditer(text):
        field = line[0].strip()
        value = decode(data) if data and _FIELD.match(field) else None
        if value is not None:
            yield Event(start, line.start(), value)
            start, data = line.start(), ""
        if field.startswith("data:"):
            data = f"{data}\n{field[len('data:') :].strip()}".lstrip("\n")
        elif not field and data:
            yield Event(start, line.end(), decode(data))
            start, data = line.end(), ""
    if start < len(text):
        yield Event(start, len(text), decode(data))


def _objects(text: str) -> Iterator[Event]:
    """Yield an event for each object. A line without an object, or with a broken one, becomes an event without a value."""
    start = 0
    while start < len(text):
        found = _OBJECT.match(text, start)
        value, end = _decoded(text, found.end()) if found else (None, start)
        after = (_REST if value is None else _AFTER).match(text, end)
        end = after.end() if after else end
        yield Event(start, end, value)
        start = end


def _decoded(text: str, start: int) -> tuple[Any, int]:
    """Return the object at `start`, or None if it is broken, and its end."""
    try:
        return _DECODER.raw_decode(text, start)
    except (ValueError, RecursionError):
        return None, start


Chunk = dict[str, Any]
_LISTS: tuple[Pointer, ...] = (("output",), ("steps",))
"""Where an answer has a list of items instead of a message."""


@dataclass(frozen=True, slots=True)
class Joined:
    units: tuple[str, ...]
    """JSON texts of the message's units."""
    note: str = ""
    """The stop reason, or what is unusual about the message."""


@dataclass(frozen=True, slots=True)
class Chunks:
    """How to recognize and join the chunks of one API."""

    is_chunk: Callable[[Chunk], bool]
    joined: Callable[[Sequence[Chunk]], Joined]
    key: Callable[[Chunk], str] = lambda chunk: ""
    """Returns a key that all chunks of a message share; "" for a chunk without one. A different key begins the next message."""
    opens: Callable[[Chunk], bool] = lambda chunk: False
    """Whether a chunk is the first of its message."""
    is_whole: Callable[[Chunk], bool] = lambda chunk: False
    """Whether a chunk may be an answer that was not streamed."""
    is_proof: Callable[[Chunk], bool] = lambda chunk: True
    """Whether a chunk distinguishes the API from others with the same form."""
    answer_at: Pointer | None = None
    """Where the message is in an answer that was not streamed; None if logs of the API have no such answers."""

    def answer(self, value: Any) -> str:
        """Return the JSON of the answer in a list of chunks, or in the text as sent; "" if the chunks are not of this API."""
        found = [event.value for event in events(value)] if isinstance(value, str) else value
        chunks = [each for each in found if type(each) is dict and self.is_chunk(each)]
        if self.answer_at is None or not chunks or chunks[0] is not next(each for each in found if each is not None):
            return ""
        units = self.joined(chunks).units
        text = units[0] if len(units) == 1 and self.answer_at not in _LISTS else f"[{', '.join(units)}]"
        for step in reversed(self.answer_at):
            text = f"[{text}]" if step == 0 else f'{{"{step}": {text}}}'
        return text


def object_at(value: Any, key: str) -> Chunk:
    found = value.get(key) if type(value) is dict else None
    return found if type(found) is dict else {}


def list_at(value: Any, key: str) -> list[Any]:
    found = value.get(key) if type(value) is dict else None
    return found if type(found) is list else []


def index_of(chunk: Chunk, key: str = "index") -> int | None:
    """Return the number of the block or item of a chunk; None if it has none."""
    found = chunk.get(key)
    return found if type(found) is int else None


def append_text(holder: Chunk, key: str, text: Any) -> None:
    """Append a piece of text to a member. None or "" leaves an existing text unchanged."""
    before = holder.get(key)
    if type(text) is str and (text or before is None):
        holder[key] = (before if type(before) is str else "") + text


def with_arguments(block: Chunk, key: str, text: str) -> str:
    """Return the JSON of a block, with the joined text of its arguments as the member `key` if there is any."""
    if not text:
        return dump(block)
    unit = json_edit.load_object(dump(block))
    unit.set(key, input_text(text, Speller("", True)))
    return str(unit)


def message_text(members: Chunk, contents: Sequence[str]) -> str:
    """Return the JSON of an assistant message with these content blocks. The role in the chunks is ignored."""
    unit = json_edit.load_object(dump({**members, "role": "assistant", "content": []}))
    unit.set("content", f"[{', '.join(contents)}]")
    return str(unit)


TELLING = 8
"""The number of objects at the start of a text that are checked for being chunks."""


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
        """Return the confidence in a text. Complete answers that are not server-sent events are a list of answers, not a stream."""
        sent = is_sse(head)
        if not sent and not head.lstrip().startswith(("{", "[")):
            return 0.0
        seen = list(islice((event.value for event in events(head) if isinstance(event.value, dict)), TELLING))
        chunks = [value for value in seen if self.chunks.is_chunk(value)]
        is_stream = sent or (len(chunks) > 1 and not all(map(self.chunks.is_whole, chunks)))
        is_own = 2 * len(chunks) > len(seen) and any(map(self.chunks.is_proof, chunks))
        return 0.97 if is_stream and is_own else 0.0

    def stretches(self, text: str) -> Iterator[tuple[int, int]]:
        """Yield the start and end of each message's chunks, without the line breaks after them."""
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
