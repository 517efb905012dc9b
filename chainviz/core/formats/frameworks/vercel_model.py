"""Model messages of the Vercel AI SDK, and sessions of Posit Assistant, which contain them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from chainviz.core.chain.messages import (
    AI,
    HUMAN,
    SYSTEM,
    TOOL,
    Binary,
    Image,
    Message,
    Opaque,
    Part,
    Role,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)
from chainviz.core.dialects.content import as_url, encoded_of, located_media
from chainviz.core.dialects.leaf import Host, Leaf, Located, as_json
from chainviz.core.dialects.losses import Room, losses
from chainviz.core.dialects.values import Speller, is_object, string_of
from chainviz.core.documents.json.edit import dump, member_at, raw_at, replace_at
from chainviz.core.documents.units import Pointer, Sample
from chainviz.core.formats.contract import Style
from chainviz.core.formats.frameworks import vercel_parts
from chainviz.core.formats.leaf_format import LeafFormat, Run, near_value
from chainviz.core.formats.read_only import ReadOnlyUnits, Turn, inner

ROLES: dict[str, Role] = {"system": SYSTEM, "user": HUMAN, "assistant": AI, "tool": TOOL}
WORDS = {role: word for word, role in ROLES.items()}
_OWN = frozenset(("tool-approval-request", "tool-approval-response", "reasoning-file", "custom", "tool-result", "source"))
_ROOM = Room(frozenset(WORDS), _OWN, free_arguments=False)
_AT: Pointer = ("content",)


class VercelModel(LeafFormat):
    """ModelMessage of the Vercel AI SDK: what an application sends to a model. Version 4 (`args`, `result`) is read too."""

    name = "vercel_model"
    label = "Vercel AI SDK ModelMessage"
    tested_with = "ai 5, 7"
    packs = True
    blocks_at = _AT
    template = '{"messages": [\n]}\n'
    names_results = True
    hints = ("role",)
    carried_fields = frozenset(("providerOptions", "providerMetadata"))

    def is_message(self, value: object) -> bool:
        if not isinstance(value, dict) or not isinstance(value.get("role"), str):
            return False
        return value["role"] in ROLES and ("content" in value or "providerOptions" in value)

    def confidence(self, sample: Sample) -> float:
        messages = [value for value in sample.values if self.is_message(value)]
        return max((_rate(value) for value in messages), default=0.0)

    def runs(self, value: Any) -> Sequence[Run]:
        is_message = type(value) is dict and type(value.get("role")) is str
        return ((ROLES.get(value["role"], value["role"]), None),) if is_message else ()

    def locate(self, value: Any, text: str, run: Run) -> list[Located]:
        content = value.get("content")
        if type(content) is str:
            return [Located(Text(content), _AT, (Leaf("text", _AT),))]
        if type(content) is not list:
            return []
        return [_block(item, text, (*_AT, index), run[0]) for index, item in enumerate(content)]

    def home(self, part: Part, host: Host) -> Pointer:
        return _AT

    def elements(self, part: Part, host: Host, speller: Speller) -> list[str]:
        made = _element(part, speller)
        return [] if made is None else [made]

    def skeleton(self, message: Message, style: Style, speller: Speller) -> str:
        near = near_value(style)
        as_list = message.role == TOOL or (isinstance(near, dict) and isinstance(near.get("content"), list))
        role = WORDS.get(message.role, "user")
        return speller.unit({"role": speller.quote(role), "content": "[]" if as_list else '""'})

    def with_role(self, text: str, role: Role, speller: Speller) -> str | None:
        return replace_at(text, ("role",), speller.quote(WORDS.get(role, role)))

    def losses(self, message: Message) -> tuple[str, ...]:
        return losses(message, _ROOM)


def _rate(value: dict[str, Any]) -> float:
    content = value.get("content")
    items = [item for item in content if isinstance(item, dict)] if isinstance(content, list) else []
    if any(item.get("type") in ("tool-call", "tool-result") and "toolCallId" in item for item in items):
        return 0.95
    if any(item.get("type") == "reasoning" and isinstance(item.get("text"), str) for item in items):
        return 0.9
    if any(item.get("type") == "image" and isinstance(item.get("image"), str) for item in items):
        return 0.9
    return 0.9 if any("providerOptions" in each for each in (value, *items)) else 0.0


def _block(item: Any, text: str, place: Pointer, role: Role) -> Located:
    kind = item.get("type") if type(item) is dict else None
    found: Located | None = None
    if kind == "text" and type(item.get("text")) is str:
        found = Located(Text(item["text"]), place, (Leaf("text", (*place, "text")),))
    elif kind == "reasoning":
        found = vercel_parts.located_reasoning(item, place)
    elif kind == "tool-call" and role == AI and not item.get("providerExecuted"):
        found = _call(item, text, place)
    elif kind == "tool-result" and role == TOOL:
        found = vercel_parts.located_result(item, text, place)
    elif kind in ("image", "file"):
        found = _file(item, place)
    if found is not None:
        return found
    return Located(Opaque(kind if type(kind) is str else "content", raw_at(text, place) or ""), place)


def _call(item: dict[str, Any], text: str, place: Pointer) -> Located:
    key = "input" if "input" in item else "args"
    arguments = item.get(key)
    raw = arguments if type(arguments) is str else member_at(text, place, key)
    part = ToolCall(string_of(item, "toolCallId"), string_of(item, "toolName"), raw)
    leaves = (Leaf("id", (*place, "toolCallId")), Leaf("name", (*place, "toolName")), Leaf("arguments", (*place, key), as_json))
    return Located(part, place, leaves)


def _file(item: dict[str, Any], place: Pointer) -> Located | None:
    """Locate an image or a file: an address, a data: URL, or base64 text beside its media type."""
    key = "image" if item["type"] == "image" else "data"
    content = item.get(key)
    if type(content) is not str:
        return None
    if content.startswith(("http:", "https:", "data:image/")):
        return Located(Image(content), place, (Leaf("url", (*place, key)),))
    mime_key = "mimeType" if "mimeType" in item else "mediaType"
    return located_media({"mediaType": "image/png", **item} if key == "image" else item, place, mime_key, key)


def _element(part: Part, speller: Speller) -> str | None:
    quote = speller.quote
    if isinstance(part, Text):
        return speller.object({"type": '"text"', "text": quote(part.text)})
    if isinstance(part, Thinking):
        return vercel_parts.new_reasoning(part, "providerOptions", speller)
    if isinstance(part, ToolCall):
        members = {"type": '"tool-call"', "toolCallId": quote(part.id), "toolName": quote(part.name)}
        return speller.object({**members, "input": as_json(part.arguments, "", speller)})
    if isinstance(part, ToolResult):
        members = {"type": '"tool-result"', "toolCallId": quote(part.call_id), "toolName": quote(part.name)}
        return speller.object({**members, "output": vercel_parts.new_output(part, speller)})
    if isinstance(part, Image | Binary):
        found = encoded_of(part)
        if isinstance(part, Image):
            return speller.object({"type": '"image"', "image": quote(as_url(part))})
        mime, encoded = found or (part.mime, "")
        return speller.object({"type": '"file"', "data": quote(encoded), "mediaType": quote(mime)})
    return part.text if part.kind in _OWN and is_object(part.text) else None


class PositAssistant(ReadOnlyUnits):
    """Sessions of Posit Assistant (`lm-messages.jsonl`): a message of the Vercel AI SDK and its number a line. Which messages
    make up a branch is kept in another file, so nothing is written back. The registry passes in the format of the messages.
    """

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

    def messages_in(self, value: Any) -> Sequence[Turn]:
        message = inner(value, "message")
        text = dump(message)
        return [(message["role"], [each.part for each in self.dialect.locate(message, text, run)]) for run in self.dialect.runs(message)]
