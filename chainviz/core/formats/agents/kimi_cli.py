"""Sessions of Kimi CLI (`context.jsonl`): OpenAI's messages, a line each, whose reasoning are parts `think` of the content.

The system message has the role `_system_prompt`. Checkpoints and token counts are lines with a role too; they are carried.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from chainviz.core.chain.messages import Message
from chainviz.core.dialects.chat.openai_read import ROLES, read_message
from chainviz.core.dialects.chat.openai_write import Accent
from chainviz.core.dialects.members import objects_of, string_of
from chainviz.core.dialects.whole_units import has_role, read_units
from chainviz.core.documents.units import Sample, Unit
from chainviz.core.formats.chat_format import ChatFormat


class KimiCLI(ChatFormat):
    name = "kimi_cli"
    label = "Kimi CLI session"
    tested_with = "source of Kimi CLI 1.x"
    lines = True
    accent = Accent(reasoning="", thinking="think")
    carried_fields = frozenset(("encrypted",))

    def is_message(self, value: object) -> bool:
        return super().is_message(value) and not _is_note(value)

    def is_carried(self, value: object) -> bool:
        return _is_note(value)

    def confidence(self, sample: Sample) -> float:
        return 0.95 if any(_is_own(value) for value in sample.values) else 0.0

    def read(self, units: Iterable[Unit]) -> Iterator[Message | Unit]:
        return read_units(units, read_message, lambda value: has_role(value) and not _is_note(value))


def _is_note(value: Any) -> bool:
    """`_checkpoint`, `_usage` and whatever else the program keeps for itself."""
    role = string_of(value, "role")
    return role.startswith("_") and role not in ROLES


def _is_own(value: Any) -> bool:
    role = string_of(value, "role")
    return role.startswith("_") or any(string_of(item, "type") == "think" for item in objects_of(value, "content"))
