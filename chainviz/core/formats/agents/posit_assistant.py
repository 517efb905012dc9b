"""Sessions of Posit Assistant (`lm-messages.jsonl`): a message of the Vercel AI SDK and its number a line.

Which messages make up a branch is kept in another file, so nothing is written back. The registry passes in the format of the messages.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from chainviz.core.documents.json.edit import dump
from chainviz.core.formats.leaf_format import LeafFormat
from chainviz.core.formats.read_only_units import ReadOnlyUnits, Said, inner


class PositAssistant(ReadOnlyUnits):
    name = "posit_assistant"
    label = "Posit Assistant session"
    tested_with = "lm-messages.jsonl, 2026"
    hints = ("message",)
    certainty = 0.98
    carried_fields = frozenset(("providerMetadata",))

    def __init__(self, dialect: LeafFormat) -> None:
        self.dialect = dialect

    def is_message(self, value: object) -> bool:
        if not isinstance(value, dict) or value.keys() != {"id", "message"} or not isinstance(value["id"], int):
            return False
        return self.dialect.is_message(value["message"])

    def messages_in(self, value: Any) -> Sequence[Said]:
        message = inner(value, "message")
        text = dump(message)
        return [
            (message["role"], [each.part for each in self.dialect.locate(message, text, run)])
            for run in self.dialect.runs(message)
        ]
