"""pydantic-ai's message history: requests (system, user, tool returns) and responses, each a list of typed parts.

A request gives one message for each run of parts of one role. `instructions` are repeated in every request: those of the
first one are a system message, all others are carried.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Any

from chainviz.core.chain.messages import (
    AI,
    HUMAN,
    SYSTEM,
    TOOL,
    Binary,
    Fragment,
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
from chainviz.core.dialects.content import encoded_of, located_media
from chainviz.core.dialects.leaf import Host, Leaf, Located, as_either, set_at, without
from chainviz.core.dialects.losses import Room, losses
from chainviz.core.dialects.values import Speller, is_json, is_object, string_of, string_or_raw
from chainviz.core.documents.assemble import joined_blocks, with_items
from chainviz.core.documents.json.edit import parse, raw_at
from chainviz.core.documents.units import Pointer, Unit
from chainviz.core.formats.contract import Style
from chainviz.core.formats.leaf_format import LeafFormat, Run

_ROLES: dict[str, Role] = {"system-prompt": SYSTEM, "instruction": SYSTEM, "user-prompt": HUMAN, "tool-return": TOOL}
_KINDS = ("request", "response")
_OWN = frozenset(
    ("builtin-tool-call", "builtin-tool-return", "file", "compaction", "document-url", "audio-url", "video-url",
     "uploaded-file", "cache-point", "retry-feedback", "speech")
)  # fmt: skip
_ROOM = Room(frozenset((SYSTEM, HUMAN, AI, TOOL)), _OWN, result_media=False)
_AT: Pointer = ("parts",)
_INSTRUCTIONS: Pointer = ("instructions",)
_BESIDE = (-1,)
"""The blocks of the message that shows the instructions: they lie beside the parts."""
_URL_SAFE = str.maketrans("+/", "-_")
_STANDARD = str.maketrans("-_", "+/")


class PydanticAI(LeafFormat):
    name = "pydantic_ai"
    label = "pydantic-ai"
    tested_with = "pydantic-ai 2.68"
    packs = True
    blocks_at = _AT
    names_results = True
    hints = ("part_kind", "kind")
    carried_fields = frozenset(("instructions",))
    known_kinds = frozenset(("builtin-tool-call", "builtin-tool-return", "file", "retry-prompt", "compaction"))

    def is_message(self, value: object) -> bool:
        return isinstance(value, dict) and value.get("kind") in _KINDS and isinstance(value.get("parts"), list)

    def read(self, units: Iterable[Unit]) -> Iterator[Message | Unit]:
        for unit in units:
            if unit.ordinal == 0 and _has_instructions(unit.value):
                for run in ((SYSTEM, _BESIDE), *self._runs_of_blocks(unit.value)):
                    yield self._message(run, [(unit.fragment(run[1]), unit.value)])
            else:
                yield from super().read([unit])

    def runs(self, value: Any) -> Sequence[Run]:
        if not self.is_message(value):
            return ()
        runs = self._runs_of_blocks(value)
        return runs if len(runs) > 1 else ((runs[0][0] if runs else HUMAN, None),)

    def _runs_of_blocks(self, value: Any) -> list[Run]:
        if value["kind"] == "response":
            return [(AI, None)]
        places = groupby(range(len(value["parts"])), key=lambda index: _role(value["parts"][index]))
        return [(role, tuple(group)) for role, group in places]

    def locate(self, value: Any, text: str, run: Run) -> list[Located]:
        if run[1] == _BESIDE and not _has_instructions(value):
            return []
        if run[1] == _BESIDE:
            return [Located(Text(value["instructions"]), _INSTRUCTIONS, (Leaf("text", _INSTRUCTIONS),))]
        places = range(len(value["parts"])) if run[1] is None else run[1]
        return [each for index in places for each in _part(value["parts"][index], text, (*_AT, index), run[0])]

    def home(self, part: Part, host: Host) -> Pointer:
        """A new text of a user joins a prompt that is a list already."""
        prompts = [
            (*_AT, index, "content") for index, item in enumerate(host.value["parts"])
            if type(item) is dict and item.get("part_kind") == "user-prompt" and type(item.get("content")) is list
        ]  # fmt: skip
        is_said = host.role == HUMAN and isinstance(part, Text | Image | Binary)
        return prompts[0] if prompts and is_said else _AT

    def elements(self, part: Part, host: Host, speller: Speller) -> list[str]:
        if self.home(part, host) != _AT:
            return [speller.quote(part.text) if isinstance(part, Text) else _media(part, speller)]  # type: ignore[arg-type]
        made = _element(part, host.role, speller)
        return [] if made is None else [made]

    def skeleton(self, message: Message, style: Style, speller: Speller) -> str:
        kind = "response" if message.role == AI else "request"
        return speller.unit({"parts": "[]", "kind": speller.quote(kind)})

    def join(self, fragments: Sequence[Fragment]) -> str:
        """The first request loses its instructions with the message that showed them."""
        shown = [fragment for fragment in fragments if fragment.blocks == _BESIDE]
        rest = [fragment for fragment in fragments if fragment.blocks != _BESIDE]
        text = joined_blocks(rest, _AT) if rest else with_items(shown[0].text, _AT, [])
        if shown:
            return set_at(text, _INSTRUCTIONS, raw_at(shown[0].text, _INSTRUCTIONS) or "null")
        had_some = rest[0].ordinal == 0 and all(_has_instructions(parse(fragment.text)) for fragment in rest)
        return without(text, _INSTRUCTIONS) if had_some else text

    def note(self, value: Any) -> str:
        reason = value.get("finish_reason")
        return reason if type(reason) is str else ""

    def losses(self, message: Message) -> tuple[str, ...]:
        return losses(message, _ROOM)


def _has_instructions(value: Any) -> bool:
    if type(value) is not dict or value.get("kind") != "request" or type(value.get("parts")) is not list:
        return False
    return bool(value.get("instructions")) and type(value["instructions"]) is str


def _role(item: Any) -> Role:
    kind = item.get("part_kind") if type(item) is dict else None
    if kind == "retry-prompt":
        return TOOL if item.get("tool_name") else HUMAN
    return _ROLES.get(kind, HUMAN) if type(kind) is str else HUMAN


def _part(item: Any, text: str, place: Pointer, role: Role) -> list[Located]:
    kind = item.get("part_kind") if type(item) is dict else None
    if kind in ("text", "system-prompt", "instruction", "user-prompt", "retry-prompt") and role != TOOL:
        return _texts(item, text, place)
    if kind == "thinking":
        is_redacted = item.get("id") == "redacted_thinking"
        part: Part = Thinking(string_of(item, "content"), string_of(item, "signature"), is_redacted)
        return [Located(part, place, (Leaf("content", (*place, "content")), Leaf("signature", (*place, "signature"))))]
    if kind == "tool-call":
        part = ToolCall(string_of(item, "tool_call_id"), string_of(item, "tool_name"), string_or_raw(item, text, place, "args"))
        return [Located(part, place, _tool_leaves(place, "id", Leaf("arguments", (*place, "args"), as_either)))]
    if kind in ("tool-return", "retry-prompt"):
        return [_result(item, text, place)]
    return [Located(Opaque(kind if type(kind) is str else "part", raw_at(text, place) or ""), place)]


def _tool_leaves(place: Pointer, id_field: str, *more: Leaf) -> tuple[Leaf, ...]:
    return (Leaf(id_field, (*place, "tool_call_id")), Leaf("name", (*place, "tool_name")), *more)


def _result(item: dict[str, Any], text: str, place: Pointer) -> Located:
    is_retry = item["part_kind"] == "retry-prompt"
    is_error = is_retry or item.get("outcome", "success") not in ("success", None)
    content = string_or_raw(item, text, place, "content")
    part = ToolResult(string_of(item, "tool_call_id"), string_of(item, "tool_name"), content, is_error)
    error = () if is_retry else (Leaf("is_error", (*place, "outcome"), _outcome),)
    return Located(part, place, _tool_leaves(place, "call_id", Leaf("content", (*place, "content"), as_either), *error))


def _outcome(value: Any, raw: str, speller: Speller) -> str:
    return '"failed"' if value else '"success"'


def _texts(item: dict[str, Any], text: str, place: Pointer) -> list[Located]:
    content = item.get("content")
    if type(content) is not list or item["part_kind"] != "user-prompt":
        return [Located(Text(string_or_raw(item, text, place, "content")), place, (Leaf("text", (*place, "content"), as_either),))]
    return [_content(each, text, (*place, "content", index)) for index, each in enumerate(content)]


def _content(item: Any, text: str, place: Pointer) -> Located:
    if type(item) is str:
        return Located(Text(item), place, (Leaf("text", place),))
    kind = item.get("kind") if type(item) is dict else None
    found = None
    if kind == "image-url" and type(item.get("url")) is str:
        found = Located(Image(item["url"]), place, (Leaf("url", (*place, "url")),))
    elif kind == "text-content" and type(item.get("content")) is str:
        found = Located(Text(item["content"]), place, (Leaf("text", (*place, "content")),))
    elif kind == "binary" and type(item.get("data")) is str:
        found = located_media({**item, "data": item["data"].translate(_STANDARD)}, place, "media_type", "data")
        found = None if found is None else Located(found.part, place, tuple(map(_url_safe, found.leaves)))
    return found or Located(Opaque(kind if type(kind) is str else "content", raw_at(text, place) or ""), place)


def _url_safe(leaf: Leaf) -> Leaf:
    """Bytes are written with the alphabet that pydantic-ai writes."""
    if leaf.at[-1] != "data":
        return leaf

    def spelled(value: Any, raw: str, speller: Speller) -> str | None:
        made = leaf.spell(value, raw, speller)
        return None if made is None else made.translate(_URL_SAFE)

    return Leaf(leaf.field, leaf.at, spelled)


_TEXT_KINDS = {SYSTEM: '"system-prompt"', AI: '"text"'}


def _element(part: Part, role: Role, speller: Speller) -> str | None:
    quote = speller.quote
    if isinstance(part, Opaque):
        return part.text if part.kind in _OWN and is_object(part.text) else None
    if isinstance(part, ToolResult):
        content = part.content if part.content[:1] in ("{", "[") and is_json(part.content) else quote(part.content)
        members = {"tool_name": quote(part.name), "content": content, "tool_call_id": quote(part.call_id)}
        failed = {"outcome": '"failed"'} if part.is_error else {}
        return speller.object({**members, **failed, "part_kind": '"tool-return"'})
    if isinstance(part, ToolCall):
        members = {"tool_name": quote(part.name), "args": quote(part.arguments), "tool_call_id": quote(part.id)}
        return speller.object({**members, "part_kind": '"tool-call"'})
    if isinstance(part, Thinking):
        members = {"content": quote(part.content)} | ({"signature": quote(part.signature)} if part.signature else {})
        redacted = {"id": '"redacted_thinking"'} if part.redacted else {}
        return speller.object({**members, **redacted, "part_kind": '"thinking"'})
    if isinstance(part, Text):
        return speller.object({"content": quote(part.text), "part_kind": _TEXT_KINDS.get(role, '"user-prompt"')})
    if role == AI:
        return speller.object({"content": _media(part, speller), "part_kind": '"file"'})
    return speller.object({"content": speller.list([_media(part, speller)]), "part_kind": '"user-prompt"'})


def _media(part: Image | Binary, speller: Speller) -> str:
    found = encoded_of(part)
    if found is None:
        url = part.url if isinstance(part, Image) else ""
        return speller.object({"url": speller.quote(url), "kind": '"image-url"'})
    members = {"data": speller.quote(found[1].translate(_URL_SAFE)), "media_type": speller.quote(found[0])}
    return speller.object({**members, "kind": '"binary"'})
