"""Session events of Copilot CLI (`~/.copilot/session-state/…/events.jsonl`), which Copilot Chat in VS Code writes as transcripts too.

A message of the model holds its reasoning and the calls that it asks for; what a tool returned is an event of its own. Events
of sub-agents name the call that started them: they are chains of their own. Turns, hooks and the start of tools are carried.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any

from chainviz.core.chain.messages import (
    AI,
    HUMAN,
    SYSTEM,
    TOOL,
    Binary,
    Fragment,
    Image,
    Message,
    Opaque,
    Part,
    Role,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    text_of,
)
from chainviz.core.chain.reasoning import clear_reasoning
from chainviz.core.dialects.leaf import Host, Leaf, Located, as_either, as_flag
from chainviz.core.dialects.losses import Room, losses
from chainviz.core.dialects.values import Speller, is_object, string_of
from chainviz.core.documents.json.edit import member_at, raw_at
from chainviz.core.documents.source import Source
from chainviz.core.documents.units import FoundList, Pointer, Sample
from chainviz.core.documents.written_lists import uuid_of
from chainviz.core.formats.agents.session_threads import HEAD, Thread, lines_of, lists_of
from chainviz.core.formats.blocks import value_at
from chainviz.core.formats.contract import COMPACT_SUMMARY, Style
from chainviz.core.formats.leaf_format import LeafFormat, Run, with_one_text

_ROLES: dict[str, Role] = {
    "user.message": HUMAN, "assistant.message": AI, "tool.execution_complete": TOOL, "system.message": SYSTEM,
    "system.notification": HUMAN, "session.compaction_complete": HUMAN,
}  # fmt: skip
_TYPES: dict[Role, str] = {HUMAN: "user.message", AI: "assistant.message", TOOL: "tool.execution_complete", SYSTEM: "system.message"}
_TEXTS: dict[str, tuple[str, ...]] = {
    "user.message": ("transformedContent", "content"), "system.message": ("content",), "system.notification": ("content",),
    "session.compaction_complete": ("summaryContent",),
}  # fmt: skip
"""The members of `data` with the text of an event. The first one that exists was sent; the others contain what the
person wrote."""
_RESULTS: tuple[Pointer, ...] = (
    ("result", "content"), ("result", "text_result_for_llm"), ("result", "textResultForLlm"), ("error", "message"), ("error",),
)  # fmt: skip
_COPIES: tuple[Pointer, ...] = (("result", "detailedContent"),)
"""Copies of a result for the screen."""
_LABELS = {"system.notification": "system notification", "session.compaction_complete": COMPACT_SUMMARY}
_UNSENT = "reasoning"
"""The kind of a reasoning text that only the screen shows; without its opaque form it is not sent."""
_ROOM = Room(
    frozenset(_TYPES), frozenset(("attachment", _UNSENT)), result_names=False, reasoning=False, result_media=False, images=False,
    files=False, calls_anywhere=False,
)  # fmt: skip


class CopilotCLI(LeafFormat):
    name = "copilot_cli"
    label = "Copilot CLI session"
    tested_with = "session events of Copilot CLI 0.0.354 to 1.0.77, transcripts of VS Code 1.119"
    blocks_at = ("data", "toolRequests")
    lines = True
    hints = ("data",)
    known_kinds = frozenset(("attachment", _UNSENT))
    carried_types = frozenset((
        "session.start", "session.resume", "session.model_change", "session.info", "session.error", "session.warning",
        "session.shutdown", "session.truncation", "session.auto_mode_resolved", "session.usage_checkpoint", "session.idle",
        "session.compaction_start", "session.mode_changed", "session.title_changed", "session.task_complete", "session.handoff",
        "assistant.turn_start", "assistant.turn_end", "assistant.reasoning", "assistant.intent", "assistant.usage", "abort",
        "tool.execution_start", "tool.execution_progress", "tool.execution_partial_result", "tool.user_requested", "hook.start", "hook.end",
        "subagent.started", "subagent.completed", "subagent.failed", "subagent.selected", "skill.invoked",
    ))  # fmt: skip
    carried_fields = frozenset(
        ("content", "detailedContent", "toolTelemetry", "encryptedContent", "reasoningOpaque", "intentionSummary", "kind")
    )

    def is_message(self, value: object) -> bool:
        if not isinstance(value, dict) or string_of(value, "type") not in _ROLES or not isinstance(value.get("data"), dict):
            return False
        return isinstance(value.get("id"), str) and "timestamp" in value

    def confidence(self, sample: Sample) -> float:
        is_own = any(self.is_message(value) or string_of(value, "type") == "session.start" for value in sample.values)
        return 0.97 if is_own else 0.0

    def find(self, source: Source) -> tuple[FoundList, ...]:
        return lists_of(source, _threads(source), self.is_message)

    def runs(self, value: Any) -> Sequence[Run]:
        if not self.is_message(value):
            return ()
        kind = value["type"]
        texts = _TEXTS.get(kind)
        return ((_ROLES[kind], None),) if texts is None or _text_at(value, texts) else ()

    def locate(self, value: Any, text: str, run: Run) -> list[Located]:
        kind = value["type"]
        if kind == "assistant.message":
            return [*_answer(value["data"], text)]
        if kind == "tool.execution_complete":
            return [_result(value["data"], text)]
        places = [("data", key) for key in _TEXTS[kind] if type(value["data"].get(key)) is str]
        leaves = tuple(Leaf("text", place) for place in places)
        attachments = [*_attachments(value["data"], text)]
        if attachments and not any(value["data"][key] for _, key in places):
            return attachments
        said = [Located(Text(value["data"][key]), (at, key), leaves, tuple(places[1:])) for at, key in places[:1]]
        return [*said, *attachments]

    def home(self, part: Part, host: Host) -> Pointer:
        if isinstance(part, ToolCall):
            return ("data", "toolRequests")
        if isinstance(part, Opaque) and part.kind == _UNSENT:
            return ("data", "reasoningText")
        if isinstance(part, Opaque | Image | Binary):
            return ("data", "attachments")
        return ("data", "reasoningText" if isinstance(part, Thinking) else "content")

    def elements(self, part: Part, host: Host, speller: Speller) -> list[str]:
        if isinstance(part, ToolCall):
            members = {"toolCallId": speller.quote(part.id), "name": speller.quote(part.name)}
            arguments = part.arguments if is_object(part.arguments) else speller.quote(part.arguments)
            return [speller.object({**members, "arguments": arguments, "type": '"function"'})]
        if isinstance(part, Opaque) and part.kind in self.known_kinds:
            return [part.text]
        return []

    def skeleton(self, message: Message, style: Style, speller: Speller) -> str:
        own = uuid_of(f"{style.number} {message.role} {text_of(message)}")
        members = {"type": speller.quote(_TYPES.get(message.role, "user.message")), "data": _data(message, own, speller)}
        near = raw_at(style.near, ("timestamp",)) if style.near else None
        return speller.object({**members, "id": speller.quote(own), "timestamp": near or '"1970-01-01T00:00:00.000Z"', "parentId": "null"})

    def write(self, message: Message, style: Style) -> tuple[Fragment, ...]:
        return super().write(with_one_text(message if message.source else clear_reasoning(message)), style)

    def role_label(self, value: Any, role: Role) -> str:
        return _LABELS.get(value["type"], "")

    def losses(self, message: Message) -> tuple[str, ...]:
        texts = [part for part in message.parts if isinstance(part, Text)]
        joined = ("several texts of one message become one",) if len(texts) > 1 or any(not part.text for part in texts) else ()
        return (*losses(message, _ROOM), *joined)


def _text_at(value: Any, keys: Sequence[str]) -> bool:
    return any(type(value["data"].get(key)) is str for key in keys)


def _answer(data: dict[str, Any], text: str) -> Iterator[Located]:
    at: Pointer = ("data", "reasoningText")
    if string_of(data, "reasoningText") and string_of(data, "reasoningOpaque"):
        leaves = (Leaf("content", at), Leaf("signature", ("data", "reasoningOpaque")))
        yield Located(Thinking(data["reasoningText"], data["reasoningOpaque"]), at, leaves)
    elif string_of(data, "reasoningText"):
        yield Located(Opaque(_UNSENT, raw_at(text, at) or ""), at)
    if string_of(data, "content"):
        yield Located(Text(data["content"]), ("data", "content"), (Leaf("text", ("data", "content")),))
    requests = data.get("toolRequests")
    for place, request in enumerate(requests if type(requests) is list else ()):
        yield _request(request, text, ("data", "toolRequests", place))


def _request(request: Any, text: str, at: Pointer) -> Located:
    if type(request) is not dict or type(request.get("toolCallId")) is not str:
        return Located(Opaque("tool request", raw_at(text, at) or ""), at)
    arguments = request.get("arguments")
    raw = arguments if type(arguments) is str else "" if arguments is None else member_at(text, at, "arguments")
    leaves = (Leaf("id", (*at, "toolCallId")), Leaf("name", (*at, "name")), Leaf("arguments", (*at, "arguments"), as_either))
    return Located(ToolCall(request["toolCallId"], string_of(request, "name"), raw), at, leaves)


def _result(data: dict[str, Any], text: str) -> Located:
    place = next((place for place in _RESULTS if type(value_at(data, place)) is str), ())
    content = value_at(data, place) if place else ""
    if not place and type(value_at(data, ("result",))) is str:
        place, content = ("result",), data["result"]
    is_error = data.get("success") is False
    copies = [copy for copy in _COPIES if type(value_at(data, copy)) is str]
    leaves = (
        Leaf("call_id", ("data", "toolCallId")),
        Leaf("is_error", ("data", "success"), _as_success),
        *(Leaf("content", ("data", *at)) for at in (place or ("result", "content"), *copies)),
    )
    return Located(ToolResult(string_of(data, "toolCallId"), "", content, is_error), (), leaves)


def _as_success(value: Any, raw: str, speller: Speller) -> str:
    return as_flag(not value, raw, speller)


def _attachments(data: dict[str, Any], text: str) -> Iterator[Located]:
    items = data.get("attachments")
    for place in range(len(items) if type(items) is list else 0):
        at = ("data", "attachments", place)
        yield Located(Opaque("attachment", raw_at(text, at) or ""), at)


def _data(message: Message, own: str, speller: Speller) -> str:
    """Return the data of a new event, without the parts that are elements of its lists."""
    if message.role == TOOL:
        result = next(part for part in message.parts if isinstance(part, ToolResult))
        content = speller.object({"content": speller.quote(result.content)})
        success = "false" if result.is_error else "true"
        return speller.object({"toolCallId": speller.quote(result.call_id), "success": success, "result": content})
    if message.role == AI:
        return speller.object({"messageId": speller.quote(own), "content": '""', "toolRequests": "[]"})
    return speller.object({"content": '""', **({"attachments": "[]"} if message.role == HUMAN else {})})


def _threads(source: Source) -> list[Thread]:
    """Return the session, then its sub-agents; [] if it has none."""
    head = source.read(0, HEAD)
    if b'"session.start"' not in head and b'"user.message"' not in head:
        return []
    if not any(b'"parentToolCallId"' in line for _, line in lines_of(source)):
        return []
    main, sides = list[int](), defaultdict[str, list[int]](list)
    for start, line in lines_of(source):
        aside = string_of(_data_of(line), "parentToolCallId")
        (sides[aside] if aside else main).append(start + len(line) - len(line.lstrip()))
    if not sides:
        return []
    found = [Thread(("", ""), "", frozenset(main))]
    return [*found, *(Thread(("sidechain", id), f"sub-agent of {id[:24]}", frozenset(starts)) for id, starts in sides.items())]


def _data_of(line: bytes) -> Any:
    """Return the data of an event; None for a line that is not one, or the first one of an event with raw line breaks."""
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return value.get("data") if type(value) is dict else None
