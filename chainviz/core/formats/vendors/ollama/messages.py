"""Read and write Ollama's chat messages: texts are strings, images are raw base64, arguments are objects, and calls have no ids.

A part without a place takes the nearest form: several texts become one, and an image on the web is left out. Ids are written only
for calls that have one, as newer servers do.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from chainviz.core.chain.messages import (
    AI,
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
from chainviz.core.dialects.items import Claimed, UnitWriter, one_result_each, patched_units
from chainviz.core.dialects.units import DisplayIds
from chainviz.core.dialects.values import Speller, image_of, is_object, matched, reasoning_of, split_data_url
from chainviz.core.documents.json import edit as json_edit
from chainviz.core.documents.json.edit import Object, parse, raw_at
from chainviz.core.formats.vendors.openai_form.chat_format import changed_call
from chainviz.core.formats.vendors.openai_form.read import ROLES, WORDS

_MAGIC = (("iVBOR", "png"), ("/9j/", "jpeg"), ("R0lGOD", "gif"), ("UklGR", "webp"))
"""The first base64 characters of each image type."""


def own_id(value: dict[str, Any]) -> str:
    found = value.get("tool_call_id")
    return found if type(found) is str else ""


def owned(source: Sequence[Fragment], role: Role) -> list[list[Part]]:
    """Return the parts of each unit. Their origins are numbered across all units."""
    shown, first = DisplayIds(), 0
    found: list[list[Part]] = []
    for fragment in source:
        value = parse(fragment.text)
        text = fragment.text
        parts: list[Part] = [_result(value, text, shown, first)] if role == TOOL else _parts(value, text, role)
        first += len(parts)
        found.append(parts)
    return found


def _result(value: dict[str, Any], text: str, shown: DisplayIds, origin: int) -> ToolResult:
    name = value.get("tool_name", value.get("name"))
    name = name if type(name) is str else ""
    content = value.get("content")
    said = content if type(content) is str else "" if content is None else raw_at(text, ("content",)) or ""
    return ToolResult(own_id(value) or (shown.take(name) if name else ""), name, said, origin=origin)


def _parts(value: dict[str, Any], text: str, role: Role) -> list[Part]:
    parts: list[Part] = []
    thinking, content, calls = value.get("thinking"), text_of(value.get("content")), value.get("tool_calls")
    if thinking and type(thinking) is str:
        parts.append(Thinking(thinking, origin=0))
    # beside calls, an empty text is left out; without calls, it is the message
    if type(content) is str and (content or not calls):
        parts.append(Text(content, origin=len(parts)))
    elif content is not None and type(content) is not str:
        parts.append(Opaque("content", raw_at(text, ("content",)) or "", origin=len(parts)))
    for picture in _list(value.get("images")):
        parts.append(_image(picture, len(parts)))
    shown = DisplayIds()
    for place, item in enumerate(_list(calls)):
        parts.append(_call(item, raw_at(text, ("tool_calls", place)) or "", shown, len(parts), role))
    return parts


def text_of(content: Any) -> Any:
    """Return the text of a content. A list of texts, which other programs write, is joined; any other value is unchanged."""
    if type(content) is not list or not all(type(item) is dict and type(item.get("text")) is str for item in content):
        return content
    return "\n".join(item["text"] for item in content)


def _list(value: Any) -> list[Any]:
    return value if type(value) is list else []


def _image(picture: Any, origin: int) -> Part:
    if type(picture) is not str:
        return Opaque("image", json_edit.dump(picture), origin=origin)
    kind = next((kind for magic, kind in _MAGIC if picture.startswith(magic)), "png")
    return Image(f"data:image/{kind};base64,{picture}", origin=origin)


def _call(item: Any, text: str, shown: DisplayIds, origin: int, role: Role) -> Part:
    function = item.get("function") if type(item) is dict else None
    if role != AI or type(function) is not dict:
        return Opaque("tool_call", text, origin=origin)
    name = function.get("name")
    name = name if type(name) is str else ""
    arguments = function.get("arguments")
    if type(arguments) is not str:
        arguments = raw_at(text, ("function", "arguments")) or ""
    id = item.get("id")
    return ToolCall(id if type(id) is str and id else shown.take(name), name, arguments, origin=origin)


def base64_of(part: Image | Binary) -> str:
    split = split_data_url(image_of(part).url)
    return split[1] if split and split[0].startswith("image/") else ""


def new_units(message: Message, speller: Speller) -> list[str]:
    if message.role == TOOL:
        shown = DisplayIds()
        parts = one_result_each(message)
        return [_new_result(part, shown, speller) for part in parts if isinstance(part, ToolResult)]
    word = message.label if ROLES.get(message.label) == message.role else WORDS.get(message.role, message.role)
    members = {"role": speller.quote(word)}
    members["content"] = speller.quote(_joined_text(message.parts))
    thinking = [item.content for item in reasoning_of(message) if item.content]
    if thinking:
        members["thinking"] = speller.quote("\n\n".join(thinking))
    images = [data for part in message.parts if isinstance(part, Image | Binary) and (data := base64_of(part))]
    if images:
        members["images"] = speller.list([speller.quote(data) for data in images])
    shown = DisplayIds()
    calls = [_new_call(part, shown, speller) for part in message.parts if isinstance(part, ToolCall)]
    if calls:
        members["tool_calls"] = speller.list(calls)
    return [speller.unit(members)]


def _joined_text(parts: Sequence[Part]) -> str:
    return "\n".join(part.text for part in parts if isinstance(part, Text))


def _new_result(part: ToolResult, shown: DisplayIds, speller: Speller) -> str:
    members = {"role": '"tool"'}
    if part.name:
        members["tool_name"] = speller.quote(part.name)
    if not shown.takes(part.call_id, part.name):
        members["tool_call_id"] = speller.quote(part.call_id)
    return speller.unit({**members, "content": speller.quote(part.content)})


def _new_call(part: ToolCall, shown: DisplayIds, speller: Speller) -> str:
    arguments = part.arguments if is_object(part.arguments) else speller.quote(part.arguments)
    function = speller.object({"name": speller.quote(part.name), "arguments": arguments if part.arguments.strip() else "{}"})
    id = {} if shown.takes(part.id, part.name) else {"id": speller.quote(part.id)}
    return speller.object({**id, "function": function})


def patched_results(message: Message, old: Message, speller: Speller) -> tuple[Fragment, ...]:
    shown = DisplayIds()

    def patch(text: str, before: Sequence[Part], after: Sequence[Claimed]) -> str | None:
        was, new = before[0], after[0][0]
        if not isinstance(new, ToolResult) or not isinstance(was, ToolResult):
            return None
        unit = json_edit.load_object(text)
        if new.content != was.content:
            unit.set("content", speller.quote(new.content))
        if new.name != was.name:
            unit.set("tool_name" if "name" not in unit else "name", speller.quote(new.name), after="role")
        if new.call_id != was.call_id:
            unit.set("tool_call_id", speller.quote(new.call_id), after="role")
        return str(unit)

    def new_results(parts: Sequence[Part]) -> list[str]:
        return [_new_result(part, shown, speller) for part in parts if isinstance(part, ToolResult)]

    held = owned(message.source, TOOL)
    writer = UnitWriter(patch, new_results, lambda text, part: False)
    first = message.source[0]
    emptied = ToolResult(old.results[0].id if old.results else "", old.results[0].name if old.results else "", "")
    return patched_units(message.source, held, one_result_each(message), writer) or (
        Fragment(first.ordinal, first.lead, new_results([emptied])[0]),
    )


def patched_unit(text: str, old: Message, new: Message, speller: Speller) -> str:
    unit = json_edit.load_object(text)
    if new.role != old.role:
        unit.set("role", speller.quote(WORDS.get(new.role, new.role)))
    claims = matched(old.parts, new.parts)
    _set_thinking(unit, old, new, speller)
    before, after = _joined_text(old.parts), _joined_text(new.parts)
    has_text = any(isinstance(part, Text) for part in old.parts)
    is_kept = any(isinstance(part, Opaque) and part.kind == "content" for part in new.parts)
    if not is_kept and (before != after or (not has_text and not isinstance(text_of(unit.get("content")), str))):
        unit.set("content", speller.quote(after), after="role")
    _set_list(unit, "images", [part for part in old.parts if _is_image(part)], _rows(old, new, claims, _is_image), speller)
    _set_list(unit, "tool_calls", [part for part in old.parts if _is_call(part)], _rows(old, new, claims, _is_call), speller)
    return str(unit)


def _is_image(part: Part) -> bool:
    return isinstance(part, Image | Binary) or (isinstance(part, Opaque) and part.kind == "image")


def _is_call(part: Part) -> bool:
    return isinstance(part, ToolCall) or (isinstance(part, Opaque) and part.kind == "tool_call")


def _rows(old: Message, new: Message, claims: Sequence[int | None], belongs: Callable[[Part], bool]) -> list[Claimed]:
    """Return the new parts of one list, each with its index in the old list."""
    places = [place for place, part in enumerate(old.parts) if belongs(part)]
    return [
        (part, places.index(claim) if claim in places else None) for part, claim in zip(new.parts, claims, strict=True) if belongs(part)
    ]


def _set_thinking(unit: Object, old: Message, new: Message, speller: Speller) -> None:
    before, after = ("\n\n".join(item.content for item in reasoning_of(one)) for one in (old, new))
    if after and after != before:
        unit.set("thinking", speller.quote(after), after="content")
    elif before and not after:
        unit.remove("thinking")


def _set_list(unit: Object, key: str, old: Sequence[Part], rows: Sequence[Claimed], speller: Speller) -> None:
    """Write a list of the unit: unchanged elements keep their bytes, others are changed, removed or added."""
    if [part for part, _ in rows] == list(old) or (not rows and not old):
        return
    if not rows:
        unit.remove(key)
        return
    array = json_edit.load_array(unit.raw(key) if isinstance(unit.get(key), list) else "[]")
    shown = DisplayIds()
    row: list[int | str] = []
    for part, place in rows:
        if place is None:
            new_results = _new_element(part, shown, speller)
            row += [] if new_results is None else [new_results]
            continue
        before = old[place]
        if isinstance(part, ToolCall):
            shown.takes(part.id, part.name)
        if part != before and isinstance(part, ToolCall) and isinstance(before, ToolCall):
            array.set(place, changed_call(array.raw(place), before, part, speller))
        elif part != before and isinstance(part, Image | Binary) and base64_of(part):
            array.set(place, speller.quote(base64_of(part)))
        row.append(place)
    array.rebuild(row)
    unit.set(key, str(array))


def _new_element(part: Part, shown: DisplayIds, speller: Speller) -> str | None:
    """Return the JSON of a new call or image; None for an image without its bytes."""
    if isinstance(part, ToolCall):
        return _new_call(part, shown, speller)
    data = base64_of(part) if isinstance(part, Image | Binary) else ""
    return speller.quote(data) if data else None
