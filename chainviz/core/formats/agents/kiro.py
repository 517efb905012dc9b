"""Sessions of Kiro: the records of its command line (`~/.kiro/sessions/cli/….jsonl`), the turns of the JSON that it keeps in its
database and saves with `/save` (Amazon Q Developer too), and the chats of the editor (`….chat`)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from chainviz.core.chain.messages import Part, Text, Thinking, ToolCall, ToolResult
from chainviz.core.dialects.values import objects_of, string_of
from chainviz.core.documents.units import Sample
from chainviz.core.formats.read_only import MODEL, TOOLS, ReadOnlyUnits, Turn, as_text, call_arguments, inner, unknown

_RECORDS = {"Prompt": "user", "AssistantMessage": MODEL, "ToolResults": TOOLS, "Compaction": "user"}
_CHAT = {"human": "user", "bot": MODEL, "tool": TOOLS}
_PROMPTS = ("Prompt", "CancelledToolUses")


class KiroSession(ReadOnlyUnits):
    name = "kiro_session"
    label = "Kiro CLI session"
    tested_with = "records of Kiro CLI 2, described by its readers"
    hints = ("kind",)
    carried_fields = frozenset(("__tool_use_purpose",))

    def is_message(self, value: object) -> bool:
        return string_of(value, "kind") in _RECORDS and isinstance(inner(value, "data").get("content"), list)

    def is_carried(self, value: object) -> bool:
        """Return True for the mark that the history was cleared."""
        return string_of(value, "kind") == "Clear"

    def messages_in(self, value: Any) -> Sequence[Turn]:
        return [(_RECORDS[value["kind"]], [_block(item) for item in objects_of(value["data"], "content")])]


class KiroConversation(ReadOnlyUnits):
    name = "kiro_conversation"
    label = "Kiro CLI conversation"
    tested_with = "conversations of Kiro CLI and Amazon Q Developer, described by their readers"
    hints = ("user",)
    carried_fields = frozenset(
        ("env_context", "additional_context", "orig_name", "orig_args", "request_metadata", "current_working_directory")
    )

    def is_message(self, value: object) -> bool:
        if not isinstance(value, dict) or "assistant" not in value:
            return False
        return isinstance(inner(value, "user").get("content"), dict)

    def messages_in(self, value: Any) -> Sequence[Turn]:
        """Return the turns of the user's side, and the answer if there is one yet."""
        content, answer = value["user"]["content"], inner(value, "assistant")
        returned = inner(content, "ToolUseResults") or inner(content, "CancelledToolUses")
        results = [_result(item) for item in objects_of(returned, "tool_use_results")]
        texts = [Text(text) for kind in _PROMPTS if (text := string_of(content.get(kind), "prompt"))]
        asked: list[Turn] = [*([(TOOLS, results)] if results else []), *([("user", texts)] if texts or not results else [])]
        kind = next((kind for kind in ("Response", "ToolUse") if isinstance(answer.get(kind), dict)), "")
        return [*asked, *([(MODEL, _answer(answer[kind], has_calls=kind == "ToolUse"))] if kind else [])]


class KiroChat(ReadOnlyUnits):
    name = "kiro_chat"
    label = "Kiro chat"
    tested_with = "chats of the Kiro editor, described by its readers"
    hints = ("role",)
    certainty = 0.98

    def is_message(self, value: object) -> bool:
        return string_of(value, "role") in _CHAT and isinstance(value, dict) and isinstance(value.get("content"), str)

    def confidence(self, sample: Sample) -> float:
        is_own = sample.key == "chat" and "executionId" in sample.beside
        return self.certainty if is_own and any(map(self.is_message, sample.values)) else 0.0

    def messages_in(self, value: Any) -> Sequence[Turn]:
        word = _CHAT[value["role"]]
        return [(word, [ToolResult("", "", value["content"]) if word == TOOLS else Text(value["content"])])]


def _answer(message: dict[str, Any], *, has_calls: bool) -> list[Part]:
    parts: list[Part] = [Text(string_of(message, "content"))] if string_of(message, "content") else []
    for item in objects_of(message, "tool_uses"):
        parts.append(ToolCall(string_of(item, "id"), string_of(item, "name"), call_arguments(item.get("args"))))
    return [*parts, unknown(message)] if has_calls and not objects_of(message, "tool_uses") else parts


def _result(item: dict[str, Any]) -> ToolResult:
    texts = [as_text(each.get("Text") if "Text" in each else each.get("Json", each)) for each in objects_of(item, "content")]
    return ToolResult(string_of(item, "tool_use_id"), "", "\n".join(texts), string_of(item, "status") == "Error")


def _block(item: dict[str, Any]) -> Part:
    kind, data = string_of(item, "kind"), item.get("data")
    if kind == "text":
        return Text(as_text(data))
    if kind == "thinking":
        return Thinking(string_of(data, "text") or as_text(data), string_of(data, "signature"))
    if kind == "toolUse":
        return ToolCall(string_of(data, "toolUseId"), string_of(data, "name"), call_arguments(inner(item, "data").get("input")))
    if kind == "toolResult":
        texts = [as_text(each.get("data")) for each in objects_of(data, "content")]
        return ToolResult(string_of(data, "toolUseId"), "", "\n".join(texts), string_of(data, "status") == "error")
    return unknown({"type": kind, **item})
