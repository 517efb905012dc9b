"""Calls in a comparison: those that a result answers, and those that two runs made under ids of their own."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import islice

from chainviz.core.chain.messages import TOOL, Message, Part, ToolCall, ToolResult
from chainviz.core.diff.align import Equal, align
from chainviz.core.diff.lines import DiffRow
from chainviz.core.diff.messages import MessageDiff, compare_texts

SHOWN = 6
"""Lines of the arguments of a call beside its result."""


def hidden_calls(messages: Iterable[Message], changed: Iterable[MessageDiff]) -> Mapping[str, ToolCall]:
    """The calls of a group by id, without those that its changes show."""
    shown = {
        part.call_id for message in changed for part in message.parts if part.part == "tool_call" and part.kind != "same"
    }
    calls = (part for message in messages for part in message.parts if isinstance(part, ToolCall))
    return {call.id: call for call in calls if call.id not in shown}


def answered_calls(message: MessageDiff, calls: Mapping[str, ToolCall]) -> list[ToolCall]:
    """The calls that the results of a message answer which only one side has."""
    if message.role != TOOL or message.kind not in ("added", "removed"):
        return []
    return [calls[part.call_id] for part in message.parts if part.part == "tool_result" and part.call_id in calls]


def argument_rows(call: ToolCall) -> tuple[list[DiffRow], int]:
    """The first lines of its arguments, unchanged, and how many more there are."""
    rows = compare_texts(call.arguments, call.arguments, json=False).rows(context=None)
    shown = [row for row in islice(rows, SHOWN) if isinstance(row, DiffRow)]
    return shown, max(0, call.arguments.count("\n") + 1 - SHOWN)


def with_ids_of(new: Sequence[Message], old: Sequence[Message]) -> list[Message]:
    """The old messages with the ids of the new ones, where both call the same tools in the same order."""
    olds, news = _calls(old), _calls(new)
    steps = align([call.name for call in olds], [call.name for call in news]).steps()
    same = [(step.old + i, step.new + i) for step in steps if isinstance(step, Equal) for i in range(step.length)]
    ids = {olds[i].id: news[k].id for i, k in same}
    return [replace(message, parts=tuple(_renamed(part, ids) for part in message.parts)) for message in old]


def _calls(messages: Sequence[Message]) -> list[ToolCall]:
    return [part for message in messages for part in message.parts if isinstance(part, ToolCall)]


def _renamed(part: Part, ids: Mapping[str, str]) -> Part:
    match part:
        case ToolCall():
            return replace(part, id=ids.get(part.id, part.id))
        case ToolResult():
            return replace(part, call_id=ids.get(part.call_id, part.call_id))
    return part
