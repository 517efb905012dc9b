"""Chats that VS Code exports (`Chat: Export Chat…`) and keeps: each request holds the answer of GitHub Copilot.

The rounds of an agent hold calls and results; other answers hold the pieces that the editor showed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from chainviz.core.chain.messages import Part, Text, Thinking, ToolCall, ToolResult
from chainviz.core.dialects.members import objects_of, string_of
from chainviz.core.documents.json.edit import dump
from chainviz.core.formats.read_only_units import ReadOnlyUnits, Said, as_text, in_steps, inner, unknown, with_results


class CopilotChat(ReadOnlyUnits):
    name = "copilot_chat"
    label = "VS Code chat (Copilot)"
    tested_with = "source of VS Code 1.95 to 1.106"
    hints = ("requestId",)
    carried_fields = frozenset(
        ("agent", "variableData", "generatedTitle", "invocationMessage", "pastTenseMessage", "slashCommand", "followups", "details",
         "errorDetails", "renderedGlobalContext", "renderedUserMessage", "promptTokenDetails", "codeBlocks", "cacheKey")
    )  # fmt: skip

    def is_message(self, value: object) -> bool:
        return isinstance(value, dict) and "requestId" in value and isinstance(inner(value, "message").get("text"), str)

    def carried_in(self, value: object) -> frozenset[str]:
        """What was shown repeats the rounds, where they are recorded."""
        has_rounds = bool(objects_of(inner(inner(value, "result"), "metadata"), "toolCallRounds"))
        return self.carried_fields | {"response"} if has_rounds else self.carried_fields

    def messages_in(self, value: Any) -> Sequence[Said]:
        asked: list[Said] = [("user", [Text(value["message"]["text"])])]
        metadata = inner(inner(value, "result"), "metadata")
        rounds = objects_of(metadata, "toolCallRounds")
        results = inner(metadata, "toolCallResults")
        answered = [said for each in rounds for said in _round(each, results)]
        return [*asked, *(answered or _answer(value))]


def _round(value: dict[str, Any], returned: dict[str, Any]) -> list[Said]:
    called = objects_of(value, "toolCalls")
    calls = [ToolCall(string_of(each, "id"), string_of(each, "name"), as_text(each.get("arguments"))) for each in called]
    thought = as_text(inner(value, "thinking").get("text"))
    texts = [Text(string_of(value, "response"))] if string_of(value, "response") else []
    results = [ToolResult(call.id, call.name, _content(returned[call.id])) for call in calls if call.id in returned]
    return with_results("assistant", [*([Thinking(thought)] if thought else []), *texts, *calls], results)


def _content(returned: Any) -> str:
    return "\n".join(as_text(item.get("value")) for item in objects_of(returned, "content"))


def _answer(value: dict[str, Any]) -> list[Said]:
    """What the editor showed of an answer whose rounds are not recorded, as of one that was interrupted."""
    pieces: list[tuple[Part, ToolResult | None]] = []
    for item in objects_of(value, "response"):
        for part, result in _piece(item):
            last = pieces[-1][0] if pieces else None
            if isinstance(part, Text) and isinstance(last, Text):
                pieces[-1] = (Text(last.text + part.text), None)
            else:
                pieces.append((part, result))
    return in_steps("assistant", pieces) if pieces else []


def _piece(item: dict[str, Any]) -> Iterator[tuple[Part, ToolResult | None]]:
    kind = string_of(item, "kind")
    text = string_of(item, "value") or string_of(inner(item, "content"), "value")
    if kind == "thinking" and text:
        yield Thinking(text), None
    elif kind in ("", "markdownContent") and text:
        yield Text(text), None
    elif kind == "inlineReference":
        yield Text(_name(inner(item, "inlineReference"), string_of(item, "name"))), None
    elif kind == "toolInvocationSerialized":
        yield _invocation(item)
    elif kind in ("", "thinking", "markdownContent") and "value" not in item and "content" not in item:
        yield unknown(item), None


def _name(reference: dict[str, Any], name: str) -> str:
    """What a reference in a text is called: its name, or that of its file."""
    path = string_of(reference, "path") or string_of(inner(reference, "uri"), "path")
    return f"`{name or string_of(reference, 'name') or path.rpartition('/')[2]}`"


def _invocation(item: dict[str, Any]) -> tuple[ToolCall, ToolResult | None]:
    """A call as the editor shows it, and what it says of its end."""
    call = ToolCall(string_of(item, "toolCallId"), string_of(item, "toolId"), dump(inner(item, "toolSpecificData")))
    said = item.get("pastTenseMessage") or item.get("invocationMessage")
    shown = string_of(said, "value") or as_text(said)
    return call, ToolResult(call.id, call.name, shown) if item.get("isComplete") is True else None
