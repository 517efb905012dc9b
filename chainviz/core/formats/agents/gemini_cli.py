"""Sessions of Gemini CLI (`~/.gemini/tmp/…/chats/session-….json`, since 2026 JSON Lines): a message of the model holds its
thoughts, its text, its calls and what they returned.

In a file of lines a message is written again whenever it changed: the last line with its id counts. Notices of the program
(`info`, `error`) are no messages.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from chainviz.core.chain.messages import Message, Part, Text, Thinking, ToolCall, ToolResult
from chainviz.core.dialects.members import objects_of, string_of
from chainviz.core.documents.json.edit import dump
from chainviz.core.documents.units import Unit
from chainviz.core.formats.read_only_units import ReadOnlyUnits, Said, as_text, unknown, with_results

_SAID = ("user", "gemini")
_KINDS = (*_SAID, "info", "error", "warning")


class GeminiCLI(ReadOnlyUnits):
    name = "gemini_cli"
    label = "Gemini CLI session"
    tested_with = "source of Gemini CLI 0.8 to 0.30"
    hints = ("timestamp",)
    carried_fields = frozenset(("resultDisplay", "displayContent", "displayName"))

    def is_message(self, value: object) -> bool:
        if not isinstance(value, dict) or value.get("type") not in _KINDS or "content" not in value:
            return False
        return isinstance(value.get("id"), str) and "timestamp" in value and "message" not in value

    def is_carried(self, value: object) -> bool:
        """An earlier state of a message, a notice, the head of the session, or a change of it."""
        return isinstance(value, dict) and (self.is_message(value) or "projectHash" in value or "$set" in value)

    def read(self, units: Iterable[Unit]) -> Iterator[Message | Unit]:
        """A message waits until one with another id follows."""
        waiting: list[Unit] = []
        for unit in units:
            is_new = self.is_message(unit.value) and unit.value["type"] in _SAID
            if is_new and waiting and string_of(waiting[0].value, "id") == unit.value["id"]:
                yield from waiting
                waiting = [unit]
            elif is_new:
                yield from super().read(waiting)
                waiting = [unit]
            else:
                waiting.append(unit)
        yield from super().read(waiting)

    def messages_in(self, value: Any) -> Sequence[Said]:
        if value["type"] not in _SAID:
            return ()
        parts = [*_thoughts(value), *_content(value["content"])]
        calls = objects_of(value, "toolCalls")
        made = [ToolCall(string_of(call, "id"), string_of(call, "name"), dump(call.get("args") or {})) for call in calls]
        results = [_result(call) for call in calls if call.get("result") is not None]
        return with_results(value["type"], [*parts, *made], results)


def _thoughts(value: dict[str, Any]) -> Iterator[Part]:
    for thought in objects_of(value, "thoughts"):
        yield Thinking("\n".join(filter(None, (string_of(thought, "subject"), string_of(thought, "description")))))


def _content(content: Any) -> Iterator[Part]:
    """A text, a part, or a list of both."""
    for item in content if isinstance(content, list) else [content]:
        text = item if isinstance(item, str) else string_of(item, "text")
        if text:
            yield Text(text)
        elif item and not isinstance(item, str):
            yield unknown(item)


def _result(call: dict[str, Any]) -> ToolResult:
    """What the model was told: the output of a response, else the parts."""
    found = call["result"]
    responses = [item.get("functionResponse") for item in found if isinstance(item, dict)] if isinstance(found, list) else []
    outputs = [response.get("response") for response in responses if isinstance(response, dict)]
    texts = [string_of(output, "output") or string_of(output, "error") or as_text(output) for output in outputs]
    content = "\n".join(texts) if texts else as_text(found)
    return ToolResult(string_of(call, "id"), string_of(call, "name"), content, call.get("status") == "error")
