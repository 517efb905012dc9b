"""The event log of a Kimi Code session, applied as the program applies it when it resumes.

`context.undo` removes the last prompts with all that follows, but for what the program put in; `context.clear` removes everything.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from chainviz.core.chain.messages import AI, HUMAN, SYSTEM, TOOL, Image, Opaque, Part, Role, Text, Thinking, ToolCall, ToolResult
from chainviz.core.dialects.content import ResultElements, as_url, content_leaves, read_result_content
from chainviz.core.dialects.leaf import Leaf, Located, as_either, as_flag, as_json
from chainviz.core.dialects.values import Speller, string_of
from chainviz.core.documents.json.edit import dump, member_at, raw_at
from chainviz.core.documents.units import Pointer, Unit
from chainviz.core.formats.blocks import value_at

KIMI_ROLES: dict[str, Role] = {"user": HUMAN, "assistant": AI, "tool": TOOL, "system": SYSTEM}
APPENDED, LOOP, COMPACTED = "context.append_message", "context.append_loop_event", "context.apply_compaction"
HEADS = ("config.update", "profile.bind")
"""Events that may contain the system prompt."""
_STEP = ("step.begin", "content.part", "tool.call", "step.end")
"""Loop events of one message of the model."""


@dataclass(slots=True)
class _Group:
    role: Role
    units: list[Unit]
    step: str = ""
    """The id of the step of a message of the model."""
    is_prompt: bool = False
    is_injected: bool = False
    is_summary: bool = False


class Log:
    """Reads the events in file order, and returns those that no message of the session contains (any longer)."""

    def __init__(self) -> None:
        self._groups: list[_Group] = []

    @property
    def groups(self) -> list[tuple[Role, list[Unit]]]:
        """Group entries into messages. What the program adds joins the words of the person next to it."""
        found: list[tuple[_Group, list[Unit]]] = []
        for group in self._groups:
            before = found[-1][0] if found else None
            is_beside = before is not None and before.role == group.role == HUMAN
            if before is not None and is_beside and (before.is_injected or group.is_injected):
                found[-1] = group if before.is_injected else before, [*found[-1][1], *group.units]
            else:
                found.append((group, group.units))
        return [(group.role, units) for group, units in found]

    def add(self, unit: Unit) -> Iterator[Unit]:
        value = unit.value if type(unit.value) is dict else {}
        kind = string_of(value, "type")
        if kind == "context.clear":
            yield from self._remove([group for group in self._groups if group.role != SYSTEM])
        elif kind == "context.undo":
            yield from self._remove(self._undone(value.get("count")))
        elif kind in HEADS and role_of(value) is not None and all(group.role == SYSTEM for group in self._groups):
            yield from self._remove(self._groups)
        if (kind in HEADS and any(group.role != SYSTEM for group in self._groups)) or role_of(value) is None:
            yield unit
            return
        yield from self._join(unit, value)

    def _join(self, unit: Unit, value: dict[str, Any]) -> Iterator[Unit]:
        event = value.get("event") if value["type"] == LOOP else None
        step = (string_of(event, "stepUuid") or string_of(event, "uuid")) if string_of(event, "type") in _STEP else ""
        open_step = next((group for group in reversed(self._groups) if step and group.step == step), None)
        if open_step is not None:
            open_step.units.append(unit)
        elif string_of(event, "type") == "step.end":
            yield unit
        else:
            self._groups.append(_Group(role_of(value) or AI, [unit], step, *_origin(value)))
        if string_of(event, "type") == "step.end" and open_step and not any(map(_has_parts, open_step.units)):
            yield from self._remove([open_step])

    def finish(self) -> Iterator[Unit]:
        """Remove steps that were cut off before their first piece; they are not messages."""
        yield from self._remove([group for group in self._groups if group.step and not any(map(_has_parts, group.units))])

    def _undone(self, count: Any) -> list[_Group]:
        found: list[_Group] = []
        prompts = count if type(count) is int else 1
        for group in reversed(self._groups):
            if group.is_summary or group.role == SYSTEM or prompts < 1:
                break
            if not group.is_injected:
                found.append(group)
                prompts -= group.is_prompt
        return found

    def _remove(self, groups: Sequence[_Group]) -> Iterator[Unit]:
        gone = [id(group) for group in groups]
        yield from (unit for group in groups for unit in group.units)
        self._groups = [group for group in self._groups if id(group) not in gone]


def _has_parts(unit: Unit) -> bool:
    return string_of(value_at(unit.value, ("event",)), "type") in ("content.part", "tool.call")


def _origin(value: dict[str, Any]) -> tuple[bool, bool, bool]:
    """Return whether an event is a person's prompt, a message that the program added, and the summary of a compaction."""
    origin = value_at(value, ("message", "origin"))
    kind = string_of(origin, "kind")
    is_user = value["type"] == APPENDED and value_at(value, ("message", "role")) == "user"
    is_prompt = is_user and kind in ("", "user") and value_at(origin, ("inTurn",)) is not True
    return is_prompt, is_user and kind == "injection", value["type"] == COMPACTED


def role_of(value: dict[str, Any]) -> Role | None:
    kind = value.get("type")
    if kind == APPENDED:
        word = value_at(value, ("message", "role"))
        return KIMI_ROLES.get(word, word) if type(word) is str else None
    if kind == LOOP:
        event = value_at(value, ("event", "type"))
        return TOOL if event == "tool.result" else AI if event in _STEP else None
    if kind in HEADS:
        return SYSTEM if string_of(value, "systemPrompt") else None
    return HUMAN if kind == COMPACTED and any(located_summary(value)) else None


MESSAGE: Pointer = ("message", "content")


def located_summary(value: dict[str, Any]) -> Iterator[Located]:
    """Locate the summary that the model gets after a compaction."""
    places: tuple[Pointer, ...] = (("contextSummary",), ("summary",), ("summary", "content"))
    place = next((place for place in places if type(value_at(value, place)) is str and value_at(value, place)), ())
    if place:
        yield Located(Text(value_at(value, place)), place, (Leaf("text", place),))


def located_event(event: dict[str, Any], text: str) -> list[Located]:
    kind = event.get("type")
    if kind == "content.part":
        return [_content_part(event.get("part"), text, ("event", "part"))]
    if kind == "tool.call":
        arguments = "" if event.get("args") is None else raw_at(text, ("event", "args")) or ""
        part = ToolCall(string_of(event, "toolCallId"), string_of(event, "name"), arguments)
        leaves = (Leaf("id", ("event", "toolCallId")), Leaf("name", ("event", "name")), Leaf("arguments", ("event", "args"), as_json))
        return [Located(part, ("event",), leaves)]
    if kind != "tool.result":
        return []
    at: Pointer = ("event", "result", "output")
    content, media = read_result_content(value_at(event, at[1:]), text, at, _element_value)
    is_error = value_at(event, ("result", "isError")) is True
    result = ToolResult(string_of(event, "toolCallId"), "", content, is_error, media)
    flag = Leaf("is_error", ("event", "result", "isError"), as_flag)
    return [Located(result, (), (Leaf("call_id", ("event", "toolCallId")), flag, *content_leaves(at, _ELEMENTS)))]


def located_message(message: dict[str, Any], text: str, role: Role) -> list[Located]:
    content = message.get("content")
    if role == TOOL:
        found, media = read_result_content(content, text, MESSAGE, _element_value)
        part = ToolResult(string_of(message, "toolCallId"), "", found, message.get("isError") is True, media)
        leaves = (Leaf("call_id", ("message", "toolCallId")), *content_leaves(MESSAGE, _ELEMENTS))
        return [Located(part, (), leaves)]
    parts = [Located(Text(content), MESSAGE, (Leaf("text", MESSAGE),))] if type(content) is str else []
    parts += [_content_part(item, text, (*MESSAGE, place)) for place, item in enumerate(content if type(content) is list else ())]
    calls = message["toolCalls"] if type(message.get("toolCalls")) is list else []
    return [*parts, *(_call(call, text, ("message", "toolCalls", place)) for place, call in enumerate(calls))]


def _call(call: Any, text: str, at: Pointer) -> Located:
    if type(call) is not dict:
        return Located(Opaque("tool call", raw_at(text, at) or ""), at)
    arguments = call.get("arguments")
    raw = arguments if type(arguments) is str else "" if arguments is None else member_at(text, at, "arguments")
    leaves = (Leaf("id", (*at, "id")), Leaf("name", (*at, "name")), Leaf("arguments", (*at, "arguments"), as_either))
    return Located(ToolCall(string_of(call, "id"), string_of(call, "name"), raw), at, leaves)


def _content_part(item: Any, text: str, at: Pointer) -> Located:
    kind = string_of(item, "type")
    if kind == "text" and type(item.get("text")) is str:
        return Located(Text(item["text"]), at, (Leaf("text", (*at, "text")),))
    if kind == "think":
        key = "think" if "think" in item else "text"
        return Located(Thinking(string_of(item, key)), at, (Leaf("content", (*at, key)),))
    url = value_at(item, ("imageUrl" if kind == "imageUrl" else "image_url", "url")) if type(item) is dict else None
    if type(url) is str:
        return Located(Image(url), at, (Leaf("url", (*at, kind, "url")),))
    return Located(Opaque(kind or "part", raw_at(text, at) or ""), at)


def _element_value(item: dict[str, Any]) -> str | Image | None:
    part = _content_part(item, dump(item), ()).part
    return part.text if isinstance(part, Text) else part if isinstance(part, Image) else None


def element(part: Part, speller: Speller) -> str | None:
    if isinstance(part, Text):
        return speller.object({"type": '"text"', "text": speller.quote(part.text)})
    if isinstance(part, Thinking):
        return speller.object({"type": '"think"', "think": speller.quote(part.content)})
    if isinstance(part, Image):
        return speller.object({"type": '"image_url"', "image_url": speller.object({"url": speller.quote(as_url(part))})})
    return None


_ELEMENTS = ResultElements(_element_value, lambda text, speller: element(Text(text), speller) or '""', element)
