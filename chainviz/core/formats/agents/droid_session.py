"""Sessions of Factory Droid (`~/.factory/sessions/…/….jsonl`): an Anthropic message a line, inside a record `message`.

The start of the session, its settings and lists of to-dos are records of their own; they are carried.
"""

from __future__ import annotations

from typing import Any

from chainviz.core.chain.messages import NEW, Fragment, Message
from chainviz.core.dialects.blocks.anthropic_read import read_blocks
from chainviz.core.dialects.blocks.anthropic_write import patched_content
from chainviz.core.dialects.blocks.block_units import Blocks
from chainviz.core.dialects.members import objects_of, string_of
from chainviz.core.dialects.patching import Speller
from chainviz.core.documents.json.edit import load_object
from chainviz.core.documents.links import Links, uuid_of
from chainviz.core.documents.units import Pointer, Sample
from chainviz.core.formats.anthropic_blocks_format import AnthropicBlocksFormat
from chainviz.core.formats.contract import Style

_AT: Pointer = ("message", "content")
_OWN_RECORDS = ("session_start", "todo_state", "compaction_state")
_BLOCKS = ("tool_use", "tool_result")


class DroidSession(AnthropicBlocksFormat):
    name = "droid_session"
    label = "Factory Droid session"
    tested_with = "sessions of version 2, 2026"
    template = ""
    lines = True
    blocks = Blocks(_AT, read_blocks, patched_content)
    blocks_at = _AT
    links = Links("id", "parentId", "", shares=False)
    hints = ("message",)
    carried_types = frozenset(("session_start", "session_end", "session_settings", "agent_turn_outcome", "todo_state"))

    def is_message(self, value: object) -> bool:
        if not isinstance(value, dict) or value.get("type") != "message":
            return False
        return super().is_message(value.get("message"))

    def confidence(self, sample: Sample) -> float:
        if any(string_of(value, "type") in _OWN_RECORDS for value in sample.values):
            return 0.98 if any(map(self.is_message, sample.values)) else 0.0
        messages = [value for value in sample.values if self.is_message(value)]
        return 0.98 if any(map(_has_blocks, messages)) else 0.4 if messages else 0.0

    def losses(self, message: Message) -> tuple[str, ...]:
        is_known = message.role in self.words
        return (*super().losses(message), *(() if is_known else (f"a message with the role {message.role[:40]} becomes a user message",)))

    def _new(self, message: Message, style: Style) -> Fragment:
        speller = Speller(style.near, style.ascii)
        content = self.content(message, style, speller)
        inner = speller.object({"role": speller.quote(self.words.get(message.role, "user")), "content": content})
        near = load_object(style.near) if style.near.startswith("{") else None
        members = {"type": '"message"', "id": speller.quote(uuid_of(f"{style.number}{message.role}{content}"))}
        if near is not None:
            members |= {key: near.raw(key) for key in ("timestamp", "parentId") if key in near}
        return Fragment(NEW, "", speller.object({**members, "message": inner}))


def _has_blocks(value: dict[str, Any]) -> bool:
    """Whether its content has blocks of Anthropic's, which a session of pi spells otherwise."""
    items = objects_of(value["message"], "content")
    return any(string_of(item, "type") in _BLOCKS or "signature" in item or "source" in item for item in items)
