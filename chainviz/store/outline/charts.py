"""Where the bytes go: by role and by tool. Kept for a whole snapshot and corrected by each edit."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from chainviz.core.chain.messages import Message, Shape, ToolCall, ToolResult
from chainviz.store.content.codec import pack, unpack
from chainviz.store.content.message_shapes import StoredShape


class Charts:
    def __init__(self, roles: dict[str, list[int]] | None = None, tools: dict[str, list[int]] | None = None) -> None:
        self.roles = roles or {}
        """By role: messages, bytes."""
        self.tools = tools or {}
        """By tool name: calls, bytes of calls, results, bytes of results."""

    def add(self, row: Sequence[Shape], sign: int = 1) -> None:
        """The messages of a row; -1 takes them away again. A result without a name counts for its call's tool."""
        names: dict[str, str] = {}
        for message in row:
            role = _sums(self.roles, message.role, 2)
            role[0] += sign
            role[1] += sign * message.size
            for kind, size, id, name in _parts(message):
                is_result = kind == "tool_result"
                if is_result:
                    name = name or names.get(id, "")
                else:
                    names[id] = name
                tool = _sums(self.tools, name, 4)
                tool[2 * is_result] += sign
                tool[2 * is_result + 1] += sign * size
        if sign < 0:
            _drop_empty(self.roles)
            _drop_empty(self.tools)

    def packed(self) -> bytes:
        return pack([self.roles, self.tools])


def _parts(message: Shape) -> Iterator[tuple[str, int, str, str]]:
    """Kind, size, id and tool name of calls and results."""
    if isinstance(message, StoredShape):
        for shape in message.parts:
            if shape.kind in ("tool_call", "tool_result"):
                yield shape.kind, shape.size, shape.id, shape.name
        return
    assert isinstance(message, Message)
    for part in message.parts:
        if type(part) is ToolCall:
            yield "tool_call", part.size, part.id, part.name
        elif type(part) is ToolResult:
            yield "tool_result", part.size, part.call_id, part.name


def _sums(totals: dict[str, list[int]], name: str, width: int) -> list[int]:
    found = totals.get(name)
    if found is None:
        found = totals[name] = [0] * width
    return found


def _drop_empty(totals: dict[str, list[int]]) -> None:
    for name in [name for name, sums in totals.items() if not any(sums)]:
        del totals[name]


def unpack_charts(packed: Any) -> Charts:
    return Charts(*unpack(packed))
