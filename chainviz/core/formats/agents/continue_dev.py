"""Sessions of Continue (`~/.continue/sessions/….json`): each item of `history` holds a chat message and its context.

What a call returned lies in the state of the call, in most versions once more in a message of its own, which then counts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from chainviz.core.chain.messages import TOOL, Image, Message, Part, Text, Thinking, ToolCall, ToolResult
from chainviz.core.dialects.members import objects_of, string_of
from chainviz.core.documents.units import Unit
from chainviz.core.formats.read_only_units import (
    ReadOnlyUnits,
    Said,
    as_text,
    inner,
    unknown,
    with_results,
)


class ContinueDev(ReadOnlyUnits):
    name = "continue_dev"
    label = "Continue session"
    tested_with = "types of Continue 1.0"
    hints = ("contextItems",)
    carried_fields = frozenset(("toolCallStates", "contextItems", "editorState", "promptLogs", "appliedRules"))

    def is_message(self, value: object) -> bool:
        return isinstance(value, dict) and "contextItems" in value and bool(string_of(inner(value, "message"), "role"))

    def read(self, units: Iterable[Unit]) -> Iterator[Message | Unit]:
        waiting: Message | None = None
        for unit in units:
            for each in super().read([unit]):
                is_repeated = isinstance(each, Message) and each.role == TOOL and not each.source[0].blocks
                if waiting is not None and not is_repeated:
                    yield waiting
                is_state = isinstance(each, Message) and each.role == TOOL and bool(each.source[0].blocks)
                waiting = each if is_state and isinstance(each, Message) else None
                if waiting is None:
                    yield each
        if waiting is not None:
            yield waiting

    def messages_in(self, value: Any) -> Sequence[Said]:
        message = value["message"]
        role = message["role"]
        if role == "tool":
            return [(role, [ToolResult(string_of(message, "toolCallId"), "", as_text(message.get("content")))])]
        if role == "thinking":
            return [("assistant", [Thinking(as_text(message.get("content")), string_of(message, "signature"))])]
        calls = [_call(item) for item in objects_of(message, "toolCalls")]
        results = [_result(state) for state in objects_of(value, "toolCallStates") if objects_of(state, "output")]
        return with_results(role, [*_content(message.get("content")), *calls], results)


def _call(item: dict[str, Any]) -> ToolCall:
    function = inner(item, "function")
    return ToolCall(string_of(item, "id"), string_of(function, "name"), as_text(function.get("arguments")))


def _result(state: dict[str, Any]) -> ToolResult:
    content = "\n\n".join(string_of(item, "content") for item in objects_of(state, "output"))
    name = string_of(inner(inner(state, "toolCall"), "function"), "name")
    return ToolResult(string_of(state, "toolCallId"), name, content, string_of(state, "status") == "errored")


def _content(content: Any) -> Iterator[Part]:
    for item in content if isinstance(content, list) else [content]:
        text = item if isinstance(item, str) else string_of(item, "text")
        url = string_of(inner(item, "imageUrl"), "url")
        if text or url:
            yield Text(text) if text else Image(url)
        elif item:
            yield unknown(item)
