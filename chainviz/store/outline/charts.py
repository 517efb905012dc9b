"""Where the bytes go: by role and by tool. Kept for a whole snapshot and corrected by each edit."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from chainviz.core.messages import Message, Shape, ToolCall, ToolResult
from chainviz.store.packed import pack, unpack
from chainviz.store.skeletons import StoredShape


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
            _add(self.roles, message.role, (sign, sign * message.size))
            for kind, size, id, name in _parts(message):
                if kind == "tool_call":
                    names[id] = name
                    _add(self.tools, name, (sign, sign * size, 0, 0))
                else:
                    _add(self.tools, name or names.get(id, ""), (0, 0, sign, sign * size))

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


def _add(totals: dict[str, list[int]], name: str, amounts: tuple[int, ...]) -> None:
    sums = totals.setdefault(name, [0] * len(amounts))
    for i, amount in enumerate(amounts):
        sums[i] += amount
    if not any(sums):
        del totals[name]


def unpack_charts(packed: Any) -> Charts:
    return Charts(*unpack(packed))
