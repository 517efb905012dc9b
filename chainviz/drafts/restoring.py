"""Brings back one text of an earlier version: finds its part again, and says which edit sets it. Knows no request."""

from __future__ import annotations

from typing import Any

from chainviz.chains.comparing import compare
from chainviz.core.diff.contents import MessageDiff
from chainviz.core.errors import Refused
from chainviz.core.messages import Part, Text, ToolCall, ToolResult
from chainviz.core.operations.edit.options import EditOptions
from chainviz.store.chain import StoredChain

ONE_TO_ONE = ("changed",)
"""Kinds of change in which a message is the successor of one message."""
NOT_FOUND = "It cannot be told which part of the newest version this text belongs to now; copy it into the edit form."


def restoring_edit(old: StoredChain, now: StoredChain, message: int, part: int) -> EditOptions:
    """Refused where the text is the same already, or where it belongs is not plain."""
    if not (message < len(old) and part < len(old[message].parts)):
        raise Refused("The version before has no such text.")
    found, number = _successor(old, now, message, part)
    before, after = old[message].parts[part], now[found].parts[number]
    if type(before) is not type(after) or _call_id(before) != _call_id(after):
        raise Refused(NOT_FOUND)
    path = now.outline.path_at(found)
    return EditOptions.model_validate({"path": f"{path}.c{number}", **_values(before)})


def _successor(old: StoredChain, now: StoredChain, message: int, part: int) -> tuple[int, int]:
    diff = compare(old, now)
    group = next((each for each in diff.changes if each.old.start <= message < each.old.stop), None)
    if group is None:
        raise Refused("The text stands like this in the newest version already.")
    messages = diff.messages(group) if group.kind in ONE_TO_ONE else ()
    there = next((each for each in messages if each.old == message), None)
    if there is None or there.new is None:
        raise Refused(NOT_FOUND)
    return there.new, _part_of(there, part)


def _part_of(message: MessageDiff, part: int) -> int:
    if message.kind == "same":
        raise Refused("The text stands like this in the newest version already.")
    number = next((each.new_part for each in message.parts if each.old_part == part), None)
    if number is None:
        raise Refused(NOT_FOUND)
    return number


def _call_id(part: Part) -> str:
    return part.id if isinstance(part, ToolCall) else part.call_id if isinstance(part, ToolResult) else ""


def _values(part: Part) -> dict[str, Any]:
    match part:
        case Text():
            return {"action": "text", "text": part.text}
        case ToolResult():
            return {"action": "result", "text": part.content, "is_error": "yes" if part.is_error else "no"}
        case ToolCall():
            return {"action": "arguments", "arguments": part.arguments, "allow_invalid": True}
    raise Refused("Only texts, arguments and results can be restored one by one.")
