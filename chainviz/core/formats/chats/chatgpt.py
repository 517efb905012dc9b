"""The account export of ChatGPT (`conversations.json`): each conversation keeps its messages as the nodes of a tree.

The chain is the path from the root to `current_node`; the nodes of other branches stay as they are. What the assistant sends
to a recipient other than `all` is a call, without an id: the next message of a tool answers it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from chainviz.core.chain.messages import (
    AI,
    TOOL,
    Fragment,
    Message,
    Opaque,
    Part,
    Role,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)
from chainviz.core.documents.json.edit import dump, parse
from chainviz.core.documents.source import Source
from chainviz.core.documents.units import FoundList, Sample, Tree, Unit
from chainviz.core.formats.read_only import ROLES, ReadOnly, said

_EVERYBODY = "all"


def path(conversation: dict[str, Any]) -> Sequence[str]:
    """The ids of the nodes from the root to the current one; of a tree without it, to the last one."""
    nodes = conversation.get("mapping")
    if not isinstance(nodes, dict) or not nodes:
        return ()
    at = conversation.get("current_node")
    at = at if isinstance(at, str) and at in nodes else next(reversed(nodes))
    ids: dict[str, None] = {}
    while isinstance(at, str) and at in nodes and at not in ids and isinstance(nodes[at], dict):
        ids[at] = None
        at = nodes[at].get("parent")
    return (*reversed(ids),)


class ChatGPT(ReadOnly):
    name = "chatgpt"
    label = "ChatGPT account export"
    tested_with = "descriptions of exports, 2023 to 2025"
    lines = False
    hints = ("author",)
    tree = Tree(("mapping",), "message", path)
    carried_fields = frozenset(("metadata", "weight", "language", "domain", "url", "title"))
    known_kinds = frozenset(("image_asset_pointer", "audio_asset_pointer", "video_container_asset_pointer", "audio_transcription"))

    def find(self, source: Source) -> tuple[FoundList, ...]:
        return ()

    def is_message(self, value: object) -> bool:
        if not isinstance(value, dict) or not isinstance(value.get("author"), dict) or "content" not in value:
            return False
        content = value["content"]
        return isinstance(value["author"].get("role"), str) and isinstance(content, dict) and "content_type" in content

    def confidence(self, sample: Sample) -> float:
        return 0.97 if any(self.is_message(value) for value in sample.values) else 0.0

    def read(self, units: Iterable[Unit]) -> Iterator[Message | Unit]:
        for unit in units:
            yield self.message("", (unit.fragment(),)) if self.is_message(unit.value) else unit

    def message(self, role: Role, source: tuple[Fragment, ...]) -> Message:
        value = parse(source[0].text)
        word, content = value["author"]["role"], value["content"]
        role = ROLES.get(word.lower(), word)
        parts = list(_parts(content))
        if role == TOOL:
            text = "\n".join(part.text for part in parts if isinstance(part, Text | Opaque))
            parts = [ToolResult("", str(value["author"].get("name") or ""), text)]
        recipient = value.get("recipient")
        if role == AI and isinstance(recipient, str) and recipient != _EVERYBODY:
            text = "\n".join(part.text for part in parts if isinstance(part, Text | Opaque))
            parts = [ToolCall("", recipient, text)]
        return said(word, parts, source)


def _parts(content: dict[str, Any]) -> Iterator[Part]:
    kind = str(content["content_type"])
    if isinstance(content.get("parts"), list):
        for item in content["parts"]:
            if item != "":
                yield Text(item) if isinstance(item, str) else _other(item)
    elif isinstance(content.get("thoughts"), list):
        for item in content["thoughts"]:
            yield Thinking(str(item.get("content") or item.get("summary") or "")) if isinstance(item, dict) else _other(item)
    elif isinstance(content.get("text"), str):
        yield Text(content["text"])
    elif kind == "reasoning_recap" and isinstance(content.get("content"), str):
        yield Thinking(content["content"])
    else:
        yield _other(content)


def _other(item: Any) -> Part:
    """A picture's place in the account, a recording, what was browsed: only referred to in the export."""
    if isinstance(item, dict) and isinstance(item.get("text"), str):
        return Text(item["text"])
    kind = item.get("content_type") if isinstance(item, dict) else None
    return Opaque(kind if isinstance(kind, str) else "content", dump(item))
