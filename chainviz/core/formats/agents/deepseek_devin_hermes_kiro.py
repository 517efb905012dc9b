"""Sessions of DeepSeek's harness, Devin CLI, Hermes Agent and Kiro.

- DeepSeek (`~/.dsh/sessions/…/session.jsonl`): messages, calls and results as events. The pieces of an answer that streamed in come
  before the whole answer; they count where the session ends before it.
- Devin: the messages of the document that is made of its database.
- Hermes (`~/.hermes/sessions/`): OpenAI's messages, in a list beside the system prompt or a line each. A record with the role
  `session_meta` describes the session, its model and its tools; it is no message.
- Kiro: the records of its command line (`~/.kiro/sessions/cli/….jsonl`), the turns of the JSON that it keeps in its database and saves
  with `/save` (Amazon Q Developer too), and the chats of the editor (`….chat`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from chainviz.core.chain.messages import SLOT, SYSTEM, Fragment, Message, Part, Role, Text, Thinking, ToolCall, ToolResult, text_of
from chainviz.core.dialects.units import has_role, read_units
from chainviz.core.dialects.values import Speller, objects_of, string_of
from chainviz.core.documents.json.edit import parse
from chainviz.core.documents.units import Sample, Unit
from chainviz.core.formats.contract import Style
from chainviz.core.formats.read_only import MODEL, TOOLS, EventLog, ReadOnlyUnits, Turn, as_text, call_arguments, inner, text_part, unknown
from chainviz.core.formats.vendors.openai_form.chat_format import ChatFormat
from chainviz.core.formats.vendors.openai_form.read import read_message

_WORDS = {"system/message": "system", "user/message": "user", "assistant/message": MODEL}
_PIECES = ("assistant/chunk", "text-chunks", "reasoning-chunks")


class DeepSeekHarness(EventLog):
    name = "deepseek_harness"
    label = "DeepSeek harness session"
    tested_with = "sessions of version 0, 2026"
    hints = ("data",)
    certainty = 0.98
    carried_types = frozenset(
        (*_PIECES, "session", "session/title", "permission/preset", "turn/start", "turn/end", "step/start", "step/end")
    )

    def is_piece(self, value: Any) -> bool:
        return string_of(value, "type") in _PIECES

    def is_message(self, value: object) -> bool:
        kind = string_of(value, "type")
        if kind in _PIECES:
            return bool(_piece(value))
        if kind == "tool/call":
            return isinstance(inner(value, "data").get("name"), str)
        return (kind in _WORDS or kind == "tool/result") and bool(_message(value))

    def messages_in(self, value: Any) -> Sequence[Turn]:
        kind, message = value["type"], _message(value)
        if kind in _PIECES:
            return [(MODEL, [Thinking(text) if is_thought else Text(text) for text, is_thought in _piece(value)])]
        if kind == "tool/call":
            data = value["data"]
            return [(MODEL, [ToolCall(string_of(data, "callId"), data["name"], call_arguments(data.get("arguments")))])]
        if kind == "tool/result":
            return [(TOOLS, list(_results(message)))]
        return [(_WORDS[kind], list(_content(message.get("content"))))]


def _piece(value: Any) -> list[tuple[str, bool]]:
    """Return the texts of a piece of an answer, each with whether it is a thought."""
    data = inner(value, "data")
    chunk = inner(data, "chunk")
    texts = [chunk.get("text")] if chunk else data.get("texts")
    is_thought = "reasoning" in (string_of(chunk, "type") or value["type"])
    return [(text, is_thought) for text in texts if isinstance(text, str)] if isinstance(texts, list) else []


def _message(value: Any) -> dict[str, Any]:
    """Return the message of an event: its data, or a member of it."""
    data = inner(value, "data")
    message = inner(data, "message") or data
    return message if isinstance(message.get("content"), str | list) else {}


def _content(content: Any) -> Iterator[Part]:
    """Yield the parts of an answer; calls are separate events."""
    if isinstance(content, str):
        yield Text(content)
    for item in objects_of({"content": content}, "content"):
        kind = string_of(item, "type")
        if kind == "tool-call":
            continue
        yield Thinking(string_of(item, "text")) if kind == "reasoning" else text_part(item) if kind == "text" else unknown(item)


def _results(message: dict[str, Any]) -> Iterator[ToolResult]:
    items = [item for item in objects_of(message, "content") if string_of(item, "type") == "tool-result"]
    for item in items or [message]:
        own = string_of(item, "toolCallId") or string_of(message.get("source"), "callId")
        content = item["content"] if "content" in item else item.get("output")
        yield ToolResult(own, string_of(item, "toolName"), as_text(content), item.get("isError") is True)


class Devin(ReadOnlyUnits):
    """Messages of Devin CLI: OpenAI's, with what the model thought in `thinking` and the tokens of a call in `metadata`."""

    name = "devin"
    label = "Devin CLI session"
    tested_with = "databases of Devin CLI, described by their readers"
    hints = ("role",)

    def is_message(self, value: object) -> bool:
        return isinstance(value, dict) and bool(string_of(value, "role")) and ("content" in value or "tool_calls" in value)

    def confidence(self, sample: Sample) -> float:
        return super().confidence(sample) if "main_chain_id" in sample.beside else 0.0

    def messages_in(self, value: Any) -> Sequence[Turn]:
        if value["role"] == TOOLS:
            return [(TOOLS, [ToolResult(string_of(value, "tool_call_id"), "", as_text(value.get("content")))])]
        parts: list[Part] = [Thinking(string_of(value, "thinking"))] if string_of(value, "thinking") else []
        parts += [Text(text)] if (text := as_text(value.get("content"))) else []
        for item in objects_of(value, "tool_calls"):
            call = inner(item, "function") or item
            given = call.get("arguments", call.get("input"))
            parts.append(ToolCall(string_of(item, "id"), string_of(call, "name"), call_arguments(given)))
        return [(MODEL if value["role"] == "agent" else value["role"], parts)]


_META = "session_meta"
_OWN = ("codex_reasoning_items", "codex_message_items")
_SESSION = ("session_id", "platform")


class Hermes(ChatFormat):
    name = "hermes"
    label = "Hermes Agent session"
    tested_with = "sessions of 2026"
    template = '{"session_id": "converted", "platform": "cli", "messages": [\n]}\n'
    slot_key = "system_prompt"
    carried_types = frozenset((_META,))
    carried_fields = frozenset(_OWN)

    def is_message(self, value: object) -> bool:
        return super().is_message(value) and string_of(value, "role") != _META

    def confidence(self, sample: Sample) -> float:
        if not any(map(self.is_message, sample.values)):
            return 0.0
        is_named = all(key in sample.beside for key in _SESSION)
        return 0.97 if is_named or any(_is_own(value) for value in sample.values) else 0.0

    def read(self, units: Iterable[Unit]) -> Iterator[Message | Unit]:
        for unit in units:
            if unit.ordinal != SLOT:
                yield from read_units([unit], read_message, lambda value: has_role(value) and value["role"] != _META)
            elif isinstance(unit.value, str) and unit.value:
                yield self.message(SYSTEM, (unit.fragment(),))

    def message(self, role: Role, source: tuple[Fragment, ...]) -> Message:
        if source[0].ordinal == SLOT:
            return Message(SYSTEM, (Text(parse(source[0].text), origin=0),), source=source)
        return super().message(role, source)

    def write(self, message: Message, style: Style) -> tuple[Fragment, ...]:
        in_slot = message.source[0].ordinal == SLOT if message.source else style.slot and style.number == 0
        if in_slot and message.source and self.message(SYSTEM, message.source[:1]) == message:
            return message.source[:1]
        if in_slot and message.role == SYSTEM:
            return (Fragment(SLOT, "", Speller(style.near, style.ascii).quote(text_of(message))),)
        return super().write(Message(message.role, message.parts) if in_slot else message, style)


def _is_own(value: Any) -> bool:
    return string_of(value, "role") == _META or (isinstance(value, dict) and any(key in value for key in _OWN))


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
