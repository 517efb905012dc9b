"""Messages drawn in one letter each: `h("hi"), ai("text", call("a")), tool("a")`."""

from __future__ import annotations

from chainviz.core.chain.messages import AI, HUMAN, SYSTEM, TOOL, Message, Part, Text, ToolCall, ToolResult


def s(text: str = "be kind") -> Message:
    return Message(SYSTEM, (Text(text),))


def h(text: str = "hi", *more: Part) -> Message:
    return Message(HUMAN, (Text(text), *more))


def call(id: str, name: str = "search", arguments: str = "{}") -> ToolCall:
    return ToolCall(id, name, arguments)


def result(id: str, content: str = "found", name: str = "search") -> ToolResult:
    return ToolResult(id, name, content)


def ai(*parts: str | Part) -> Message:
    return Message(AI, tuple(Text(part) if isinstance(part, str) else part for part in parts))


def tool(*parts: str | Part) -> Message:
    """A tool message; a string is a result of the call with that id."""
    return Message(TOOL, tuple(result(part) if isinstance(part, str) else part for part in parts))


def odd(role: str, text: str = "odd") -> Message:
    return Message(role, (Text(text),))
