"""The account export of claude.ai: conversations with `chat_messages`, whose content is Anthropic's blocks with a sender.

One message of the assistant holds its calls, their results and what it says afterwards: it is read as several messages.
`text` repeats the text of the content; of exports without content it is all there is.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Any

from chainviz.core.chain.messages import (
    Fragment,
    Message,
    Opaque,
    Part,
    Role,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)  # fmt: skip
from chainviz.core.dialects.members import string_of
from chainviz.core.dialects.result_content import read_result_content
from chainviz.core.documents.json.edit import parse, raw_at
from chainviz.core.documents.source import Source
from chainviz.core.documents.units import FoundList, Pointer, Sample, Unit
from chainviz.core.formats.read_only import ReadOnly, said

_SENDERS = ("human", "user", "assistant")
_BESIDE = {"attachments": "attachment", "files": "file"}


class ClaudeAI(ReadOnly):
    name = "claude_ai"
    label = "claude.ai account export"
    tested_with = "descriptions of exports, 2023 to 2025"
    lines = False
    blocks_at = ("content",)
    hints = ("sender",)
    known_kinds = frozenset(("attachment", "file"))

    def find(self, source: Source) -> tuple[FoundList, ...]:
        return ()

    def is_message(self, value: object) -> bool:
        if not isinstance(value, dict) or value.get("sender") not in _SENDERS:
            return False
        return isinstance(value.get("content"), list) or isinstance(value.get("text"), str)

    def confidence(self, sample: Sample) -> float:
        seen = any(self.is_message(value) for value in sample.values)
        return (0.97 if sample.key == "chat_messages" else 0.6) if seen else 0.0

    def read(self, units: Iterable[Unit]) -> Iterator[Message | Unit]:
        for unit in units:
            if not self.is_message(unit.value):
                yield unit
                continue
            runs = _runs(unit.value)
            for blocks in runs:
                yield self.message("", (unit.fragment(blocks if len(runs) > 1 else None),))

    def message(self, role: Role, source: tuple[Fragment, ...]) -> Message:
        text = source[0].text
        value = parse(text)
        content = value.get("content")
        if not isinstance(content, list):
            return said(value["sender"], [Text(value["text"])] if value.get("text") else [], source)
        places = range(len(content)) if source[0].blocks is None else source[0].blocks
        parts = [_part(content[at], text, ("content", at)) for at in places]
        if value["sender"] != "assistant":
            return said(value["sender"], [*parts, *_beside(value, text)], source)
        is_result = bool(parts) and all(isinstance(part, ToolResult) for part in parts)
        return said("tool" if is_result else "assistant", parts, source)


def _runs(value: dict[str, Any]) -> Sequence[tuple[int, ...]]:
    """The blocks of each message that the unit holds: results, and the blocks between them."""
    content = value.get("content")
    if value["sender"] != "assistant" or not isinstance(content, list):
        return [()]
    return [tuple(places) for _, places in groupby(range(len(content)), lambda at: _kind(content[at]) == "tool_result")] or [()]


def _kind(item: Any) -> str:
    kind = item.get("type") if isinstance(item, dict) else None
    return kind if isinstance(kind, str) else "content"


def _beside(value: dict[str, Any], text: str) -> Iterator[Part]:
    """Files that a person attached, some with the text that was taken from them."""
    for key, kind in _BESIDE.items():
        items = value.get(key)
        for place in range(len(items) if isinstance(items, list) else 0):
            yield Opaque(kind, raw_at(text, (key, place)) or "")


def _part(item: Any, text: str, place: Pointer) -> Part:
    kind = _kind(item)
    if kind == "text" and isinstance(item.get("text"), str):
        return Text(item["text"])
    if kind == "thinking" and isinstance(item.get("thinking"), str):
        return Thinking(item["thinking"])
    if kind == "tool_use":
        arguments = "" if item.get("input") is None else raw_at(text, (*place, "input")) or ""
        return ToolCall(string_of(item, "id"), string_of(item, "name"), arguments)
    if kind == "tool_result":
        content, media = read_result_content(item.get("content"), text, (*place, "content"), _shown)
        return ToolResult(string_of(item, "tool_use_id"), string_of(item, "name"), content, item.get("is_error") is True, media)
    return Opaque(kind, raw_at(text, place) or "")


def _shown(item: dict[str, Any]) -> str | None:
    return item["text"] if item.get("type") == "text" and isinstance(item.get("text"), str) else None
