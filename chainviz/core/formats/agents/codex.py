"""Codex: session files (rollouts), and what `codex exec --json` prints."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from chainviz.core.chain.messages import HUMAN, NEW, SYSTEM, Fragment, Message, Opaque, Part, Role, Text, Thinking, ToolCall, ToolResult
from chainviz.core.dialects.items import ItemUnits, one_result_each
from chainviz.core.dialects.values import Speller, string_of
from chainviz.core.documents.json import edit as json_edit
from chainviz.core.documents.json.edit import dump, parse, value_of
from chainviz.core.documents.units import Pointer, Unit
from chainviz.core.formats.blocks import value_at
from chainviz.core.formats.contract import COMPACT_SUMMARY, Format, Style
from chainviz.core.formats.read_only import MODEL, TOOLS, EventLog, Turn, as_text
from chainviz.core.formats.vendors.openai.responses import OpenAIResponses
from chainviz.core.formats.vendors.openai.responses_read import ITEM_TYPES, SETTINGS
from chainviz.core.formats.vendors.openai.responses_write import RESPONSES, losses, new_items

_LINES = ("session_meta", "response_item", "event_msg", "turn_context", "compacted")
_TEXTS: dict[str, tuple[tuple[Role, Pointer], ...]] = {
    "session_meta": ((SYSTEM, ("payload", "base_instructions", "text")), (SYSTEM, ("payload", "instructions"))),
    "compacted": ((HUMAN, ("payload", "message")),),
}
"""Lines whose message is a plain text, and the pointer to it. Older versions write the instructions directly."""
_INJECTED = ("<environment_context>", "<user_instructions>", "<INSTRUCTIONS>", "# AGENTS.md", "<permissions", "<skills")
_SNAPSHOT = "ghost_snapshot"
"""The type of an item with a commit for undoing, which is not sent."""
_MODEL = '{"type":"message","content":[]}'
"""The shape of a message item if no neighbour shows one."""


class _Lines(ItemUnits):
    """Items under `payload`, and the lines whose message is a text."""

    def item(self, value: Any) -> Any:
        if type(value) is not dict or value.get("type") != "response_item":
            return None
        return value.get("payload")

    def role(self, value: Any, *, is_first: bool = False) -> Role:
        place = text_place(value)
        if place is None and string_of(self.item(value), "type") == _SNAPSHOT:
            return ""
        return place[0] if place else super().role(value, is_first=is_first)

    def message(self, role: Role, source: Sequence[Fragment]) -> Message:
        first = value_of(source[0])
        place = text_place(first)
        if place is None:
            return super().message(role, source)
        parts = tuple(part for held in self.owned(source) for part in held)
        label = COMPACT_SUMMARY if first["type"] == "compacted" else ""
        return Message(place[0], parts, source=tuple(source), label=label)

    def parts_of(self, text: str, first: int) -> list[Part]:
        value = parse(text)
        place = text_place(value)
        if place is None:
            return super().parts_of(text, first)
        for step in place[1]:
            value = value[step]
        return [Text(value, origin=first)]

    def patched_unit(
        self, text: str, old: Sequence[Part], new: Sequence[tuple[Part, int | None]], role: Role, *, ascii_only: bool
    ) -> str | None:
        place = text_place(parse(text))
        if place is None:
            return super().patched_unit(text, old, new, role, ascii_only=ascii_only)
        only = new[0][0] if len(new) == 1 else None
        if not isinstance(only, Text):
            return None
        return json_edit.replace_at(text, place[1], Speller(text, ascii_only).quote(only.text))


_UNITS = _Lines(RESPONSES, ("payload",), _MODEL)


class CodexRollout(Format):
    """Codex rollouts: session lines around items of OpenAI's Responses API.

    Only `response_item` lines are what the model saw; lines that repeat them for the screen are carried. The session's base
    instructions are the system message, with the developer messages that follow. What the program puts before a person's words
    (`<environment_context>`, AGENTS.md) joins them in one message. A compaction is a human message: its summary.
    """

    name = "codex_rollout"
    label = "Codex rollout"
    api = "openai_responses"
    accepts = OpenAIResponses.accepts
    tested_with = "Codex 0.x"
    blocks_at = ("payload", "content")
    lines = True
    hints = ("payload",)
    carried_types = frozenset(("session_meta", "event_msg", "turn_context", "world_state", "token_usage_record"))
    carried_fields = frozenset(("replacement_history", "execution"))
    known_kinds = ITEM_TYPES

    def is_message(self, value: object) -> bool:
        if not isinstance(value, dict) or not isinstance(value.get("payload"), dict):
            return False
        kind = value.get("type")
        return isinstance(kind, str) and kind in _LINES

    def is_carried(self, value: object) -> bool:
        if string_of(value, "type") == "session_meta":
            return not _instructs(value.get("payload"))  # type: ignore[attr-defined]
        return super().is_carried(value) or string_of(_UNITS.item(value), "type") in (*SETTINGS, _SNAPSHOT)

    def read(self, units: Iterable[Unit]) -> Iterator[Message | Unit]:
        waiting: Message | None = None
        for item in _UNITS.read(units):
            if isinstance(item, Unit):
                yield item
                continue
            if waiting is not None and item.role == waiting.role:
                item = _UNITS.message(item.role, (*waiting.source, *item.source))
            elif waiting is not None:
                yield waiting
            waiting = item if _opens(item) else None
            if waiting is None:
                yield item
        if waiting is not None:
            yield waiting

    def message(self, role: Role, source: tuple[Fragment, ...]) -> Message:
        return _UNITS.message(role, source)

    def write(self, message: Message, style: Style) -> tuple[Fragment, ...]:
        def wrap(item: str) -> str:
            return _line(item, message.source[0].text if message.source else style.near, style.ascii)

        if message.source:
            same = self.message(message.role, message.source) == message
            return message.source if same else _UNITS.patched(message, wrap, ascii_only=style.ascii)
        speller = Speller(style.near, style.ascii)
        items = new_items(message.role, one_result_each(message), message.label, _MODEL, speller)
        return tuple(Fragment(NEW, "", wrap(item)) for item in items)

    def losses(self, message: Message) -> tuple[str, ...]:
        return losses(message.role, message.parts)


def _instructs(payload: Any) -> bool:
    """Return True if the head of a session contains instructions, under any name."""
    held = [payload.get(key) for key in ("base_instructions", "instructions")] if type(payload) is dict else []
    values = [inner for each in held for inner in (each.values() if type(each) is dict else [each])]
    return any(type(value) is str and value for value in values)


def text_place(value: Any) -> tuple[Role, Pointer] | None:
    """Role and place of the text of a line that is one; None for every other line."""
    kind = value.get("type") if type(value) is dict else None
    for role, place in _TEXTS.get(kind, ()) if type(kind) is str else ():
        found = value
        for step in place:
            found = found.get(step) if type(found) is dict else None
        if type(found) is str:
            return role, place
    return None


def _opens(message: Message) -> bool:
    """Return True if the next message of the role belongs to this one: the system's, and texts that the program adds
    for the user."""
    if message.role == SYSTEM:
        return True
    last = message.parts[-1] if message.parts else None
    is_summary = bool(message.label)
    return message.role == HUMAN and not is_summary and isinstance(last, Text) and last.text.lstrip().startswith(_INJECTED)


def _line(item: str, near: str, ascii_only: bool) -> str:
    """Return a line around a new item, with the time of its neighbour."""
    model = parse(near) if near else {}
    speller = Speller(near, ascii_only)
    time = model.get("timestamp") if isinstance(model, dict) else None
    members = {"timestamp": speller.quote(time)} if isinstance(time, str) else {}
    return speller.object({**members, "type": '"response_item"', "payload": item})


_STATES = ("item.started", "item.updated", "item.completed")
_ARGUMENTS = {"command_execution": ("command",), "file_change": ("changes",), "mcp_tool_call": ("server", "arguments")}
"""Items that are calls, and the members with their arguments."""


class CodexExec(EventLog):
    """The output of `codex exec --json`: the items of a thread, each when it begins and when it ends, without the
    prompt.

    A command, an edit of files and a call of an MCP server become calls with their results. Notices of the program are
    kept beside the messages.
    """

    name = "codex_exec"
    label = "codex exec --json"
    tested_with = "events of Codex 0.171"
    hints = ("item",)
    known_kinds = frozenset(("web_search", "todo_list"))
    carried_types = frozenset(("thread.started", "turn.started", "turn.completed", "turn.failed", "error"))

    def is_message(self, value: object) -> bool:
        item = value.get("item") if isinstance(value, dict) else None
        return isinstance(item, dict) and string_of(value, "type") in _STATES and bool(string_of(item, "id") and _kind(item))

    def is_carried(self, value: object) -> bool:
        item = value.get("item") if isinstance(value, dict) else None
        is_notice = isinstance(item, dict) and _kind(item) == "error"
        return super().is_carried(value) or is_notice or string_of(value, "type") in _STATES[:2]

    def is_piece(self, value: Any) -> bool:
        """Return True for an item that began. It is shown only if it never ended."""
        return string_of(value, "type") in _STATES[:2]

    def messages_in(self, value: Any) -> Sequence[Turn]:
        item = value["item"]
        kind = _kind(item)
        if kind == "error":
            return ()
        if kind not in _ARGUMENTS:
            return [(MODEL, [_part(item, kind)])]
        name = string_of(item, "tool") or kind
        arguments = {key: item[key] for key in _ARGUMENTS[kind] if key in item}
        called: Turn = (MODEL, [ToolCall(item["id"], name, dump(arguments))])
        if value["type"] != "item.completed":
            return [called]
        is_error = item.get("exit_code") not in (0, None) or string_of(item, "status") == "failed"
        return [called, (TOOLS, [ToolResult(item["id"], name, _output(item), is_error)])]


def _kind(item: dict[str, Any]) -> str:
    return string_of(item, "type") or string_of(item, "item_type")


def _part(item: dict[str, Any], kind: str) -> Part:
    if kind in ("agent_message", "assistant_message") and type(item.get("text")) is str:
        return Text(item["text"])
    if kind == "reasoning" and type(item.get("text")) is str:
        return Thinking(item["text"])
    return Opaque(kind, dump(item))


def _output(item: dict[str, Any]) -> str:
    """Return what a tool returned or why it failed; only its state if no more is recorded."""
    if type(item.get("aggregated_output")) is str:
        return str(item["aggregated_output"])
    result = value_at(item, ("result", "content")) or item.get("result")
    error = string_of(item.get("error"), "message")
    return error or (as_text(result) if result else string_of(item, "status"))
