"""Session logs of Qwen Code (`~/.qwen/projects/…/chats/….jsonl`): records linked like Claude Code's around Gemini's contents.

Qwen Code sends the path from the first record to the last one; a person who goes back begins another path. Records of type
`system` (telemetry, snapshots, slash commands) are carried.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from chainviz.core.chain.messages import AI, HUMAN, NEW, SYSTEM, TOOL, Fragment, Message, Role, ToolResult
from chainviz.core.dialects.values import Speller, string_of
from chainviz.core.documents.json import edit as json_edit
from chainviz.core.documents.json.edit import parse
from chainviz.core.documents.source import Source
from chainviz.core.documents.units import FoundList, Pointer, Sample, Unit
from chainviz.core.documents.written_lists import Links, uuid_of
from chainviz.core.formats.agents.session_threads import branches_of, lists_of
from chainviz.core.formats.blocks import Blocks, patched_fragments, read_fragments, value_at
from chainviz.core.formats.contract import Format, Style
from chainviz.core.formats.vendors.google.read import WORDS, read_parts, role_runs
from chainviz.core.formats.vendors.google.write import PartWriter, losses, patched_content

_TYPES: dict[Role, str] = {HUMAN: "user", AI: "assistant", TOOL: "tool_result"}
"""The type of the record for each role."""
_SHARED = ("sessionId", "timestamp", "cwd", "version", "gitBranch")
"""Members that a new record copies from its neighbour."""
_AT: Pointer = ("message", "parts")
_BLOCKS = Blocks(_AT, read_parts, patched_content)


class QwenCode(Format):
    name = "qwen_code"
    label = "Qwen Code session"
    tested_with = "sessions of Qwen Code 0.15 and 0.24"
    packs = True
    names_results = True
    blocks_at = _AT
    links = Links("uuid", "parentUuid", "", shares=False)
    lines = True
    hints = ("message",)
    carried_types = frozenset(("system",))
    carried_fields = frozenset(("toolCallResult", "systemPayload"))

    def is_message(self, value: object) -> bool:
        if not isinstance(value, dict) or value.get("type") not in _TYPES.values():
            return False
        return isinstance(value_at(value, _AT), list) and isinstance(value_at(value, ("message", "role")), str)

    def confidence(self, sample: Sample) -> float:
        return 0.98 if any(self.is_message(value) for value in sample.values) else 0.0

    def find(self, source: Source) -> tuple[FoundList, ...]:
        return lists_of(source, branches_of(source, tuple(_TYPES.values()), self.links), self.is_message)

    def read(self, units: Iterable[Unit]) -> Iterator[Message | Unit]:
        for unit in units:
            if not self.is_message(unit.value):
                yield unit
                continue
            for role, blocks in role_runs(unit.value["message"]):
                yield self.message(role, (unit.fragment(blocks),))

    def message(self, role: Role, source: tuple[Fragment, ...]) -> Message:
        value = parse(source[0].text)
        if source[0].blocks is None and value["message"]["parts"]:
            role = role_runs(value["message"])[0][0]
        parts = [part for parts in read_fragments(source, _BLOCKS, role) for part in parts]
        return Message(role, tuple(parts), source=source, label=string_of(value, "subtype"))

    def write(self, message: Message, style: Style) -> tuple[Fragment, ...]:
        if not message.source:
            return (_new_record(message, style),)
        old = self.message(message.role, message.source)
        if old == message:
            return message.source
        if message.role != old.role:
            return (_new_record(replace(message, source=()), style),)
        fragments = patched_fragments(message, _BLOCKS, style.ascii, old.role)
        return tuple(item if item in message.source else _with_display(item, message) for item in fragments)

    def is_sent(self, message: Message) -> bool:
        """Return True if Qwen Code sends the message. It leaves out voice sessions (its session-api-history.ts)."""
        return message.label != "realtime_message"

    def losses(self, message: Message) -> tuple[str, ...]:
        is_known = message.role in _TYPES
        return (*losses(message.parts), *(() if is_known else (f"a message with the role {message.role[:40]} becomes a user message",)))


def _with_display(fragment: Fragment, message: Message) -> Fragment:
    """Return the fragment with the new text also in the copy of a result for the screen, since what was cut must not
    stay in it."""
    at = ("toolCallResult", "resultDisplay")
    results = [part.content for part in message.parts if isinstance(part, ToolResult)]
    if not results or json_edit.raw_at(fragment.text, at) is None:
        return fragment
    return fragment.with_text(json_edit.replace_at(fragment.text, at, Speller(fragment.text, True).quote("\n".join(results))))


def _new_record(message: Message, style: Style) -> Fragment:
    speller = Speller(style.near, style.ascii)
    near: Any = parse(style.near) if style.near else None
    word = WORDS.get(message.role, "user") if message.role != SYSTEM else "user"
    parts = speller.list(PartWriter("", speller).parts(message.parts))
    own = uuid_of(f"{style.number}{message.role}{parts}")
    members = {"uuid": speller.quote(own), "parentUuid": "null"}
    for key in _SHARED:
        if isinstance(near, dict) and key in near:
            members[key] = json_edit.raw_at(style.near, (key,)) or "null"
    members["type"] = speller.quote(_TYPES.get(message.role, "user"))
    members["message"] = speller.object({"role": speller.quote(word), "parts": parts})
    return Fragment(NEW, "", speller.object(members))
