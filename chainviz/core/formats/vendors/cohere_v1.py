"""Cohere chat, version 1: `chat_history` with roles in capitals, the last question as `message`, `preamble` as the system text.

Results of tools name the call they answer by its name and parameters; there are no ids.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from chainviz.core.chain.messages import SLOT, Fragment, Message, Part, Role, Text, ToolCall, ToolResult
from chainviz.core.documents.json.edit import dump, parse
from chainviz.core.documents.source import Source
from chainviz.core.documents.units import FoundList, Sample, TextMember, Unit
from chainviz.core.formats.read_only import ReadOnly, said

_WORDS = {"user": "user", "chatbot": "assistant", "system": "system", "tool": "tool"}
_QUESTION = TextMember("message", ("chat_history",))


class CohereV1(ReadOnly):
    name = "cohere_v1"
    label = "Cohere chat (version 1)"
    tested_with = "documentation of Cohere API v1"
    lines = False
    slot_key = "preamble"
    hints = ("message", "tool_results")
    texts = (_QUESTION,)
    sequences = ((("chat_history",), (_QUESTION.name,)),)

    def find(self, source: Source) -> tuple[FoundList, ...]:
        return ()

    def is_message(self, value: object) -> bool:
        if not isinstance(value, dict) or str(value.get("role")).lower() not in _WORDS or "content" in value:
            return False
        return isinstance(value.get("message"), str) or isinstance(value.get("tool_results"), list)

    def confidence(self, sample: Sample) -> float:
        seen = any(self.is_message(value) for value in sample.values)
        return (0.97 if sample.key == "chat_history" else 0.7) if seen else 0.0

    def read(self, units: Iterable[Unit]) -> Iterator[Message | Unit]:
        for unit in units:
            is_said = isinstance(unit.value, str) and bool(unit.value)
            yield self.message("", (unit.fragment(),)) if is_said or self.is_message(unit.value) else unit

    def message(self, role: Role, source: tuple[Fragment, ...]) -> Message:
        value = parse(source[0].text)
        if isinstance(value, str):
            return said("system" if source[0].ordinal == SLOT else "user", [Text(value)], source)
        word = _WORDS[value["role"].lower()]
        text = value.get("message")
        parts: list[Part] = [Text(text)] if isinstance(text, str) and text else []
        if word == "tool":
            return said(word, [*parts, *(_result(item) for item in _dicts(value.get("tool_results")))], source)
        return said(word, [*parts, *(_call(item) for item in _dicts(value.get("tool_calls")))], source)


def _dicts(value: Any) -> list[dict[str, Any]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _call(item: dict[str, Any]) -> ToolCall:
    return ToolCall("", str(item.get("name") or ""), dump(item.get("parameters") or {}))


def _result(item: dict[str, Any]) -> ToolResult:
    call = item["call"] if isinstance(item.get("call"), dict) else {}
    return ToolResult("", str(call.get("name") or ""), dump(item.get("outputs")))
