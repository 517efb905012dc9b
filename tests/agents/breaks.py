"""What crashes and bugs leave in a session file, done to a real one."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

Record = dict[str, Any]
Break = Callable[[list[Record]], bytes]
_IDS = (("uuid", "parentUuid"), ("id", "parentId"))
_RESULTS = ('"functionResponse"', '"function_call_output"', '"toolResult"', '"type": "tool.result"')
_CALLS = ('"functionCall"', '"function_call"', '"toolCall"', '"toolCalls": [{"id"', '"type": "tool.call"')


def written(records: Sequence[Record]) -> bytes:
    return b"".join(json.dumps(record, separators=(",", ":")).encode() + b"\n" for record in records)


def is_result(record: Record) -> bool:
    """Whether a record is a result, not a call that holds one."""
    return any(word in json.dumps(record) for word in _RESULTS) and "toolCalls" not in record and record.get("kind") != "event"


def is_call(record: Record) -> bool:
    return any(word in json.dumps(record) for word in _CALLS)


def without_result(records: list[Record]) -> bytes:
    """The process died while the tool ran, and the session went on later: the result was never written."""
    return written([_unanswered(record) for record in _linked(records, [not is_result(record) for record in records])])


def ends_with_call(records: list[Record]) -> bytes:
    """The process died while the tool ran; nothing follows."""
    last = max(place for place, record in enumerate(records) if is_call(record))
    return written([_unanswered(record) for record in records[: last + 1]])


def cut_off(records: list[Record]) -> bytes:
    """The last record was not written to its end."""
    return written(records)[:-20]


def doubled(records: list[Record]) -> bytes:
    """The record of the call was written twice."""
    call = max(place for place, record in enumerate(records) if is_call(record))
    return written([*records[: call + 1], records[call], *records[call + 1 :]])


def lost_result(records: list[Record]) -> bytes:
    """The line of the result was lost, and the record behind it names one that is not there."""
    return written([record for record in records if not is_result(record)])


def without_numbers(records: list[Record]) -> bytes:
    """An older version of Codex wrote the last records, without their numbers."""
    return written([*records[:-4], *({key: value for key, value in record.items() if key != "ordinal"} for record in records[-4:])])


def as_it_is(records: list[Record]) -> bytes:
    """Nothing broke the session but its own program."""
    return written(records)


def _unanswered(record: Record) -> Record:
    """Gemini CLI writes results into the record of their calls."""
    if "toolCalls" not in record:
        return record
    calls = [{key: value for key, value in call.items() if key not in ("result", "resultDisplay")} for call in record["toolCalls"]]
    return {**record, "toolCalls": calls}


def _linked(records: Sequence[Record], stays: Sequence[bool]) -> list[Record]:
    """The records that stay, each linked to the one before it in place of one that went."""
    parents: dict[str, Any] = {}
    found: list[Record] = []
    for record, is_kept in zip(records, stays, strict=True):
        own, parent = next(((own, parent) for own, parent in _IDS if parent in record), ("", ""))
        linked = {**record, parent: parents.get(record[parent], record[parent])} if parent else record
        if is_kept:
            found.append(linked)
        elif parent:
            parents[record[own]] = linked[parent]
    return found
