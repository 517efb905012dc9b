"""Recorded streams of answers, joined into the messages they make: server-sent events, or JSON objects one after another.

The chunks stay as they are, so a stream is exported byte for byte; a message in it cannot be changed. What the chunks of an API
are, its vendor's folder says (`Chunks`). A chunk that is unknown or cut off adds nothing; arguments of a call are joined as
text, so their spelling stays.
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
"""What may lie in front of an object."""
_REST = re.compile(r"[^\n]*\n?")
_AFTER = re.compile(r"[ \t\r,\]]*\n?")
_DECODER = json.JSONDecoder(strict=False)


@dataclass(frozen=True, slots=True)
class Event:
    """One event; `start` and `end` are places in the text, its blank line included."""

    start: int
    end: int
    value: Any
    """None for what carries no JSON: `[DONE]`, comments, a chunk that is cut off."""


def is_sse(text: str) -> bool:
    """Whether a text begins like server-sent events."""
    first = next((line for line in text.splitlines() if line.strip()), "")
    return _FIELD.match(first) is not None


def events(text: str) -> Iterator[Event]:
    """The events of a text, which together are all of it."""
    return _server_sent(text) if is_sse(text) else _objects(text)


def _server_sent(text: str) -> Iterator[Event]:
    """An event ends with a blank line. Where those are missing, the next field after complete data begins another one."""
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
    """Objects one after another; a line where none begins, or one that is broken, is an event without a value."""
    start = 0
    while start < len(text):
        found = _OBJECT.match(text, start)
        value, end = _decoded(text, found.end()) if found else (None, start)
        after = (_REST if value is None else _AFTER).match(text, end)
        end = after.end() if after else end
        yield Event(start, end, value)
        start = end


def _decoded(text: str, start: int) -> tuple[Any, int]:
    """Return the object that begins at `start` and its end; None if it is broken."""
    try:
        return _DECODER.raw_decode(text, start)
    except (ValueError, RecursionError):
        return None, start


Chunk = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Joined:
    units: tuple[str, ...]
    """JSON texts of the message's units."""
    note: str = ""
    """Why the message ended, or what is odd about it."""


@dataclass(frozen=True, slots=True)
class Chunks:
    """The chunks of one API."""

    is_chunk: Callable[[Chunk], bool]
    joined: Callable[[Sequence[Chunk]], Joined]
    key: Callable[[Chunk], str] = lambda chunk: ""
    """What all chunks of a message share; "" for a chunk that does not say. Another key begins another message."""
    opens: Callable[[Chunk], bool] = lambda chunk: False
    """Whether a chunk is the first one of a message."""
    is_whole: Callable[[Chunk], bool] = lambda chunk: False
    """Whether a chunk may be an answer that was not streamed."""
    is_proof: Callable[[Chunk], bool] = lambda chunk: True
    """Whether a chunk tells the API apart from others with the same form."""
    answer_at: Pointer | None = None
    """Where an answer that was not streamed has the message; None where nobody logs one beside its request."""

    def answer(self, value: Any) -> str:
        """Return the JSON of the answer in a list of chunks, or in the text that was sent; "" if they are not of this API."""
        found = [event.value for event in events(value)] if isinstance(value, str) else value
        chunks = [each for each in found if type(each) is dict and self.is_chunk(each)]
        if self.answer_at is None or not chunks or chunks[0] is not next(each for each in found if each is not None):
            return ""
        units = self.joined(chunks).units
        text = units[0] if len(units) == 1 and self.answer_at != ("output",) else f"[{', '.join(units)}]"
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
    """Append a piece of text to a member; None and "" say nothing, but a text that is there stays one."""
    before = holder.get(key)
    if type(text) is str and (text or before is None):
        holder[key] = (before if type(before) is str else "") + text


def with_arguments(block: Chunk, key: str, text: str) -> str:
    """Return the JSON of a block with its arguments, which chunks spell as text, under `key`; unchanged without any."""
    if not text:
        return dump(block)
    unit = json_edit.load_object(dump(block))
    unit.set(key, input_text(text, Speller("", True)))
    return str(unit)


def message_text(members: Chunk, contents: Sequence[str]) -> str:
    """The JSON of an assistant message, whatever role a chunk gives it, with the JSON of its content blocks."""
    unit = json_edit.load_object(dump({**members, "role": "assistant", "content": []}))
    unit.set("content", f"[{', '.join(contents)}]")
    return str(unit)


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
        """Return where the chunks of each message are, without the line breaks behind them."""
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
