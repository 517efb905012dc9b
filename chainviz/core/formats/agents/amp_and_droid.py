"""Amp and Factory Droid: sessions of Anthropic messages, and the printed stream of Droid."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import Any

from chainviz.core.chain.messages import HUMAN, NEW, Fragment, Message, Role, Text, Thinking, ToolCall, ToolResult
from chainviz.core.dialects.values import Speller, objects_of, string_of
from chainviz.core.documents.json.edit import load_object, replace_at, value_of
from chainviz.core.documents.units import Pointer, Sample, Unit
from chainviz.core.documents.written_lists import Links, uuid_of
from chainviz.core.formats.blocks import Blocks, value_at
from chainviz.core.formats.contract import COMPACT_SUMMARY, Style
from chainviz.core.formats.read_only import MODEL, TOOLS, EventLog, Turn, as_text, call_arguments
from chainviz.core.formats.vendors.anthropic.blocks import ResultForm, patched_content, read_blocks
from chainviz.core.formats.vendors.anthropic.messages import Anthropic, AnthropicBlocksFormat

_AMP_TEXTS = ("output", "content", "diff")
"""Members of a returned object that contain the text of a shell, a file or an edit."""


class _Run(ResultForm):
    id_key = "toolUseID"
    error_at = ("run", "status")
    error_words = ('"done"', '"error"')
    marks_success = True

    def content_at(self, item: dict[str, Any]) -> Pointer:
        result = value_at(item, ("run", "result"))
        if result is None and type(value_at(item, ("run", "error", "message"))) is str:
            return ("run", "error", "message")
        key = next((key for key in _AMP_TEXTS if string_of(result, key)), "")
        return ("run", "result", key) if key else ("run", "result")


class Amp(AnthropicBlocksFormat):
    """Threads of Amp: Anthropic's blocks, whose results say under `run` how the tool ended and what it returned."""

    name = "amp"
    label = "Amp thread"
    api = "anthropic"
    accepts = Anthropic.accepts
    tested_with = "exports of Amp, 2026"
    form = _Run()
    blocks = Blocks(("content",), partial(read_blocks, form=form), partial(patched_content, form=form))

    def confidence(self, sample: Sample) -> float:
        is_thread = string_of(sample.beside, "id").startswith("T-") and "v" in sample.beside
        return 0.98 if is_thread or any(map(_has_run, sample.values)) else 0.0


def _has_run(value: Any) -> bool:
    return any("toolUseID" in item and "run" in item for item in objects_of(value, "content"))


_AT: Pointer = ("message", "content")
_OWN_RECORDS = ("session_start", "todo_state", "compaction_state")
_BLOCKS = ("tool_use", "tool_result")


class DroidSession(AnthropicBlocksFormat):
    """Sessions of Factory Droid (`~/.factory/sessions/…/….jsonl`): an Anthropic message a line, inside a record `message`. The
    start of the session, its settings and lists of to-dos are records of their own; they are carried. A compaction is one too, and its
    summary is shown as a message: it replaces the messages up to its anchor.
    """

    name = "droid_session"
    label = "Factory Droid session"
    tested_with = "sessions of version 2, 2026"
    template = ""
    lines = True
    blocks = Blocks(_AT, read_blocks, patched_content)
    blocks_at = _AT
    links = Links("id", "parentId", "", shares=False)
    hints = ("message", "summaryText")
    carried_types = frozenset(("session_start", "session_end", "session_settings", "agent_turn_outcome", "todo_state"))

    def is_message(self, value: object) -> bool:
        if not isinstance(value, dict) or value.get("type") != "message":
            return _is_compaction(value)
        return super().is_message(value.get("message"))

    def read(self, units: Iterable[Unit]) -> Iterator[Message | Unit]:
        for unit in units:
            yield from (self.message(HUMAN, (unit.fragment(),)),) if _is_compaction(unit.value) else super().read((unit,))

    def message(self, role: Role, source: tuple[Fragment, ...]) -> Message:
        value = value_of(source[0])
        if _is_compaction(value):
            return Message(HUMAN, (Text(value["summaryText"], origin=0),), source=source, label=COMPACT_SUMMARY)
        return super().message(role, source)

    def write(self, message: Message, style: Style) -> tuple[Fragment, ...]:
        if not message.source or not _is_compaction(value_of(message.source[0])):
            return super().write(message, style)
        only = message.parts[0] if len(message.parts) == 1 and message.role == HUMAN else None
        if not isinstance(only, Text):
            return (self._new(message, style),)
        first = message.source[0]
        return (first.with_text(replace_at(first.text, ("summaryText",), Speller(first.text, style.ascii).quote(only.text))),)

    def sent_from(self, messages: Sequence[Message]) -> int:
        """Return the message after the anchor of the last compaction."""
        last = super().sent_from(messages)
        values = [value_of(message.source[0]) if message.source else None for message in messages[: last + 1]]
        anchor = string_of(value_at(values[-1], ("anchorMessage",)), "id") if values else ""
        return next((place + 1 for place in range(last) if anchor and string_of(values[place], "id") == anchor), last)

    def confidence(self, sample: Sample) -> float:
        if any(string_of(value, "type") in _OWN_RECORDS for value in sample.values):
            return 0.98 if any(map(self.is_message, sample.values)) else 0.0
        messages = [value for value in sample.values if self.is_message(value)]
        return 0.98 if any(map(_has_blocks, messages)) else 0.4 if messages else 0.0

    def losses(self, message: Message) -> tuple[str, ...]:
        is_known = message.role in self.words
        return (*super().losses(message), *(() if is_known else (f"a message with the role {message.role[:40]} becomes a user message",)))

    def _new(self, message: Message, style: Style) -> Fragment:
        speller = Speller(style.near, style.ascii)
        content = self.content(message, style, speller)
        inner = speller.object({"role": speller.quote(self.words.get(message.role, "user")), "content": content})
        near = load_object(style.near) if style.near.startswith("{") else None
        members = {"type": '"message"', "id": speller.quote(uuid_of(f"{style.number}{message.role}{content}"))}
        if near is not None:
            # the first message and a compaction have no parent, but what follows them has
            members |= {key: near.raw(key) for key in ("timestamp",) if key in near} | {"parentId": "null"}
        return Fragment(NEW, "", speller.object({**members, "message": inner}))


def _is_compaction(value: object) -> bool:
    return string_of(value, "type") == "compaction_state" and bool(string_of(value, "summaryText"))


def _has_blocks(value: dict[str, Any]) -> bool:
    """Return True if a record with an id has Anthropic's blocks; a session of pi spells them differently."""
    items = objects_of(value["message"], "content")
    return "id" in value and any(string_of(item, "type") in _BLOCKS or "signature" in item or "source" in item for item in items)


_STREAM_TEXTS = {"message": ("role", "text"), "reasoning": ("text",), "tool_call": ("toolName",), "completion": ("finalText",)}
"""The types of records with content, and their string members; a result has a value or an error."""
_IDS = ("toolCallId", "id", "toolUseId")


class DroidStream(EventLog):
    """The output of `droid exec --output-format stream-json`: a record for each text, call and result, and for the
    final text of an answer."""

    name = "droid_stream"
    label = "Factory Droid stream-json"
    tested_with = "records of droid exec, 2025"
    hints = ("toolName", "finalText", "text", "value")
    certainty = 0.98
    carried_types = frozenset(("system", "completion"))

    def is_message(self, value: object) -> bool:
        if not isinstance(value, dict) or ("session_id" not in value and "sessionId" not in value):
            return False
        kind = string_of(value, "type")
        if kind == "tool_result":
            return "value" in value or "error" in value
        return kind in _STREAM_TEXTS and all(isinstance(value.get(key), str) for key in _STREAM_TEXTS[kind])

    def read(self, units: Iterable[Unit]) -> Iterator[Message | Unit]:
        """Read the messages. The final text is carried if it repeats the last text of the model."""
        said_last = ""
        kept: list[Unit] = []
        repeated: list[Unit] = []
        for unit in units:
            if self.is_message(unit.value) and string_of(unit.value, "type") == "message":
                said_last = unit.value["text"] if unit.value["role"] == MODEL else ""
            is_copy = string_of(unit.value, "type") == "completion" and string_of(unit.value, "finalText") == said_last
            (repeated if is_copy else kept).append(unit)
        yield from super().read(kept)
        yield from repeated

    def messages_in(self, value: Any) -> Sequence[Turn]:
        kind = value["type"]
        if kind == "message":
            return [(value["role"], [Text(value["text"])])]
        if kind == "tool_call":
            return [(MODEL, [ToolCall(_id(value), value["toolName"], call_arguments(value.get("parameters")))])]
        if kind == "reasoning":
            return [(MODEL, [Thinking(value["text"])])]
        if kind == "completion":
            return [(MODEL, [Text(value["finalText"])])]
        is_error = value.get("isError") is True or bool(value.get("error"))
        return [(TOOLS, [ToolResult(_id(value), string_of(value, "toolName"), _output(value), is_error)])]


def _id(value: dict[str, Any]) -> str:
    return next((found for key in _IDS if (found := string_of(value, key))), "")


def _output(value: dict[str, Any]) -> str:
    """Return the output of a tool, or why it failed."""
    error = value.get("error")
    return as_text(value["value"] if value.get("value") is not None else string_of(error, "message") or error)
