"""Kimi Code and Kimi CLI: event logs and context files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from chainviz.core.chain.messages import AI, NEW, SYSTEM, TOOL, Fragment, Message, Part, Role, Text, ToolCall, ToolResult
from chainviz.core.dialects.leaf import Host, Leaf, Located, as_json, spread
from chainviz.core.dialects.losses import Room, losses
from chainviz.core.dialects.units import has_role, read_units
from chainviz.core.dialects.values import Speller, matched, objects_of, string_of
from chainviz.core.documents.json.edit import parse, raw_at
from chainviz.core.documents.units import Pointer, Sample, Unit
from chainviz.core.documents.written_lists import uuid_of
from chainviz.core.formats.agents.kimi_log import (
    APPENDED,
    COMPACTED,
    HEADS,
    KIMI_ROLES,
    LOOP,
    MESSAGE,
    Log,
    element,
    located_event,
    located_message,
    located_summary,
    role_of,
)
from chainviz.core.formats.blocks import value_at
from chainviz.core.formats.contract import COMPACT_SUMMARY, Style
from chainviz.core.formats.leaf_format import LeafFormat, Run
from chainviz.core.formats.vendors.openai_form.chat_format import ChatFormat
from chainviz.core.formats.vendors.openai_form.read import ROLES, read_message
from chainviz.core.formats.vendors.openai_form.write import Accent

_WORDS: dict[Role, str] = {role: word for word, role in KIMI_ROLES.items()}
_ROOM = Room(
    frozenset(_WORDS), signatures=False, result_names=False, result_media=False, free_arguments=False, files=False, calls_anywhere=False
)  # fmt: skip


class KimiCode(LeafFormat):
    """Event logs of Kimi Code (`~/.kimi-code/sessions/…/agents/…/wire.jsonl`).

    Messages of the user are events of their own. What the model does in a step comes in pieces: parts of its answer and calls,
    which are one message, and what each tool returned. What was undone is carried. The summary of a compaction is a human
    message.
    """

    name = "kimi_code"
    label = "Kimi Code session"
    tested_with = "event logs 1.4 and 1.5 of Kimi Code"
    blocks_at = MESSAGE
    lines = True
    hints = ("message", "event", "systemPrompt", "summary", "contextSummary")
    carried_types = frozenset((
        "metadata", "turn.prompt", "turn.steer", "turn.cancel", "turn.ended", "usage.record", "llm.request", "llm.tools_snapshot",
        "tools.set_active_tools", "permission.set_mode", "permission.record_approval_result", "plugin.session_start", "runtime.set_binding",
        "token_counting.measured", "token_counting.turn_recorded", "prompt.completed", "agent.message.appended", "agent.turn.started",
        "agent.turn.ended", "context.undo", "context.undone", "context.clear", "full_compaction.begin", "full_compaction.complete",
        "full_compaction.cancel", "plan_mode.enter", "plan_mode.exit", "plan_mode.cancel", "tools.update_store", "goal.create",
        "goal.update", "goal.clear", "goal.account_usage", "goal.continuation", "forked", *HEADS,
    ))  # fmt: skip
    carried_fields = frozenset(("display", "origin", "summary", "environmentDisclosure", "note", "step", "turnId", "stepUuid"))

    def is_message(self, value: object) -> bool:
        return isinstance(value, dict) and role_of(value) is not None

    def is_carried(self, value: object) -> bool:
        """Return True for events that make no message, and for undone ones."""
        kind = string_of(value, "type") if isinstance(value, dict) else ""
        event = string_of(value_at(value, ("event",)), "type")
        return kind in self.carried_types or event == "llm.request" or self.is_message(value)

    def confidence(self, sample: Sample) -> float:
        kinds = [string_of(value, "type") for value in sample.values if isinstance(value, dict)]
        return 0.98 if LOOP in kinds or APPENDED in kinds else 0.0

    def read(self, units: Iterable[Unit]) -> Iterator[Message | Unit]:
        log = Log()
        for unit in units:
            yield from log.add(unit)
        yield from log.finish()
        for role, group in log.groups:
            yield self._message((role, None), [(unit.fragment(), unit.value) for unit in group])

    def runs(self, value: Any) -> Sequence[Run]:
        role = role_of(value)
        return () if role is None else ((role, None),)

    def locate(self, value: Any, text: str, run: Run) -> list[Located]:
        kind = value["type"]
        if kind == LOOP:
            return located_event(value["event"], text)
        if kind in HEADS:
            text_of_head = value.get("systemPrompt")
            at = ("systemPrompt",)
            return [Located(Text(text_of_head), at, (Leaf("text", at),))] if isinstance(text_of_head, str) else []
        if kind == COMPACTED:
            return [*located_summary(value)]
        return located_message(value["message"], text, run[0])

    def home(self, part: Part, host: Host) -> Pointer:
        return ("message", "toolCalls") if isinstance(part, ToolCall) else MESSAGE

    def elements(self, part: Part, host: Host, speller: Speller) -> list[str]:
        if isinstance(part, ToolCall):
            members = {"type": '"function"', "id": speller.quote(part.id), "name": speller.quote(part.name)}
            return [speller.object({**members, "arguments": speller.quote(part.arguments)})]
        made = element(part, speller)
        return [] if made is None else [made]

    def skeleton(self, message: Message, style: Style, speller: Speller) -> str:
        inner = {"role": speller.quote(_WORDS.get(message.role, "user")), "content": "[]", "toolCalls": "[]"}
        return _line({"type": speller.quote(APPENDED), "message": speller.object(inner)}, style, speller)

    def role_label(self, value: Any, role: Role) -> str:
        return COMPACT_SUMMARY if value["type"] == COMPACTED else ""

    def with_role(self, text: str, role: Role, speller: Speller) -> str | None:
        return None

    def write(self, message: Message, style: Style) -> tuple[Fragment, ...]:
        """Write a message. A message of the model or of tools is rewritten if it has a new part."""
        if message.source:
            old = self.message(message.role, message.source)
            has_new = None in matched(old.parts, message.parts)
            if not (has_new and message.role == AI) and not (has_new and message.role == TOOL):
                return super().write(message, style)
        if message.role == AI:
            return tuple(Fragment(NEW, "", line) for line in _new_step(message, style))
        if message.role == TOOL:
            return tuple(Fragment(NEW, "", line) for line in _new_results(message, style))
        return super().write(replace(message, source=()) if message.source and message.role == SYSTEM else message, style)

    def losses(self, message: Message) -> tuple[str, ...]:
        is_empty = not message.parts or any(isinstance(part, Text) and not part.text for part in message.parts)
        return (*losses(message, _ROOM), *(("an empty text is left out",) if is_empty else ()))


def _new_step(message: Message, style: Style) -> Iterator[str]:
    """Yield the events of a step that is a message of the model."""
    speller = Speller(style.near, style.ascii)
    step = uuid_of(f"{style.number} {message.role} {message.parts!r}")
    shared = {"turnId": '"0"', "step": "0"}
    pieces = [part for each in message.parts for part in spread(each)]
    has_calls = any(isinstance(part, ToolCall) for part in pieces)
    yield _event({"type": '"step.begin"', "uuid": speller.quote(step), **shared}, style, speller)
    for place, part in enumerate(pieces):
        head = {"uuid": speller.quote(uuid_of(f"{step} {place}")), **shared, "stepUuid": speller.quote(step)}
        if isinstance(part, ToolCall):
            call = {"toolCallId": speller.quote(part.id), "name": speller.quote(part.name), "args": as_json(part.arguments, "", speller)}
            yield _event({"type": '"tool.call"', **head, **call}, style, speller)
        elif (made := element(part, speller)) is not None:
            yield _event({"type": '"content.part"', **head, "part": made}, style, speller)
    reason = '"tool_use"' if has_calls else '"end_turn"'
    yield _event({"type": '"step.end"', "uuid": speller.quote(step), **shared, "finishReason": reason}, style, speller)


def _new_results(message: Message, style: Style) -> Iterator[str]:
    speller = Speller(style.near, style.ascii)
    for part in message.parts:
        if isinstance(part, ToolResult):
            result = {"output": speller.quote(part.content), **({"isError": "true"} if part.is_error else {})}
            members = {"type": '"tool.result"', "toolCallId": speller.quote(part.call_id), "result": speller.object(result)}
            yield _event(members, style, speller)


def _event(members: dict[str, str], style: Style, speller: Speller) -> str:
    return _line({"type": speller.quote(LOOP), "event": speller.object(members)}, style, speller)


def _line(members: dict[str, str], style: Style, speller: Speller) -> str:
    """Return the line of an event, with the time of its neighbour."""
    near = parse(style.near) if style.near else {}
    shared = {key: raw_at(style.near, (key,)) or "null" for key in ("agentId", "time") if type(near) is dict and key in near}
    return speller.object({**members, **shared})


class KimiCLI(ChatFormat):
    """Sessions of Kimi CLI (`context.jsonl`): OpenAI's messages, a line each, whose reasoning are parts `think` of the content.
    The system message has the role `_system_prompt`. Checkpoints and token counts are lines with a role too; they are
    carried.
    """

    name = "kimi_cli"
    label = "Kimi CLI session"
    tested_with = "source of Kimi CLI 1.x"
    lines = True
    accent = Accent(reasoning="", thinking="think")
    carried_fields = frozenset(("encrypted",))

    def is_message(self, value: object) -> bool:
        return super().is_message(value) and not _is_note(value)

    def is_carried(self, value: object) -> bool:
        return _is_note(value)

    def confidence(self, sample: Sample) -> float:
        return 0.95 if any(_is_own(value) for value in sample.values) else 0.0

    def read(self, units: Iterable[Unit]) -> Iterator[Message | Unit]:
        return read_units(units, read_message, lambda value: has_role(value) and not _is_note(value))


def _is_note(value: Any) -> bool:
    """Return True for `_checkpoint`, `_usage` and other notes of the program."""
    role = string_of(value, "role")
    return role.startswith("_") and role not in ROLES


def _is_own(value: Any) -> bool:
    role = string_of(value, "role")
    return role.startswith("_") or any(string_of(item, "type") == "think" for item in objects_of(value, "content"))
