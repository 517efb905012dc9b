"""Sessions of Google's Agent Development Kit: each event holds a content of Gemini and says which agent is its author."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from chainviz.core.chain.messages import AI, HUMAN, TOOL
from chainviz.core.dialects.blocks.block_units import Content
from chainviz.core.dialects.blocks.gemini_read import read_parts, role_runs
from chainviz.core.documents.json.edit import dump
from chainviz.core.formats.read_only_units import ReadOnlyUnits, Said, inner

_WORDS = {HUMAN: "user", AI: "assistant", TOOL: "tool"}

_WITHOUT_CONTENT = frozenset(
    ("id", "author", "timestamp", "actions", "branch", "partial", "interrupted", "invocation_id", "invocationId", "turn_complete",
     "turnComplete", "error_code", "errorCode", "error_message", "errorMessage", "long_running_tool_ids", "longRunningToolIds",
     "custom_metadata", "customMetadata", "usage_metadata", "usageMetadata", "grounding_metadata", "groundingMetadata")
)  # fmt: skip
"""Members of an event that only changes the state of its session."""


class GoogleADK(ReadOnlyUnits):
    name = "google_adk"
    label = "Google ADK session"
    api = "gemini"
    tested_with = "source of google-adk 1.x"
    hints = ("author",)

    def is_message(self, value: object) -> bool:
        if not isinstance(value, dict) or not isinstance(value.get("author"), str):
            return False
        return isinstance(inner(value, "content").get("parts"), list)

    def is_carried(self, value: object) -> bool:
        return isinstance(value, dict) and isinstance(value.get("author"), str) and value.keys() <= _WITHOUT_CONTENT

    def messages_in(self, value: Any) -> Sequence[Said]:
        content = value["content"]
        text = dump(content["parts"])
        runs = [(role, Content(content["parts"], text, own=blocks)) for role, blocks in role_runs(content)]
        return [(_WORDS.get(role, role), read_parts(parts, role)) for role, parts in runs]
