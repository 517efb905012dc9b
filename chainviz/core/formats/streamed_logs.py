"""Read logs of requests whose answers are recorded streams (a list of chunks, the text as sent, or an event a line). Each answer is
replaced by the one that the API would have sent without streaming."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any

from chainviz.core.documents.json.edit import replace_at
from chainviz.core.documents.units import Pointer
from chainviz.core.documents.wrapped.kinds import HOLDS_MESSAGES, STREAMED, Kind, in_members
from chainviz.core.documents.wrapped.values import read_json
from chainviz.core.formats.streams import Chunk, Chunks

_TOLD = re.compile(
    r'"stream"\s*:\s*true|"\w+Stream"|streamGenerateContent|\[\s*\{\s*"candidates"|"message(?:_s|-s|S)tart"'
    r'|"chat\.completion\.chunk\\?"|"response\.created\\?"|:\s*"(?:event|data): ?'
)
"""Text at the start or end of a log that shows that its answers are streamed: a request for streaming, or chunks."""
_TOLD_BY = (
    '"stream"', 'Stream"', "streamGenerateContent", '"candidates"', '"message_s', '"message-s', '"messageS', '"chat.completion.chunk',
    '"response.created', '"event:', '"data:',
)  # fmt: skip
"""Words of which `_TOLD` needs one. Searching for them is ten times as fast."""
ANSWERS = ("response", "body", "response_body", "output", "outputBodyJson", "text")
"""Names of the field with the answer."""
DEEPEST = 8
"""The number of levels of a record that are searched."""


def streamed_logs(apis: Sequence[Chunks]) -> Kind:
    def documents(text: str) -> Iterator[tuple[str, str]]:
        """Yield the document, or each of its lines, with joined answers, if any answer is streamed."""
        records = [text] if read_json(text) is not None else [line for line in text.splitlines() if line.strip()]
        joined = [_with_answers(record, apis) for record in records]
        for number, record in enumerate(joined if joined != records else (), 1):
            if HOLDS_MESSAGES.search(record):
                yield f"record {number}", record
            else:
                yield from ((f"record {number}, {where}", each) for where, each in in_members(record))

    return STREAMED, _is_told, documents


def _is_told(head: str) -> bool:
    return head.lstrip()[:1] == "{" and any(word in head for word in _TOLD_BY) and _TOLD.search(head) is not None


_EVENT = re.compile(
    r'"(?:event_type|type|object)\\*"\s*:\s*\\*"(?:response\.|message[_-]start|content[_-]block|interaction\.|step\.|content\.|'
    r'chat\.completion\.chunk)|"(?:candidates|messageStart|contentBlockDelta)\\*"\s*:'
)
"""Text of an event of a stream, which may be in a JSON string."""


def logged_events(apis: Sequence[Chunks]) -> Kind:
    """Return the kind of a log with the events of streamed answers, an event a line, each behind a prefix or in a record."""

    def documents(text: str) -> Iterator[tuple[str, str]]:
        """Yield an answer for each stream, with the request that precedes it."""
        request, chunks, start = "", list[Any](), 0
        for number, line in enumerate(text.splitlines(), 1):
            value = _value_in(line)
            if _is_own(line, value, apis):
                return
            event = next((each for each in _events_in(value) if any(api.is_chunk(each) for api in apis)), None)
            if event is not None and _has_request_beside(value, event):
                return
            is_request = event is None and isinstance(value, dict) and HOLDS_MESSAGES.search(line)
            if chunks and (is_request or (event is not None and any(api.opens(event) for api in apis))):
                yield f"line {start}", _exchange(request, chunks, apis)
                request, chunks = "", []
            if event is not None:
                start = start if chunks else number
                chunks.append(event)
            request = json.dumps(value) if is_request else request
        if chunks:
            yield f"line {start}", _exchange(request, chunks, apis)

    return "a log with the events of streamed answers", lambda head: _EVENT.search(head) is not None, documents


def _is_own(line: str, value: Any, apis: Sequence[Chunks]) -> bool:
    """Return True for a line of a recorded stream, or of a session with events, which have formats of their own."""
    is_record = line.lstrip().startswith(("{", "[", "data:", "event:")) and isinstance(value, dict)
    return is_record and ("type" in value or any(api.is_chunk(value) for api in apis))


def _has_request_beside(record: Any, event: Chunk) -> bool:
    """Return True if a record holds messages beside what looks like an event: it is a request with its whole answer."""
    beside = {key: inner for key, inner in record.items() if inner is not event} if record is not event else {}
    return HOLDS_MESSAGES.search(json.dumps(beside)) is not None


def _value_in(line: str) -> Any:
    """Return the object in a line; None if there is none."""
    start = line.find("{")
    with suppress(ValueError, RecursionError):
        return json.JSONDecoder(strict=False).raw_decode(line, start)[0] if start >= 0 else None
    return None


def _events_in(value: Any) -> Iterator[Chunk]:
    """Yield what may be the event of a record: the record itself, an object in it, or the text of an event in it."""
    if not isinstance(value, dict):
        return
    yield value
    for inner in value.values():
        found = _value_in(inner) if isinstance(inner, str) and inner.count("data:") < 2 else inner
        if isinstance(found, dict):
            yield found


def _exchange(request: str, chunks: Sequence[Any], apis: Sequence[Chunks]) -> str:
    answer = _joined(chunks, "response" if request else "", apis)
    return f'{{"request": {request}, "response": {answer}}}' if request else answer


def _with_answers(record: str, apis: Sequence[Chunks]) -> str:
    """Return a record with each streamed answer joined. If the request is a JSON string, the answer is one too."""
    text, is_plain = record, HOLDS_MESSAGES.search(record)
    for pointer, joined in _answers(read_json(record), apis):
        text = replace_at(text, pointer, joined if is_plain else json.dumps(joined))
    return text


def _answers(value: Any, apis: Sequence[Chunks], pointer: Pointer = ()) -> Iterator[tuple[Pointer, str]]:
    joined = _joined(value, pointer[-1], apis) if pointer and _may_be_streamed(value) else ""
    if joined:
        yield pointer, joined
    elif len(pointer) < DEEPEST and isinstance(value, dict | list):
        for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
            yield from _answers(inner, apis, (*pointer, key))


def _joined(value: Any, key: str | int, apis: Sequence[Chunks]) -> str:
    """Return the JSON of a streamed answer; "" if it is not one. An answer that is only a message is recognized by its field name."""
    for chunks in apis:
        if answer := chunks.answer(value):
            return answer if chunks.answer_at or key in ANSWERS else f'{{"response": {answer}}}'
    return ""


def _may_be_streamed(value: Any) -> bool:
    if isinstance(value, str):
        return value.lstrip().startswith(("data:", "event:"))
    return isinstance(value, list) and bool(value) and all(isinstance(each, dict) for each in value)
