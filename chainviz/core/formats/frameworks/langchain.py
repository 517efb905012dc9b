"""LangChain messages in their three spellings: `dumpd` (`lc`, `kwargs`), `messages_to_dict` (`type`, `data`), flat `model_dump`.

A message holds a call up to three times (`tool_calls`, the raw `additional_kwargs.tool_calls`, a content block): it is
one part, and a change is written into every copy. Invalid calls are calls too: they expect a result, and stand last.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
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
from chainviz.core.dialects.content import (
    ResultElements,
    as_url,
    content_leaves,
    encoded_of,
    located_media,
    new_result_content,
    read_result_content,
)
from chainviz.core.dialects.leaf import Host, Leaf, Located, as_either, as_json, as_string
from chainviz.core.dialects.losses import Room, losses
from chainviz.core.dialects.values import Speller, is_json, is_object, string_of, string_or_raw
from chainviz.core.documents.json.edit import parse, raw_at, replace_at
from chainviz.core.documents.units import Pointer
from chainviz.core.formats.contract import Style
from chainviz.core.formats.leaf_format import LeafFormat, Run, near_value

ROLES: dict[str, Role] = {
    "system": SYSTEM, "developer": SYSTEM, "human": HUMAN, "user": HUMAN, "ai": AI, "assistant": AI, "tool": TOOL,
    "function": TOOL, "SystemMessage": SYSTEM, "HumanMessage": HUMAN, "AIMessage": AI, "ToolMessage": TOOL,
    "FunctionMessage": TOOL, "RemoveMessage": "remove",
}  # fmt: skip
_CLASSES: dict[Role, str] = {SYSTEM: "SystemMessage", HUMAN: "HumanMessage", AI: "AIMessage", TOOL: "ToolMessage"}
_KINDS = frozenset((*ROLES, "chat", "remove", *(f"{kind}Chunk" for kind in _CLASSES.values())))
_OWN_BLOCKS = frozenset(("citation", "non_standard", "server_tool_call", "server_tool_result", "audio", "video", "file", "image"))
_ROOM = Room(frozenset((SYSTEM, HUMAN, AI, TOOL)), _OWN_BLOCKS, calls_anywhere=False)
_OF_MESSAGES = frozenset(("additional_kwargs", "response_metadata", "tool_call_id"))
"""Members that show that an object with a common type is a message."""


class LangChain(LeafFormat):
    name = "langchain"
    label = "LangChain"
    tested_with = "langchain-core 1.8"
    blocks_at = ()
    names_results = True
    hints = ("lc", "data", "additional_kwargs")
    known_roles = frozenset(("remove",))

    def is_message(self, value: Any) -> bool:
        return _holder(value) is not None

    def runs(self, value: Any) -> Sequence[Run]:
        at = _holder(value)
        return () if at is None else ((_role(value, at), None),)

    def locate(self, value: Any, text: str, run: Run) -> list[Located]:
        at = _holder(value) or ()
        inner = _at(value, at)
        if run[0] == TOOL:
            return [_result(inner, text, at)]
        calls = list(find_calls(inner, text, at)) if run[0] == AI else []
        copies = {place for call in calls for place in call.copies}
        found = [each for each in _content(inner, text, at, run[0]) if each.place not in copies]
        return [*_reasoning(inner, at, run[0]), *found, *calls]

    def home(self, part: Part, host: Host) -> Pointer:
        at = _holder(host.value) or ()
        if isinstance(part, ToolCall):
            return (*at, "tool_calls" if _is_valid(part) else "invalid_tool_calls")
        return (*at, "content")

    def elements(self, part: Part, host: Host, speller: Speller) -> list[str]:
        made = _element(part, speller)
        return [] if made is None else [made]

    def skeleton(self, message: Message, style: Style, speller: Speller) -> str:
        role = message.role if message.role in _CLASSES else HUMAN
        kind = speller.quote(role)
        members = {"content": '""', "type": kind}
        if role == AI:
            members |= {"tool_calls": "[]", "invalid_tool_calls": "[]"}
        if role == TOOL:
            members |= _result_members(message, speller)
        near = near_value(style)
        at = _holder(near) if near is not None else ("data",)
        if at == ("kwargs",):
            id = speller.list([speller.quote(step) for step in ("langchain", "schema", "messages", _CLASSES[role])])
            head = {"lc": "1", "type": '"constructor"', "id": id}
            return speller.unit({**head, "kwargs": speller.object(members)})
        return speller.unit({"type": kind, "data": speller.object(members)} if at else members)

    def with_role(self, text: str, role: Role, speller: Speller) -> str | None:
        """Return the text with another role, or None for a result, which has other members and must be rewritten."""
        value = parse(text)
        at = _holder(value) or ()
        if role not in (SYSTEM, HUMAN, AI) or _role(value, at) == TOOL:
            return None
        if at == ("kwargs",):
            text = replace_at(text, ("id", len(value["id"]) - 1), speller.quote(_CLASSES[role]))
        elif at:
            text = replace_at(text, ("type",), speller.quote(role))
        return replace_at(text, (*at, "type"), speller.quote(role)) if "type" in _at(value, at) else text

    def role_label(self, value: Any, role: Role) -> str:
        inner = _at(value, _holder(value) or ())
        extra = inner.get("additional_kwargs")
        word = extra.get("__openai_role__") if type(extra) is dict else None
        return word if type(word) is str and word != role else ""

    def note(self, value: Any) -> str:
        meta = _at(value, _holder(value) or ()).get("response_metadata")
        reasons = [meta.get(key) for key in ("finish_reason", "stop_reason")] if type(meta) is dict else []
        return next((reason for reason in reasons if type(reason) is str), "")

    def losses(self, message: Message) -> tuple[str, ...]:
        return losses(message, _ROOM)


def _holder(value: Any) -> Pointer | None:
    """Return the pointer to the message's own members; None if the unit is not a LangChain message."""
    if type(value) is not dict:
        return None
    if value.get("lc") == 1 and type(value.get("kwargs")) is dict and type(value.get("id")) is list and value["id"]:
        return ("kwargs",) if str(value["id"][-1]) in _KINDS else None
    if type(value.get("type")) is not str or value["type"] not in _KINDS:
        return None
    if type(value.get("data")) is dict and "content" in value["data"]:
        return ("data",)
    return () if "content" in value and (value["type"] in ("human", "ai") or not _OF_MESSAGES.isdisjoint(value)) else None


def _at(value: Any, at: Pointer) -> Any:
    for step in at:
        value = value[step]
    return value


def _role(value: Any, at: Pointer) -> Role:
    inner = _at(value, at)
    kind = str(value["id"][-1]) if at == ("kwargs",) else str(value["type"])
    kind = kind.removesuffix("Chunk")
    if kind in ("chat", "ChatMessage") and type(inner.get("role")) is str:
        kind = inner["role"]
    return ROLES.get(kind, kind)


def _reasoning(inner: dict[str, Any], at: Pointer, role: Role) -> Iterator[Located]:
    extra = inner.get("additional_kwargs")
    text = extra.get("reasoning_content") if type(extra) is dict and role == AI else None
    if text and type(text) is str:
        place = (*at, "additional_kwargs", "reasoning_content")
        yield Located(Thinking(text), place, (Leaf("content", place),))


def _content(inner: dict[str, Any], text: str, at: Pointer, role: Role) -> Iterator[Located]:
    content = inner.get("content")
    place = (*at, "content")
    if type(content) is str:
        if content or not (inner.get("tool_calls") or inner.get("invalid_tool_calls")):
            yield Located(Text(content), place, (Leaf("text", place),))
    elif type(content) is list:
        for index, item in enumerate(content):
            yield _block(item, text, (*place, index), role)


def _block(item: Any, text: str, place: Pointer, role: Role) -> Located:
    if type(item) is str:
        return Located(Text(item), place, (Leaf("text", place),))
    kind = string_of(item, "type") if type(item) is dict else ""
    if kind == "text" and type(item.get("text")) is str:
        return Located(Text(item["text"]), place, (Leaf("text", (*place, "text")),))
    if kind in ("reasoning", "thinking", "redacted_thinking"):
        found = _thinking(item, place)
    elif kind in BLOCKS and role == AI:
        found = block_call(item, text, place)
    else:
        found = _media(item, place) if type(item) is dict else None
    if found is not None:
        return found
    return Located(Opaque(kind or "content", raw_at(text, place) or ""), place)


def _thinking(item: dict[str, Any], place: Pointer) -> Located | None:
    kind = item["type"]
    if kind == "redacted_thinking" and type(item.get("data")) is str:
        return Located(Thinking("", item["data"], True), place, (Leaf("signature", (*place, "data")),))
    if type(item.get(kind)) is not str:
        return None
    extras = item.get("extras")
    inside: Pointer = ("extras", "signature") if type(extras) is dict and "signature" in extras else ("signature",)
    signature = extras["signature"] if type(extras) is dict and len(inside) > 1 else item.get("signature")
    part = Thinking(item[kind], signature if type(signature) is str else "")
    return Located(part, place, (Leaf("content", (*place, kind)), Leaf("signature", (*place, *inside))))


def _media(item: dict[str, Any], place: Pointer) -> Located | None:
    return _image(item, place) if item.get("type") == "image_url" else _file(item, place)


def _image(item: dict[str, Any], place: Pointer) -> Located | None:
    image = item.get("image_url")
    inside: Pointer = ("image_url", "url") if type(image) is dict else ("image_url",)
    url = image.get("url") if type(image) is dict else image
    return Located(Image(url), place, (Leaf("url", (*place, *inside)),)) if type(url) is str else None


def _file(item: dict[str, Any], place: Pointer) -> Located | None:
    """Locate an image, audio, video or file block in the spelling of LangChain, or of Anthropic with a `source`."""
    source = item.get("source")
    if type(source) is dict:
        return located_media(source, (*place, "source"), "media_type", "data")
    if item.get("type") == "image" and type(item.get("url")) is str:
        return Located(Image(item["url"]), place, (Leaf("url", (*place, "url")),))
    data_key = "data" if item.get("source_type") == "base64" else "base64"
    return located_media(item, place, "mime_type", data_key)


def _result(inner: dict[str, Any], text: str, at: Pointer) -> Located:
    name = string_of(inner, "name")
    place = (*at, "content")
    content, media = read_result_content(inner.get("content"), text, place, _element_value)
    is_error = inner.get("status") == "error"
    part = ToolResult(string_of(inner, "tool_call_id") or name, name, content, is_error, media)
    leaves = (
        Leaf("call_id", (*at, "tool_call_id")),
        Leaf("name", (*at, "name")),
        Leaf("is_error", (*at, "status"), lambda value, raw, speller: '"error"' if value else '"success"'),
        *content_leaves(place, _ELEMENTS),
    )
    return Located(part, (), leaves)


def _element_value(item: dict[str, Any]) -> str | Image | Binary | None:
    """Return the content of an element of a result."""
    if item.get("type") == "text":
        return string_of(item, "text") if type(item.get("text")) is str else None
    found = _media(item, ()) if item.get("type") in ("image", "image_url", "file") else None
    part = found.part if found else None
    return part if isinstance(part, Image | Binary) else None


def _result_members(message: Message, speller: Speller) -> dict[str, str]:
    result = next((part for part in message.parts if isinstance(part, ToolResult)), ToolResult("", "", ""))
    name = {"name": speller.quote(result.name)} if result.name else {}
    status = '"error"' if result.is_error else '"success"'
    content = new_result_content(result, _ELEMENTS, speller)
    return {"content": content, **name, "tool_call_id": speller.quote(result.call_id), "status": status}


def _is_valid(call: ToolCall) -> bool:
    return is_object(call.arguments) or not call.arguments.strip()


def _element(part: Part, speller: Speller) -> str | None:
    quote = speller.quote
    if isinstance(part, Text):
        return speller.object({"type": '"text"', "text": quote(part.text)})
    if isinstance(part, Thinking):
        extras = {"extras": speller.object({"signature": quote(part.signature)})} if part.signature else {}
        return speller.object({"type": '"reasoning"', "reasoning": quote(part.content), **extras})
    if isinstance(part, ToolCall):
        is_valid = _is_valid(part)
        arguments = part.arguments.strip() or "{}" if is_valid else quote(part.arguments)
        members = {"name": quote(part.name), "args": arguments, "id": quote(part.id)}
        return speller.object({**members, "type": '"tool_call"' if is_valid else '"invalid_tool_call"'})
    if isinstance(part, Image | Binary):
        found = encoded_of(part)
        if found is None:
            return speller.object({"type": '"image"', "url": quote(as_url(part))})
        kind = '"image"' if found[0].startswith("image/") else '"file"'
        return speller.object({"type": kind, "base64": quote(found[1]), "mime_type": quote(found[0])})
    if isinstance(part, Opaque) and part.kind in _OWN_BLOCKS and is_json(part.text):
        return part.text
    return None


_ELEMENTS = ResultElements(_element_value, lambda text, speller: _element(Text(text), speller) or '""', _element)


BLOCKS = {"tool_use": "input", "tool_call": "args"}
"""Content blocks that are calls, and the member with their arguments."""


def block_call(item: dict[str, Any], text: str, place: Pointer) -> Located:
    key = BLOCKS[item["type"]]
    part = ToolCall(string_of(item, "id"), string_of(item, "name"), string_or_raw(item, text, place, key))
    return Located(part, place, _leaves(place, key))


def _leaves(place: Pointer, key: str) -> tuple[Leaf, ...]:
    spell = as_json if key == "input" else _arguments
    return (Leaf("id", (*place, "id")), Leaf("name", (*place, "name")), Leaf("arguments", (*place, key), spell))


def _arguments(value: str, raw: str, speller: Speller) -> str:
    return as_either(value, raw, speller) if raw.startswith('"') else as_json(value, raw, speller)


def find_calls(inner: dict[str, Any], text: str, at: Pointer) -> Iterator[Located]:
    """Yield the parsed calls with their copies; without them the raw ones."""
    copies = _Copies(inner, at)
    is_parsed = False
    for key in ("tool_calls", "invalid_tool_calls"):
        listed = inner.get(key)
        for index, item in enumerate(listed if type(listed) is list else ()):
            if type(item) is not dict:
                continue
            is_parsed = True
            place = (*at, key, index)
            part = ToolCall(string_of(item, "id"), string_of(item, "name"), string_or_raw(item, text, place, "args"))
            found = copies.take(part.id)
            leaves = [*_leaves(place, "args"), *(leaf for copy in found for leaf in copies.leaves(copy))]
            yield Located(part, place, tuple(leaves), found)
    extra = inner.get("additional_kwargs")
    legacy = extra.get("function_call") if type(extra) is dict else None
    if not is_parsed and type(legacy) is dict:
        place = (*at, "additional_kwargs", "function_call")
        name = string_of(legacy, "name")
        renamed = (Leaf("name", (*place, "name")), Leaf("arguments", (*place, "arguments")))
        yield Located(ToolCall(name, name, string_or_raw(legacy, text, place, "arguments")), place, renamed)


class _Copies:
    """Pointers to the copies of a message's calls, by call id: the provider's raw calls and blocks of the content."""

    def __init__(self, inner: dict[str, Any], at: Pointer) -> None:
        self._places: list[tuple[str, Pointer]] = []
        extra = inner.get("additional_kwargs")
        raw = extra.get("tool_calls") if type(extra) is dict else None
        for index, item in enumerate(raw if type(raw) is list else ()):
            if type(item) is dict and type(item.get("function")) is dict:
                self._places.append((string_of(item, "id"), (*at, "additional_kwargs", "tool_calls", index)))
        content = inner.get("content")
        for index, item in enumerate(content if type(content) is list else ()):
            if string_of(item, "type") in BLOCKS:
                self._places.append((string_of(item, "id"), (*at, "content", index)))
        self._kinds = {place: content[place[-1]]["type"] for _, place in self._places if place[-2] == "content"}  # type: ignore[index]

    def take(self, id: str) -> tuple[Pointer, ...]:
        """Return one copy from each list; a second call with the same id gets the next ones."""
        found: dict[Pointer, Pointer] = {}
        for known, place in self._places:
            if known == id and place[:-1] not in found:
                found[place[:-1]] = place
        self._places = [each for each in self._places if each[1] not in found.values()]
        return tuple(found.values())

    def leaves(self, place: Pointer) -> tuple[Leaf, ...]:
        if place in self._kinds:
            return _leaves(place, BLOCKS[self._kinds[place]])
        inside = (*place, "function")
        return (Leaf("id", (*place, "id")), Leaf("name", (*inside, "name")), Leaf("arguments", (*inside, "arguments"), as_string))
