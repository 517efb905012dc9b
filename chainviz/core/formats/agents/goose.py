"""Sessions of goose: lines of a session file, the `conversation` of an export, or the events that `goose run` prints as
`stream-json`. Results of tools lie in user messages."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import Any

from chainviz.core.chain.messages import AI, HUMAN, TOOL, Fragment, Image, Message, Opaque, Part, Role, Text, Thinking, ToolCall, ToolResult
from chainviz.core.dialects.leaf import Host, Leaf, Located, as_json
from chainviz.core.dialects.losses import Room, losses
from chainviz.core.dialects.values import Speller, split_data_url, string_of
from chainviz.core.documents.assemble import joined_blocks
from chainviz.core.documents.json.edit import parse, raw_at
from chainviz.core.documents.units import Pointer, Sample
from chainviz.core.documents.written_lists import uuid_of
from chainviz.core.errors import Refused
from chainviz.core.formats.contract import Style
from chainviz.core.formats.leaf_format import LeafFormat, Run, near_value
from chainviz.core.formats.read_only import as_text, inner

_WORDS: dict[Role, str] = {HUMAN: "user", AI: "assistant", TOOL: "user"}
_ROOM = Room(frozenset(_WORDS), result_names=False, result_media=False, free_arguments=False, addresses=False, files=False)


class Goose(LeafFormat):
    name = "goose"
    label = "goose session"
    tested_with = "source of goose 1.0 to 1.20"
    template = '{"id": "converted", "working_dir": "/", "name": "Converted chain", "conversation": [\n]}\n'
    blocks_at: Pointer = ("content",)
    packs = any_near = True
    hints = ("created",)
    carried_types = frozenset(("complete", "notification", "error"))

    def is_message(self, value: object) -> bool:
        message = _message(value)
        is_told = isinstance(message.get("content"), list) and isinstance(message.get("role"), str)
        return is_told and isinstance(message.get("created"), int)

    def is_carried(self, value: object) -> bool:
        is_head = isinstance(value, dict) and "role" not in value and ("working_dir" in value or "message_count" in value)
        return is_head or super().is_carried(value)

    def confidence(self, sample: Sample) -> float:
        return 0.98 if any(self.is_message(value) for value in sample.values) else 0.0

    def runs(self, value: Any) -> Sequence[Run]:
        if not self.is_message(value):
            return ()
        message = _message(value)
        role = {"user": HUMAN, "assistant": AI}.get(message["role"], message["role"])
        numbered = enumerate(message["content"])
        groups = [(key, tuple(place for place, _ in group)) for key, group in groupby(numbered, key=lambda item: _is_response(item[1]))]
        found = [(TOOL if is_result else role, places) for is_result, places in groups] or [(role, ())]
        return ((found[0][0], None),) if len(found) == 1 else tuple(found)

    def locate(self, value: Any, text: str, run: Run) -> list[Located]:
        at = ("message", *self.blocks_at) if _is_event(value) else self.blocks_at
        content = _message(value)["content"]
        return [_part(content[place], text, (*at, place)) for place in (range(len(content)) if run[1] is None else run[1])]

    def home(self, part: Part, host: Host) -> Pointer:
        return ("message", *self.blocks_at) if _is_event(host.value) else self.blocks_at

    def elements(self, part: Part, host: Host, speller: Speller) -> list[str]:
        if isinstance(part, Opaque):
            return []
        made = _members(part, speller)
        return [] if made is None else [speller.object(made)]

    def skeleton(self, message: Message, style: Style, speller: Speller) -> str:
        value = near_value(style)
        near = _message(value)
        created = near.get("created")
        named = {"id": speller.quote(f"msg_{uuid_of(f'{style.number} {message.parts!r}')}")} if string_of(near, "id") else {}
        beside = {"metadata": speller.dump(near["metadata"])} if "metadata" in near else {}
        own = {"role": speller.quote(_WORDS.get(message.role, "user")), "created": str(created if type(created) is int else style.number)}
        made = speller.unit({**named, **own, "content": "[]", **beside})
        return speller.unit({"type": '"message"', "message": made}) if _is_event(value) else made

    def join(self, fragments: Sequence[Fragment]) -> str:
        return fragments[0].text if len(fragments) == 1 or _is_event(parse(fragments[0].text)) else joined_blocks(fragments, self.blocks_at)

    def write(self, message: Message, style: Style) -> tuple[Fragment, ...]:
        """Write a message. Raises Refused for one that shares an event of `goose run` with another."""
        is_shared = bool(message.source) and message.source[0].blocks is not None and _is_event(parse(message.source[0].text))
        if is_shared and self.message(message.role, message.source) != message:
            raise Refused("This event of goose holds a result and a text; only such events are not changed.")
        return super().write(message, style)

    def losses(self, message: Message) -> tuple[str, ...]:
        return losses(message, _ROOM)


def _is_event(value: object) -> bool:
    return string_of(value, "type") == "message"


def _message(value: object) -> dict[str, Any]:
    """Return the message, which may be inside an event."""
    if _is_event(value):
        return inner(value, "message")
    return value if isinstance(value, dict) else {}


def _is_response(item: Any) -> bool:
    return string_of(item, "type") == "toolResponse"


def _part(item: Any, text: str, place: Pointer) -> Located:
    kind = string_of(item, "type")
    if kind == "text":
        return Located(Text(string_of(item, "text")), place, (Leaf("text", (*place, "text")),))
    if kind == "reasoning":
        return Located(Thinking(string_of(item, "text")), place, (Leaf("content", (*place, "text")),))
    if kind == "thinking":
        leaves = (Leaf("content", (*place, "thinking")), Leaf("signature", (*place, "signature")))
        return Located(Thinking(string_of(item, "thinking"), string_of(item, "signature")), place, leaves)
    if kind == "redactedThinking":
        return Located(Thinking("", string_of(item, "data"), redacted=True), place, (Leaf("signature", (*place, "data")),))
    if kind == "image":
        return Located(Image(f"data:{string_of(item, 'mimeType')};base64,{string_of(item, 'data')}"), place)
    if kind in ("toolRequest", "frontendToolRequest"):
        at = (*place, "toolCall", "value")
        raw = raw_at(text, (*at, "arguments"))
        name = string_of(inner(inner(item, "toolCall"), "value"), "name")
        part = ToolCall(string_of(item, "id"), name, "{}" if raw in (None, "null") else raw or "")
        ids = Leaf("id", (*place, "id")), Leaf("name", (*at, "name"))
        return Located(part, place, (*ids, Leaf("arguments", (*at, "arguments"), as_json)))
    return _result(item, place) if _is_response(item) else Located(Opaque(kind or "part", raw_at(text, place) or ""), place)


def _result(item: dict[str, Any], place: Pointer) -> Located:
    """Locate a result. Contents are marked with their audience: the model does not get those for the user alone."""
    result = inner(item, "toolResult")
    value, at = result.get("value"), (*place, "toolResult", "value")
    contents, at = (value.get("content"), (*at, "content")) if isinstance(value, dict) else (value, at)
    shown = [(number, each) for number, each in enumerate(contents) if _is_for_model(each)] if isinstance(contents, list) else []
    is_error = string_of(result, "status") == "error" or inner(result, "value").get("isError") is True
    error = string_of(result, "error")
    leaves = [Leaf("call_id", (*place, "id"))]
    if error:
        leaves.append(Leaf("content", (*place, "toolResult", "error")))
    elif len(shown) == 1 and string_of(shown[0][1], "type") == "text":
        leaves.append(Leaf("content", (*at, shown[0][0], "text")))
    text = error or as_text([each for _, each in shown] if isinstance(contents, list) else contents)
    return Located(ToolResult(string_of(item, "id"), "", text, is_error), place, tuple(leaves))


def _is_for_model(content: Any) -> bool:
    audience = inner(content, "annotations").get("audience")
    return not isinstance(audience, list) or "assistant" in audience


def _members(part: Part, speller: Speller) -> dict[str, str] | None:
    """Return the members of a new block; None if goose has none for it."""
    if isinstance(part, Text):
        return {"type": '"text"', "text": speller.quote(part.text)}
    if isinstance(part, Thinking):
        if part.redacted:
            return {"type": '"redactedThinking"', "data": speller.quote(part.signature)}
        return {"type": '"thinking"', "thinking": speller.quote(part.content), "signature": speller.quote(part.signature)}
    if isinstance(part, Image):
        data = split_data_url(part.url)
        return None if data is None else {"type": '"image"', "data": speller.quote(data[1]), "mimeType": speller.quote(data[0])}
    if isinstance(part, ToolCall):
        value = speller.object({"name": speller.quote(part.name), "arguments": as_json(part.arguments, "", speller)})
        call = speller.object({"status": '"success"', "value": value})
        return {"type": '"toolRequest"', "id": speller.quote(part.id), "toolCall": call}
    if isinstance(part, ToolResult):
        said = {"error": part.content} if part.is_error else {"value": [{"type": "text", "text": part.content}]}
        result = speller.dump({"status": "error" if part.is_error else "success", **said})
        return {"type": '"toolResponse"', "id": speller.quote(part.call_id), "toolResult": result}
    return None
