"""Chats of SillyTavern: lines with messages behind a line that names the user and the character.

Of the swipes of an answer the one that is shown counts. Messages of the system, which hold calls of tools with their results
or tell the user something, and messages that the user hid are marked alike: the model sees only the calls of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from chainviz.core.chain.messages import Fragment, Message, Part, Role, Text, Thinking, ToolCall, ToolResult
from chainviz.core.dialects.members import objects_of, string_of
from chainviz.core.documents.json.edit import parse
from chainviz.core.documents.units import Unit
from chainviz.core.formats.read_only_units import ReadOnlyUnits, Said, as_text, attachment, inner, with_results

_HIDDEN = "hidden"
"""The label of a message that the model does not see."""
_FILES = ("image", "file", "files", "media", "video")


class SillyTavern(ReadOnlyUnits):
    name = "silly_tavern"
    label = "SillyTavern chat"
    tested_with = "one chat of 2023, source of SillyTavern"
    hints = ("mes",)
    carried_fields = frozenset(("swipes", "swipe_info"))
    known_kinds = frozenset(("attachment",))

    def is_message(self, value: object) -> bool:
        return isinstance(value, dict) and isinstance(value.get("mes"), str) and isinstance(value.get("is_user"), bool)

    def is_carried(self, value: object) -> bool:
        return isinstance(value, dict) and "mes" not in value and ("chat_metadata" in value or "character_name" in value)

    def carried_in(self, value: object) -> frozenset[str]:
        """A message about calls only says that there were some."""
        return self.carried_fields | {"mes"} if objects_of(inner(value, "extra"), "tool_invocations") else self.carried_fields

    def messages_in(self, value: Any) -> Sequence[Said]:
        invocations = objects_of(inner(value, "extra"), "tool_invocations")
        if invocations:
            results = [ToolResult(string_of(each, "id"), string_of(each, "name"), as_text(each.get("result"))) for each in invocations]
            return with_results("assistant", [*map(_call, invocations)], results)
        return [("user" if value["is_user"] else "assistant", [*_parts(value)])]

    def read(self, units: Iterable[Unit]) -> Iterator[Message | Unit]:
        for each in super().read(units):
            yield _labelled(each) if isinstance(each, Message) else each

    def message(self, role: Role, source: tuple[Fragment, ...]) -> Message:
        return _labelled(super().message(role, source))

    def is_sent(self, message: Message) -> bool:
        return message.label != _HIDDEN


def _labelled(message: Message) -> Message:
    value = parse(message.source[0].text)
    is_hidden = value.get("is_system") is True and not message.source[0].blocks
    return replace(message, label=_HIDDEN) if is_hidden else message


def _call(invocation: dict[str, Any]) -> ToolCall:
    return ToolCall(string_of(invocation, "id"), string_of(invocation, "name"), as_text(invocation.get("parameters")))


def _parts(value: dict[str, Any]) -> Iterator[Part]:
    extra = inner(value, "extra")
    if string_of(extra, "reasoning"):
        yield Thinking(extra["reasoning"])
    if value["mes"]:
        yield Text(value["mes"])
    for key in _FILES:
        if extra.get(key):
            yield attachment({key: extra[key]})
