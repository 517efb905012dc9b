"""An answer beside a request whose list of messages already ends with it: logs append it and keep it where it came, too.

It counts once, in the list. Other answers to the same request follow what the list held before it.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from itertools import islice
from typing import Any

from chainviz.core.documents.detection.find_lists import Place
from chainviz.core.documents.detection.sequences import Group
from chainviz.core.documents.json.scan import byte_length
from chainviz.core.documents.source import Source

LONGEST = 1 << 20
"""Bytes of an answer that is compared."""
SPARE = 1 << 12
"""Bytes by which the same message may be spelled longer, beside twice its length."""
MOST_TRIED = 1000
_SAME = ("role", "content", "tool_calls", "function_call", "parts")


def without_repeated(source: Source, groups: Sequence[Group]) -> list[Group]:
    starts = [_repeated_at(source, group) for group in groups]
    of_request = {id(group.places[0]): start for group, start in zip(groups, starts, strict=True) if start is not None}
    return [
        group if id(group.places[0]) not in of_request
        else replace(group, left_out=frozenset((of_request[id(group.places[0])],))) if start is None
        else replace(group, places=group.places[:-1], is_choice=False)
        for group, start in zip(groups, starts, strict=True)
    ]  # fmt: skip


def _repeated_at(source: Source, group: Group) -> int | None:
    """Where the last message of the request begins, if it is the group's answer."""
    first, last = group.places[0], group.places[-1]
    is_answered = last.single and not (first.single or first.string or last.string)
    if not is_answered or last.end - last.start > LONGEST:
        return None
    answer = _told(_value(source.text(last.start, last.end)))
    found = _last_message(source, first, 2 * (last.end - last.start) + SPARE) if answer else None
    return found[1] if found and _told(found[0]) == answer else None


def _last_message(source: Source, place: Place, room: int) -> tuple[dict[str, Any], int] | None:
    """The last element of a list, and where it begins; None for an element that is longer than `room`."""
    start = max(place.start, place.end - room)
    text = source.text(start, place.end)
    end = len(text.rstrip())
    for at in islice((at for at, mark in enumerate(text) if mark == "{"), MOST_TRIED):
        try:
            value, stop = json.JSONDecoder(strict=False).raw_decode(text, at)
        except (ValueError, RecursionError):
            continue
        if stop == end:
            return value, start + byte_length(text[:at])
    return None


def _value(text: str) -> Any:
    try:
        return json.loads(text, strict=False)
    except (ValueError, RecursionError):
        return None


def _told(value: Any) -> dict[str, Any] | None:
    """What makes two messages the same; None for what says nothing."""
    told = {key: value[key] for key in _SAME if value.get(key)} if isinstance(value, dict) else {}
    return told if len(told) > 1 else None
