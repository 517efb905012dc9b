"""What `grok --output-format streaming-json` prints: the thoughts and the text of an answer in pieces, and why it ended."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from chainviz.core.chain.messages import Text, Thinking
from chainviz.core.dialects.members import string_of
from chainviz.core.formats.event_log import MODEL, EventLog
from chainviz.core.formats.read_only_units import Said


class GrokStream(EventLog):
    name = "grok_stream"
    label = "Grok streaming-json"
    tested_with = "records of Grok Build, 2026"
    hints = ("data",)
    is_streamed = True
    carried_types = frozenset(("end",))

    def is_message(self, value: object) -> bool:
        if not isinstance(value, dict) or not value.keys() <= {"type", "data", "timestamp"}:
            return False
        return value.get("type") in ("thought", "text") and isinstance(value.get("data"), str)

    def messages_in(self, value: Any) -> Sequence[Said]:
        data = string_of(value, "data")
        return [(MODEL, [Thinking(data) if value["type"] == "thought" else Text(data)])]
