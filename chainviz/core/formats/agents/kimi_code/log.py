"""The event log of a Kimi Code session, applied as the program applies it when it resumes.

`context.undo` removes the last prompts with all that follows, but for what the program put in; `context.clear` removes everything.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from chainviz.core.chain.messages import AI, HUMAN, SYSTEM, TOOL, Role
from chainviz.core.dialects.blocks.block_units import value_at
from chainviz.core.dialects.members import string_of
from chainviz.core.documents.units import Unit
from chainviz.core.formats.agents.kimi_code.parts import located_summary

ROLES: dict[str, Role] = {"user": HUMAN, "assistant": AI, "tool": TOOL, "system": SYSTEM}
APPENDED, LOOP, COMPACTED = "context.append_message", "context.append_loop_event", "context.apply_compaction"
HEADS = ("config.update", "profile.bind")
"""Events that may hold the system prompt."""
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
    """Takes the events in file order, and returns those that no message of the session holds (any longer)."""

    def __init__(self) -> None:
        self._groups: list[_Group] = []

    @property
    def groups(self) -> list[tuple[Role, list[Unit]]]:
        """The messages; what the program puts in joins the words of the person that it stands beside."""
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
        """A step that was cut off before its first piece is no message."""
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
    """Whether an event is a prompt of a person, something that the program put in, or the summary of a compaction."""
    origin = value_at(value, ("message", "origin"))
    kind = string_of(origin, "kind")
    is_user = value["type"] == APPENDED and value_at(value, ("message", "role")) == "user"
    is_prompt = is_user and kind in ("", "user") and value_at(origin, ("inTurn",)) is not True
    return is_prompt, is_user and kind == "injection", value["type"] == COMPACTED


def role_of(value: dict[str, Any]) -> Role | None:
    kind = value.get("type")
    if kind == APPENDED:
        word = value_at(value, ("message", "role"))
        return ROLES.get(word, word) if type(word) is str else None
    if kind == LOOP:
        event = value_at(value, ("event", "type"))
        return TOOL if event == "tool.result" else AI if event in _STEP else None
    if kind in HEADS:
        return SYSTEM if string_of(value, "systemPrompt") else None
    return HUMAN if kind == COMPACTED and any(located_summary(value)) else None
