"""The account export of DeepSeek: conversations as trees of messages, whose fragments say what was asked, thought and answered.

The first fragment of a message names its role. The chain is the path to the newest node.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from chainviz.core.chain.messages import Part, Text, Thinking
from chainviz.core.dialects.members import objects_of, string_of
from chainviz.core.formats.read_only_units import ReadOnlyUnits, Said, unknown

_KINDS = ("REQUEST", "RESPONSE", "THINK")


class DeepSeekExport(ReadOnlyUnits):
    name = "deepseek_export"
    label = "DeepSeek account export"
    tested_with = "readers of exports, 2025 and 2026"
    hints = ("fragments",)

    def is_message(self, value: object) -> bool:
        return any(string_of(item, "type") in _KINDS for item in objects_of(value, "fragments"))

    def messages_in(self, value: Any) -> Sequence[Said]:
        fragments = objects_of(value, "fragments")
        is_asked = any(string_of(item, "type") == "REQUEST" for item in fragments)
        return [(string_of(value, "role").lower() or ("user" if is_asked else "assistant"), [_part(item) for item in fragments])]


def _part(item: dict[str, Any]) -> Part:
    kind, content = string_of(item, "type"), string_of(item, "content")
    if kind == "THINK":
        return Thinking(content)
    return Text(content) if kind in _KINDS else unknown(item)
