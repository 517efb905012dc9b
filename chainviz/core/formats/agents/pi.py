"""pi and OpenClaw: session logs, messages in other programs' records, and printed events."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from chainviz.core.chain.messages import AI, HUMAN, TOOL, Binary, Image, Message, Opaque, Part, Role, Text, Thinking, ToolCall, ToolResult
from chainviz.core.dialects.content import (
    ResultElements,
    as_url,
    content_leaves,
    encoded_of,
    located_media,
    new_result_content,
    read_result_content,
)
from chainviz.core.dialects.leaf import Host, Leaf, Located, as_flag, as_json
from chainviz.core.dialects.losses import Room, losses
from chainviz.core.dialects.values import Speller, objects_of, string_of
from chainviz.core.documents.json.edit import member_at, raw_at, replace_at, value_of
from chainviz.core.documents.source import Source
from chainviz.core.documents.units import FoundList, Pointer, Sample, Unit
from chainviz.core.documents.written_lists import Links, uuid_of
from chainviz.core.formats.agents.session_threads import branches_of, lists_of
from chainviz.core.formats.contract import Style
from chainviz.core.formats.leaf_format import LeafFormat, Run, near_value
from chainviz.core.formats.read_only import ReadOnlyUnits, Turn, as_text, call_arguments, inner, text_part, unknown

ROLES: dict[str, Role] = {
    "user": HUMAN, "assistant": AI, "toolResult": TOOL, "bashExecution": HUMAN, "custom": HUMAN,
    "compactionSummary": HUMAN, "branchSummary": HUMAN,
}  # fmt: skip
WORDS: dict[Role, str] = {HUMAN: "user", AI: "assistant", TOOL: "toolResult"}
_ENTRIES = {"compaction": "summary", "branch_summary": "summary", "custom_message": "content"}
"""Entries beside `message` that the model reads, and the member with their text."""
_ROOM = Room(frozenset(WORDS), free_arguments=False, addresses=False, files=False)
_CONTENT: Pointer = ("message", "content")


class PiSession(LeafFormat):
    """Session logs of pi and OpenClaw: one event a line. `message` lines hold the chain; the summary of a compaction is what
    the model receives from there on, as a user's message, and so are the messages that extensions add. Branches are chains
    of their own.

    Changes of the model, labels and other entries are carried.
    """

    name = "pi_session"
    label = "pi / OpenClaw session"
    tested_with = "session files of 2025 and 2026"
    blocks_at = _CONTENT
    lines = True
    links = Links("id", "parentId", "", kept="firstKeptEntryId", shares=False)
    names_results = True
    hints = ("message",)
    carried_types = frozenset(("session", "model_change", "thinking_level_change", "label", "leaf", "custom", "session_info"))
    carried_fields = frozenset(("errorMessage", "details", "partialJson", "data", "exitCode"))

    def is_message(self, value: object) -> bool:
        return isinstance(value, dict) and value.get("type") == "message" and isinstance(value.get("message"), dict)

    def is_carried(self, value: object) -> bool:
        """Return True for known entries, including those of another branch that the model reads."""
        return super().is_carried(value) or _is_context(value)

    def confidence(self, sample: Sample) -> float:
        messages = [value["message"] for value in sample.values if self.is_message(value)]
        return 0.97 if any(string_of(message, "role") in ROLES for message in messages) else 0.0

    def find(self, source: Source) -> tuple[FoundList, ...]:
        return lists_of(source, branches_of(source, ("message", *_ENTRIES), self.links), self.is_message)

    def runs(self, value: Any) -> Sequence[Run]:
        if self.is_message(value):
            role = value["message"].get("role")
            return ((ROLES.get(role, role), None),) if type(role) is str else ()
        return ((HUMAN, None),) if _is_context(value) else ()

    def locate(self, value: Any, text: str, run: Run) -> list[Located]:
        if not self.is_message(value):
            return _content(value, text, (_ENTRIES[value["type"]],), HUMAN)
        if run[0] == TOOL:
            return [_result(value["message"], text)]
        if value["message"].get("role") == "bashExecution":
            inner = value["message"]
            return [
                Located(Text(string_of(inner, key)), ("message", key), (Leaf("text", ("message", key)),))
                for key in ("command", "output")
            ]  # fmt: skip
        return _content(value, text, _CONTENT, run[0])

    def home(self, part: Part, host: Host) -> Pointer:
        return _CONTENT if self.is_message(host.value) else (_ENTRIES[host.value["type"]],)

    def elements(self, part: Part, host: Host, speller: Speller) -> list[str]:
        made = _element(part, speller)
        return [] if made is None else [made]

    def skeleton(self, message: Message, style: Style, speller: Speller) -> str:
        near = near_value(style)
        inner = {"role": speller.quote(WORDS.get(message.role, "user"))}
        if message.role == TOOL:
            result = next(part for part in message.parts if isinstance(part, ToolResult))
            inner |= {"toolCallId": speller.quote(result.call_id), "toolName": speller.quote(result.name)}
            content = new_result_content(result, _ELEMENTS, speller)
            inner["content"] = f"[{_element(Text(result.content), speller)}]" if content.startswith('"') else content
            inner["isError"] = "true" if result.is_error else "false"
        else:
            inner["content"] = "[]"
        members = {"type": '"message"', "message": speller.object(inner)}
        if near is None or "id" in near:
            id = uuid_of(f"{style.number} {message.role} {inner['content']}")[:8]
            members |= {"id": speller.quote(id), "parentId": "null"}
        if near is not None and "timestamp" in near:
            members["timestamp"] = raw_at(style.near, ("timestamp",)) or "null"
        return speller.object(members)

    def with_role(self, text: str, role: Role, speller: Speller) -> str | None:
        known = role in (HUMAN, AI) and raw_at(text, ("message", "role")) is not None
        return replace_at(text, ("message", "role"), speller.quote(WORDS[role])) if known else None

    def role_label(self, value: Any, role: Role) -> str:
        word = value["message"].get("role") if self.is_message(value) else value["type"].replace("_", " ")
        return "" if WORDS.get(role) == word else str(word)

    def note(self, value: Any) -> str:
        message = value["message"] if self.is_message(value) else {}
        return ": ".join(word for key in ("stopReason", "errorMessage") if (word := string_of(message, key)))

    def sent_from(self, messages: Sequence[Message]) -> int:
        """Return the first message that is sent. The summary replaces what is before the first kept entry, which is
        before the summary's own."""
        last = max((place for place, message in enumerate(messages) if message.label == "compaction"), default=0)
        kept = _member(messages[last], "firstKeptEntryId") if messages else ""
        return next((place for place in range(last, -1, -1) if kept and _member(messages[place], "id") == kept), last)

    def is_sent(self, message: Message) -> bool:
        """Return True if pi sends the message. It leaves out answers that broke off or failed, but not the results of
        their calls (its transform-messages.ts)."""
        return message.role != AI or message.note.partition(":")[0] not in _BROKEN_OFF

    def losses(self, message: Message) -> tuple[str, ...]:
        return losses(message, _ROOM)


def _is_context(value: Any) -> bool:
    """Return True if the model reads an entry beside the messages."""
    kind = string_of(value, "type")
    return kind in _ENTRIES and type(value.get(_ENTRIES[kind])) in (str, list)


_BROKEN_OFF = ("aborted", "error")
"""Values of `stopReason` of incomplete answers."""


def _member(message: Message, key: str) -> str:
    return string_of(value_of(message.source[0]), key) if message.source else ""


def _content(value: Any, text: str, at: Pointer, role: Role) -> list[Located]:
    for step in at:
        value = value.get(step) if type(value) is dict else None
    if type(value) is str:
        return [Located(Text(value), at, (Leaf("text", at),))]
    return [_block(item, text, (*at, index), role) for index, item in enumerate(value if type(value) is list else ())]


def _block(item: Any, text: str, place: Pointer, role: Role) -> Located:
    kind = item.get("type") if type(item) is dict else None
    found = _text_or_media(item, place) if type(item) is dict else None
    if kind == "thinking" and type(item.get("thinking")) is str:
        part = Thinking(item["thinking"], string_of(item, "thinkingSignature"), item.get("redacted") is True)
        leaves = (Leaf("content", (*place, "thinking")), Leaf("signature", (*place, "thinkingSignature")))
        found = Located(part, place, leaves)
    elif kind == "toolCall" and role == AI:
        found = _call(item, text, place)
    return found or Located(Opaque(kind if type(kind) is str else "content", raw_at(text, place) or ""), place)


def _text_or_media(item: dict[str, Any], place: Pointer) -> Located | None:
    if item.get("type") == "text" and type(item.get("text")) is str:
        return Located(Text(item["text"]), place, (Leaf("text", (*place, "text")),))
    return located_media(item, place, "mimeType", "data") if item.get("type") == "image" else None


def _call(item: dict[str, Any], text: str, place: Pointer) -> Located:
    arguments = "" if item.get("arguments") is None else member_at(text, place, "arguments")
    part = ToolCall(string_of(item, "id"), string_of(item, "name"), arguments)
    leaves = (Leaf("id", (*place, "id")), Leaf("name", (*place, "name")), Leaf("arguments", (*place, "arguments"), as_json))
    return Located(part, place, leaves)


def _result(message: dict[str, Any], text: str) -> Located:
    content, media = read_result_content(message.get("content"), text, _CONTENT, _element_value)
    is_error = message.get("isError") is True
    part = ToolResult(string_of(message, "toolCallId"), string_of(message, "toolName"), content, is_error, media)
    leaves = (
        Leaf("call_id", ("message", "toolCallId")),
        Leaf("name", ("message", "toolName")),
        Leaf("is_error", ("message", "isError"), as_flag),
        *content_leaves(_CONTENT, _ELEMENTS),
    )
    return Located(part, (), leaves)


def _element_value(item: dict[str, Any]) -> str | Image | Binary | None:
    found = _text_or_media(item, ())
    part = found.part if found else None
    return part.text if isinstance(part, Text) else part if isinstance(part, Image | Binary) else None


def _element(part: Part, speller: Speller) -> str | None:
    quote = speller.quote
    if isinstance(part, Text):
        return speller.object({"type": '"text"', "text": quote(part.text)})
    if isinstance(part, Thinking):
        members = {"type": '"thinking"', "thinking": quote(part.content)}
        signed = {"thinkingSignature": quote(part.signature)} if part.signature else {}
        return speller.object({**members, **signed, **({"redacted": "true"} if part.redacted else {})})
    if isinstance(part, ToolCall):
        members = {"type": '"toolCall"', "id": quote(part.id), "name": quote(part.name)}
        return speller.object({**members, "arguments": as_json(part.arguments, "", speller)})
    if isinstance(part, Image | Binary):
        found = encoded_of(part)
        if found is None:
            return speller.object({"type": '"text"', "text": quote(as_url(part))})
        return speller.object({"type": '"image"', "data": quote(found[1]), "mimeType": quote(found[0])})
    return None


_ELEMENTS = ResultElements(_element_value, lambda text, speller: _element(Text(text), speller) or '""', _element)


_STARTED = ("message_start", "message_update")
_EVENTS = (*_STARTED, "message_end", "turn_end")
_WORDS = {"user": "user", "assistant": "assistant", "toolResult": "tool"}


class PiMessages(ReadOnlyUnits):
    """Messages of pi and OpenClaw without the entries of a session around them: in records of other programs (OpenClaw's
    `agent.end`, telemetry), and in the events that `pi --mode json` prints.
    """

    name = "pi_messages"
    label = "pi / OpenClaw messages"
    tested_with = "OpenClaw's agent.end and pi's agent core, 2026"
    hints: tuple[str, ...] = ("role",)

    def is_message(self, value: object) -> bool:
        if not isinstance(value, dict) or string_of(value, "role") not in _WORDS:
            return False
        return isinstance(value.get("content"), str | list) and "messages" not in value

    def confidence(self, sample: Sample) -> float:
        return self.certainty if any(self.is_message(value) and _is_own(value) for value in sample.values) else 0.0

    def messages_in(self, value: Any) -> Sequence[Turn]:
        role, content = value["role"], value["content"]
        if role == "toolResult":
            name, is_error = string_of(value, "toolName"), value.get("isError") is True
            return [("tool", [ToolResult(string_of(value, "toolCallId"), name, as_text(content), is_error)])]
        parts = [Text(content)] if isinstance(content, str) else map(_part, objects_of(value, "content"))
        return [(_WORDS[role], list(parts))]


class PiEvents(PiMessages):
    name = "pi_events"
    label = "pi events (pi --mode json)"
    tested_with = "documentation of pi's JSON mode, 2026"
    hints = ("message", "messages", "toolResults")
    carried_types = frozenset(
        ("session", "agent_start", "agent_end", "turn_start", "turn_end", "message_start", "message_update", "tool_execution_start",
         "tool_execution_update", "tool_execution_end", "auto_compaction_start", "auto_compaction_end", "auto_retry_start",
         "auto_retry_end", "queue_update")
    )  # fmt: skip

    def is_message(self, value: object) -> bool:
        """Return True for a message or an event that repeats messages. An incomplete message has its last state."""
        kind = string_of(value, "type")
        if kind == "agent_end":
            return isinstance(value, dict) and isinstance(value.get("messages"), list)
        return kind in _EVENTS and super().is_message(inner(value, "message"))

    def confidence(self, sample: Sample) -> float:
        return 0.985 if any(map(self.is_message, sample.values)) else 0.0

    def read(self, units: Iterable[Unit]) -> Iterator[Message | Unit]:
        started: Unit | None = None
        for unit in units:
            kind = string_of(unit.value, "type")
            is_open = kind in _STARTED and self.is_message(unit.value)
            if started is not None and (is_open or kind == "message_end"):
                yield started
                started = None
            if is_open:
                started = unit
            elif kind == "message_end":
                yield from super().read([unit])
            else:
                yield unit
        yield from super().read([started] if started is not None else [])

    def messages_in(self, value: Any) -> Sequence[Turn]:
        return super().messages_in(value["message"]) if "message" in value else ()


def _is_own(value: dict[str, Any]) -> bool:
    if value["role"] == "toolResult":
        return "toolCallId" in value
    is_answer = value["role"] == "assistant" and "api" in value and "stopReason" in value
    return is_answer or any(string_of(item, "type") == "toolCall" and "arguments" in item for item in objects_of(value, "content"))


def _part(item: dict[str, Any]) -> Part:
    kind = string_of(item, "type")
    if kind == "text":
        return text_part(item)
    if kind == "thinking":
        return Thinking(string_of(item, "thinking"), string_of(item, "thinkingSignature"), item.get("redacted") is True)
    if kind == "toolCall":
        return ToolCall(string_of(item, "id"), string_of(item, "name"), call_arguments(item.get("arguments")))
    if kind == "image" and string_of(item, "data"):
        return Image(f"data:{string_of(item, 'mimeType')};base64,{item['data']}")
    return unknown(item)
