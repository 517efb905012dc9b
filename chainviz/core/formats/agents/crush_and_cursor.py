"""Crush and Cursor: the rows of a session's messages in their databases, Cursor's transcripts, and what `cursor-agent` prints.

A transcript (`~/.cursor/projects/…/agent-transcripts/…jsonl`) has a message a line, in blocks like Anthropic's. Calls have no ids, and
what tools returned is not recorded; `[REDACTED]` stands for reasoning that Cursor leaves out.
`--output-format stream-json` prints messages in Anthropic's way, and calls as records of their own. With `--stream-partial-output` the
pieces of an answer (they have a `timestamp_ms`) come before the whole answer.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any

from chainviz.core.chain.messages import AI, HUMAN, SYSTEM, TOOL, Message, Opaque, Part, Role, Text, Thinking, ToolCall, ToolResult
from chainviz.core.dialects.leaf import Host, Leaf, Located, as_flag, as_string
from chainviz.core.dialects.losses import Room, losses
from chainviz.core.dialects.values import Speller, objects_of, string_of
from chainviz.core.documents.json.edit import dump, raw_at
from chainviz.core.documents.units import Pointer, Sample
from chainviz.core.documents.written_lists import uuid_of
from chainviz.core.formats.contract import Style
from chainviz.core.formats.leaf_format import LeafFormat, Run, near_value
from chainviz.core.formats.read_only import (
    MODEL,
    TOOLS,
    EventLog,
    ReadOnlyUnits,
    Turn,
    as_text,
    call_arguments,
    in_steps,
    inner,
    text_part,
    unknown,
)

_PARTS = ("text", "reasoning", "tool_call", "tool_result", "finish", "binary", "image_url")
_FILES = frozenset(("binary", "image_url"))
_ROLES: dict[str, Role] = {"system": SYSTEM, "user": HUMAN, "assistant": AI, "tool": TOOL}
_WORDS: dict[Role, str] = {role: word for word, role in _ROLES.items()}
_LEAVES = {
    "text": {"text": "text"},
    "reasoning": {"content": "thinking", "signature": "signature"},
    "tool_call": {"id": "id", "name": "name", "arguments": "input"},
    "tool_result": {"call_id": "tool_call_id", "name": "name", "content": "content", "is_error": "is_error"},
}
"""The members of a part's data, by the fields of a message's part."""
_ROOM = Room(frozenset(_WORDS), _FILES, images=False, files=False, result_media=False)
_TAKEN = ("session_id", "model", "provider")
"""Members that a new message copies from its neighbour."""


class Crush(LeafFormat):
    """Messages of Crush: `parts` are `{type, data}`, and a part gives the reason why the answer ended."""

    name = "crush"
    label = "Crush session"
    tested_with = "a database of Crush of 2025"
    template = '{"session": {"id": "converted", "title": "Converted chain"}, "messages": [\n]}\n'
    blocks_at: Pointer = ("parts",)
    packs = any_near = True
    hints = ("parts",)
    known_kinds = _FILES
    carried_fields = frozenset(("metadata", "details", "message", "reason"))

    def is_message(self, value: object) -> bool:
        if not isinstance(value, dict) or "session_id" not in value or not string_of(value, "role"):
            return False
        parts = objects_of(value, "parts")
        return isinstance(value.get("parts"), list) and all(string_of(part, "type") in _PARTS and "data" in part for part in parts)

    def is_carried(self, value: object) -> bool:
        """Return True for an answer that failed before its first word."""
        return self.is_message(value)

    def confidence(self, sample: Sample) -> float:
        return 0.97 if any(self.is_message(value) for value in sample.values) else 0.0

    def runs(self, value: Any) -> Sequence[Run]:
        if not self.is_message(value) or all(string_of(part, "type") == "finish" for part in value["parts"]):
            return ()
        only_results = all(string_of(part, "type") in ("tool_result", "finish") for part in value["parts"])
        return ((TOOL if only_results else _ROLES.get(value["role"], value["role"]), None),)

    def locate(self, value: Any, text: str, run: Run) -> list[Located]:
        parts = enumerate(value["parts"])
        return [_crush_part(part, text, (*self.blocks_at, place)) for place, part in parts if string_of(part, "type") != "finish"]

    def home(self, part: Part, host: Host) -> Pointer:
        return self.blocks_at

    def elements(self, part: Part, host: Host, speller: Speller) -> list[str]:
        if isinstance(part, Opaque):
            return [part.text] if part.kind in _FILES else []
        kind = {Text: "text", Thinking: "reasoning", ToolCall: "tool_call", ToolResult: "tool_result"}.get(type(part))
        if kind is None:
            return []
        data = {name: speller.dump(getattr(part, field)) for field, name in _LEAVES[kind].items()}
        if kind == "tool_call":
            data |= {"type": '""', "finished": "true"}
        return [speller.object({"type": speller.quote(kind), "data": speller.object(data)})]

    def skeleton(self, message: Message, style: Style, speller: Speller) -> str:
        """Crush takes an answer without a reason for its end for one that is still being written."""
        near = near_value(style) or {}
        calls = any(isinstance(part, ToolCall) for part in message.parts)
        reason = ("tool_use" if calls else "end_turn") if message.role == AI else "stop"
        finish = speller.dump({"type": "finish", "data": {"reason": reason, "time": 0}})
        taken = {name: speller.dump(near[name]) for name in _TAKEN if name in near and (name == "session_id" or message.role == AI)}
        own = {"id": speller.quote(uuid_of(f"{style.number} {message.role} {message.parts!r}")), "session_id": '"converted"', **taken}
        return speller.unit({**own, "role": speller.quote(_WORDS.get(message.role, "user")), "parts": f"[{finish}]"})

    def losses(self, message: Message) -> tuple[str, ...]:
        is_empty = not message.parts
        return (*losses(message, _ROOM), *(("a message without content is left out",) if is_empty else ()))


def _crush_part(item: dict[str, Any], text: str, place: Pointer) -> Located:
    kind, data = string_of(item, "type"), inner(item, "data")
    leaves = tuple(
        Leaf(field, (*place, "data", name), as_flag if field == "is_error" else as_string) for field, name in _LEAVES.get(kind, {}).items()
    )
    if kind == "text":
        return Located(Text(string_of(data, "text")), place, leaves)
    if kind == "reasoning":
        return Located(Thinking(string_of(data, "thinking"), string_of(data, "signature")), place, leaves)
    if kind == "tool_call":
        return Located(ToolCall(string_of(data, "id"), string_of(data, "name"), string_of(data, "input")), place, leaves)
    if kind == "tool_result":
        is_error = data.get("is_error") is True
        result = ToolResult(string_of(data, "tool_call_id"), string_of(data, "name"), string_of(data, "content"), is_error)
        return Located(result, place, leaves)
    return Located(Opaque(kind or "part", raw_at(text, place) or ""), place)


class Cursor(ReadOnlyUnits):
    """A bubble of type 1 is a person's, of type 2 the model's; `toolFormerData` is a call with what it returned."""

    name = "cursor"
    label = "Cursor conversation"
    tested_with = "databases of Cursor described by their readers"
    hints = ("bubbleId", "rawText", "suggestedDiffs")
    carried_fields = frozenset(("richText", "rawText", "context", "codeBlocks", "params", "additionalData", "userDecision"))

    def is_message(self, value: object) -> bool:
        if not isinstance(value, dict):
            return False
        is_numbered = value.get("type") in (1, 2) and isinstance(value.get("bubbleId"), str)
        return is_numbered or (string_of(value, "type") in ("user", "ai") and ("text" in value or "rawText" in value))

    def is_carried(self, value: object) -> bool:
        """Return True for a bubble without text, such as the mark of a step."""
        return self.is_message(value)

    def messages_in(self, value: Any) -> Sequence[Turn]:
        text = string_of(value, "text") or string_of(value, "rawText")
        if value["type"] in (1, "user"):
            return [("user", [Text(text)])] if text else ()
        said: list[tuple[Part, ToolResult | None]] = []
        thought = inner(value, "thinking")
        if string_of(thought, "text"):
            said.append((Thinking(string_of(thought, "text"), string_of(thought, "signature")), None))
        if text:
            said.append((Text(text), None))
        tool = inner(value, "toolFormerData")
        if string_of(tool, "name"):
            said.append(_cursor_call(tool))
        return in_steps("assistant", said) if said else ()


def _cursor_call(tool: dict[str, Any]) -> tuple[Part, ToolResult | None]:
    id, name = string_of(tool, "toolCallId"), string_of(tool, "name")
    given = tool.get("rawArgs") or tool.get("params") or "{}"
    call = ToolCall(id, name, given if isinstance(given, str) else dump(given))
    status = string_of(tool, "status")
    if "result" not in tool and status not in ("error", "cancelled"):
        return call, None
    return call, ToolResult(id, name, as_text(tool.get("result") or tool.get("error") or status), status == "error")


_TRANSCRIPT_ROLES = ("user", "assistant")
_OTHERS = ("type", "uuid", "sessionId")
"""Members of lines of other agents, which also have a `message`."""


class CursorAgent(ReadOnlyUnits):
    name = "cursor_agent"
    label = "Cursor agent transcript"
    tested_with = "transcripts of 2025 and 2026"
    hints = ("message",)
    carried_types = frozenset(("turn_ended",))

    def is_message(self, value: object) -> bool:
        if not isinstance(value, dict) or value.get("role") not in _TRANSCRIPT_ROLES or any(key in value for key in _OTHERS):
            return False
        message = value.get("message")
        return isinstance(message, dict) and "role" not in message and isinstance(message.get("content"), str | list)

    def messages_in(self, value: Any) -> Sequence[Turn]:
        content = value["message"]["content"]
        if isinstance(content, str):
            return [(value["role"], [Text(content)])]
        runs = groupby(objects_of(inner(value, "message"), "content"), key=lambda item: string_of(item, "type") == "tool_result")
        found = [("tool" if is_result else value["role"], [_part(item) for item in items]) for is_result, items in runs]
        return found or [(value["role"], [])]


def _part(item: dict[str, Any]) -> Part:
    kind = string_of(item, "type")
    if kind == "text":
        return text_part(item)
    if kind == "thinking":
        return Thinking(string_of(item, "thinking") or string_of(item, "text"))
    if kind == "tool_use":
        return ToolCall(string_of(item, "id"), string_of(item, "name"), call_arguments(item.get("input")))
    if kind == "tool_result":
        return ToolResult(string_of(item, "tool_use_id"), "", as_text(item.get("content")), item.get("is_error") is True)
    return unknown(item)


_STATES = ("started", "completed")


class CursorStream(EventLog):
    name = "cursor_stream"
    label = "Cursor agent stream-json"
    tested_with = "documentation of Cursor's command line, 2026"
    hints = ("message", "tool_call")
    certainty = 0.98
    carried_types = frozenset(("system", "result"))

    def is_message(self, value: object) -> bool:
        if not isinstance(value, dict) or "session_id" not in value or "uuid" in value:
            return False
        if string_of(value, "type") == "tool_call":
            return bool(_call(value)) and string_of(value, "subtype") in _STATES
        is_turn = string_of(value, "type") in ("user", "assistant")
        return (is_turn and bool(inner(value, "message"))) or (value.get("type") == "thinking" and "text" in value)

    def is_piece(self, value: Any) -> bool:
        return string_of(value, "type") == "assistant" and "timestamp_ms" in value

    def confidence(self, sample: Sample) -> float:
        """Claude Code prints lines like these, and lists its tools in the first one."""
        is_own = any((self.is_message(value) and value["type"] == "tool_call") or _is_head(value) for value in sample.values)
        return self.certainty if is_own and any(map(self.is_message, sample.values)) else 0.0

    def messages_in(self, value: Any) -> Sequence[Turn]:
        kind = value["type"]
        if kind == "thinking":
            return [(MODEL, [Thinking(string_of(value, "text"))])]
        if kind != "tool_call":
            return [(kind, list(_content(value["message"].get("content"))))]
        own, (name, call) = string_of(value, "call_id"), next(iter(_call(value).items()))
        if value["subtype"] == "started":
            return [(MODEL, [ToolCall(own, name, call_arguments(call.get("args")))])]
        result = call.get("result")
        is_error = isinstance(result, dict) and "success" not in result
        return [(TOOLS, [ToolResult(own, name, _output(result), is_error)])]


def _is_head(value: Any) -> bool:
    return string_of(value, "subtype") == "init" and "apiKeySource" in value and "tools" not in value


def _call(value: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the call under the name of its tool: `{"readToolCall": {"args": …, "result": …}}`."""
    return {name.removesuffix("ToolCall"): call for name, call in inner(value, "tool_call").items() if isinstance(call, dict)}


def _content(content: Any) -> Iterator[Part]:
    if isinstance(content, str):
        yield Text(content)
    for item in objects_of({"content": content}, "content"):
        yield text_part(item) if string_of(item, "type") == "text" else unknown(item)


def _output(result: Any) -> str:
    """Return the text of a tool's result, or the whole result as JSON."""
    held = next(iter(result.values()), None) if isinstance(result, dict) and len(result) == 1 else result
    content = string_of(held, "content")
    return content or as_text(held)
