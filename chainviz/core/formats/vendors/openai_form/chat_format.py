"""The base of formats with OpenAI's chat messages. Changed values are written into the source text.

A part without a place takes the nearest form: reasoning is written before content and content before calls, in any order of the
parts; a message without parts has null (assistant) or an empty text as content; ids of legacy function calls are left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from chainviz.core.chain.messages import (
    AI,
    NEW,
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
from chainviz.core.dialects.content import patched_result_list
from chainviz.core.dialects.losses import TEXT_MOVES, has_text_behind_call
from chainviz.core.dialects.units import read_again, read_units
from chainviz.core.dialects.values import Speller, is_json, matched, reasoning_of
from chainviz.core.documents.json import edit as json_edit
from chainviz.core.documents.json.edit import Array, Object
from chainviz.core.documents.units import Pointer, Unit
from chainviz.core.formats.contract import Format, Style
from chainviz.core.formats.vendors.openai_form.read import (
    REASONING_COPIES,
    REASONING_KEYS,
    ROLES,
    THINKING,
    WORDS,
    arguments_key,
    call_holder,
    is_result,
    read_message,
    read_parts,
    result_id_key,
    result_name_key,
    role_of,
)
from chainviz.core.formats.vendors.openai_form.write import (
    OPENAI,
    OWN_KINDS,
    RESULT_ELEMENTS,
    Accent,
    call_text,
    content_item,
    content_text,
    message_text,
)

_CONTENT = ("content", "tool_calls", "function_call")


class ChatFormat(Format):
    blocks_at = ("content",)
    calls_at = ("tool_calls",)
    hints = ("role",)
    accent: Accent = OPENAI
    user_tools = True

    def is_message(self, value: object) -> bool:
        if not isinstance(value, dict) or not isinstance(value.get("role"), str) or "messages" in value:
            return False
        return value["role"] in ROLES or any(key in value for key in _CONTENT)

    def read(self, units: Iterable[Unit]) -> Iterator[Message | Unit]:
        return read_units(units, read_message)

    def message(self, role: Role, source: tuple[Fragment, ...]) -> Message:
        return read_again(source, read_message)

    def write(self, message: Message, style: Style) -> tuple[Fragment, ...]:
        if not message.source:
            text = message_text(message, style.near, Speller(style.near, style.ascii), self.accent)
            return (Fragment(NEW, "", text),)
        first = message.source[0]
        if self.message(message.role, (first,)) == message:
            return (first,)
        text = patched(message, first.text, ascii_only=style.ascii, accent=self.accent)
        return (Fragment(first.ordinal, first.lead, text),)

    def losses(self, message: Message) -> tuple[str, ...]:
        lost = []
        if self.accent.reasoning and any(item.signature for item in reasoning_of(message)):
            lost.append("signatures of reasoning are left out")
        elif any(isinstance(part, Thinking) and part.redacted for part in message.parts):
            lost.append("redacted reasoning is left out")
        if has_text_behind_call(message.parts):
            lost.append(TEXT_MOVES)
        if any(isinstance(part, Opaque) and part.kind not in OWN_KINDS for part in message.parts):
            lost.append("parts of unknown kinds are left out")
        if not self.accent.files and any(isinstance(part, Binary) and not part.mime.startswith("image/") for part in message.parts):
            lost.append("files become data: URLs")
        results = [part for part in message.parts if isinstance(part, ToolResult)]
        if any(part.is_error for part in results):
            lost.append("a result cannot be marked as an error")
        if not self.accent.result_names and any(part.name for part in results):
            lost.append("a result does not repeat its tool's name")
        if message.role == TOOL and len(results) > 1:
            lost.append("several results of one message become one")
        return tuple(lost)


def patched(message: Message, text: str, *, ascii_only: bool, accent: Accent = OPENAI) -> str:
    """Return the text of a unit, changed where it differs from `message`."""
    value = json_edit.parse(text)
    role = role_of(value)
    speller = Speller(text, ascii_only)
    if (message.role == TOOL) != (role == TOOL) or (is_result(value) and not holds_result(message)):
        return message_text(message, text, speller, accent)
    unit = json_edit.load_object(text)
    if message.role != role:
        unit.set("role", speller.quote(WORDS.get(message.role, message.role)))
    old, places = read_parts(role, value, text)
    if is_result(value):
        _patch_result(unit, value, old[0], message, speller)
    else:
        _Patch(unit, old, places, speller, accent).apply(message)
    return str(unit)


def holds_result(message: Message) -> bool:
    return message.role == TOOL or any(isinstance(part, ToolResult) for part in message.parts)


class _Patch:
    """Writes a changed message into its unit, member by member."""

    def __init__(self, unit: Object, old: list[Part], places: list[Pointer], speller: Speller, accent: Accent) -> None:
        self.unit, self.old, self.places, self.speller, self.accent = unit, old, places, speller, accent
        self.value = json_edit.parse(str(unit))

    def apply(self, message: Message) -> None:
        claims = matched(self.old, message.parts)
        reasoning: list[Thinking] = []
        content: list[tuple[Part, int | None]] = []
        calls: list[tuple[Part, int | None]] = []
        refusal: Text | None = None
        legacy: ToolCall | None = None
        for part, claim in zip(message.parts, claims, strict=True):
            place = self.places[claim] if claim is not None else ()
            if isinstance(part, ToolCall) and place == ("function_call",):
                legacy = part
            elif isinstance(part, ToolCall) or place[:1] == ("tool_calls",):
                calls.append((part, claim))
            elif isinstance(part, Text) and place == ("refusal",):
                refusal = part
            elif isinstance(part, Thinking) and place[:1] != ("content",) and (place or self.accent.reasoning):
                reasoning.append(part)
            elif not isinstance(part, ToolResult) and place != ("function_call",):
                content.append((part, claim))
        self._reasoning(reasoning)
        self._content(content, message.role)
        self._text_member("refusal", refusal)
        self._calls(calls)
        self._legacy(legacy)
        # beside calls, an empty content is no text; without calls it would be one
        if self.value.get("content") == "" and not content and not calls and legacy is None and self._old_calls():
            self.unit.set("content", "null" if message.role == AI else '""')

    def _old_calls(self) -> bool:
        return any(isinstance(part, ToolCall) for part in self.old)

    def _old_at(self, place: Pointer) -> Part | None:
        return self.old[self.places.index(place)] if place in self.places else None

    def _reasoning(self, new: list[Thinking]) -> None:
        key = next((key for key in REASONING_KEYS if (key,) in self.places), "")
        old = self._old_at((key,))
        if not new and old is not None:
            for copy in REASONING_COPIES:
                self.unit.remove(copy)
            return
        text = "\n\n".join(part.content for part in new)
        if new and not (isinstance(old, Thinking) and old.content == text):
            self.unit.set(key or self.accent.reasoning, self.speller.quote(text), after="content")

    def _text_member(self, key: str, new: Text | None) -> None:
        old = self._old_at((key,))
        if isinstance(old, Text) and (new is None or new.text != old.text):
            self.unit.set(key, "null" if new is None else self.speller.quote(new.text))

    def _content(self, new: list[tuple[Part, int | None]], role: str) -> None:
        if isinstance(self.value.get("content"), list) and (new or not self.value["content"]):
            array = self.unit.child("content")
            assert isinstance(array, Array)
            self._items(array, new, "content")
            return
        old = self._old_at(("content",))
        if [part for part, _ in new] == ([] if old is None else [old]) and (new or not isinstance(self.value.get("content"), list)):
            return
        if not new:
            self.unit.set("content", "null" if role == AI else '""', after="role")
        elif len(new) == 1 and isinstance(new[0][0], Text):
            self.unit.set("content", self.speller.quote(new[0][0].text), after="role")
        else:
            text = content_text([part for part, _ in new], self.speller, self.accent)
            self.unit.set("content", text, after="role")

    def _items(self, array: Array, new: list[tuple[Part, int | None]], key: str) -> None:
        """Write the elements of a list: unchanged elements keep their bytes, others are changed, removed or added."""
        row: list[int | str] = []
        for part, claim in new:
            place = self.places[claim] if claim is not None else ()
            if claim is not None and len(place) == 2 and place[0] == key and isinstance(place[1], int):
                row.append(place[1])
                if part != self.old[claim]:
                    array.set(place[1], self._changed(array.raw(place[1]), self.old[claim], part))
                continue
            if isinstance(part, ToolCall):
                made: str | None = call_text(part, "", self.speller)
            else:
                made = content_item(part, self.speller, self.accent)
            if made is not None:
                row.append(made)
        array.rebuild(row)

    def _changed(self, raw: str, old: Part, new: Part) -> str:
        if isinstance(new, ToolCall) and isinstance(old, ToolCall):
            return changed_call(raw, old, new, self.speller)
        if isinstance(new, Text) and not raw.lstrip().startswith("{"):
            return self.speller.quote(new.text)
        if isinstance(new, Text | Thinking):
            item = json_edit.load_object(raw)
            if isinstance(new, Text):
                item.set("text", self.speller.quote(new.text))
                return str(item)
            assert isinstance(old, Thinking)
            if new.content != old.content:
                kind = item.get("type")
                item.set(kind, _changed_thinking(item.raw(kind), new.content, self.speller))
            if new.signature != old.signature:
                item.set(THINKING[item.get("type")], self.speller.quote(new.signature))
            return str(item)
        if isinstance(new, Image) and isinstance(old, Image):
            return changed_image(raw, old, new, self.speller)
        return content_item(new, self.speller, self.accent) or raw

    def _calls(self, new: list[tuple[Part, int | None]]) -> None:
        had = isinstance(self.value.get("tool_calls"), list)
        if not new:
            if had and self.value["tool_calls"]:
                self.unit.remove("tool_calls")
            return
        if had:
            array = self.unit.child("tool_calls")
            assert isinstance(array, Array)
            self._items(array, new, "tool_calls")
        else:
            made = [call_text(part, "", self.speller) for part, _ in new if isinstance(part, ToolCall)]
            self.unit.set("tool_calls", self.speller.list(made))

    def _legacy(self, new: ToolCall | None) -> None:
        old = self._old_at(("function_call",))
        if isinstance(old, ToolCall) and new is None:
            self.unit.remove("function_call")
        elif isinstance(old, ToolCall) and new is not None and new != old:
            raw = changed_call(self.unit.raw("function_call"), old, new, self.speller, legacy=True)
            self.unit.set("function_call", raw)


def _changed_thinking(raw: str, text: str, speller: Speller) -> str:
    """Return the JSON of changed reasoning: a text, or a list of chunks that keeps only the first."""
    if not raw.startswith("["):
        return speller.quote(text)
    chunks = json_edit.parse(raw)
    first = next((at for at, chunk in enumerate(chunks) if isinstance(chunk, dict) and isinstance(chunk.get("text"), str)), None)
    array = json_edit.load_array(raw)
    kept = [at for at, chunk in enumerate(chunks) if not (isinstance(chunk, dict) and isinstance(chunk.get("text"), str))]
    if first is None:
        array.rebuild([speller.object({"type": '"text"', "text": speller.quote(text)}), *kept])
        return str(array)
    chunk = json_edit.load_object(array.raw(first))
    chunk.set("text", speller.quote(text))
    array.set(first, str(chunk))
    array.rebuild(sorted([first, *kept]))
    return str(array)


def changed_call(raw: str, old: ToolCall, new: ToolCall, speller: Speller, *, legacy: bool = False) -> str:
    """Return the JSON of a call with its changed values replaced."""
    call = json_edit.load_object(raw)
    value = json_edit.parse(raw)
    if new.id != old.id and not legacy:
        call.set("id", speller.quote(new.id))
    if new.type != old.type and not legacy:
        call.set("type", speller.quote(new.type))
    steps = call_holder(value)
    key = arguments_key(steps)
    holder = call.child(steps[0]) if steps else call
    assert isinstance(holder, Object)
    if new.name != old.name:
        if isinstance(value.get("function"), str):
            call.set("function", speller.quote(new.name))
        else:
            holder.set("name", speller.quote(new.name))
    if new.arguments != old.arguments:
        as_object = key in holder and not holder.raw(key).startswith('"') and is_json(new.arguments)
        holder.set(key, new.arguments if as_object else speller.quote(new.arguments))
    return str(call)


def changed_image(raw: str, old: Image, new: Image, speller: Speller) -> str:
    item = json_edit.load_object(raw)
    if item.raw("image_url").startswith('"'):
        item.set("image_url", speller.quote(new.url))
        return str(item)
    holder = item.child("image_url")
    assert isinstance(holder, Object)
    if new.url != old.url:
        holder.set("url", speller.quote(new.url))
    if new.detail != old.detail:
        if new.detail:
            holder.set("detail", speller.quote(new.detail))
        else:
            holder.remove("detail")
    return str(item)


def _patch_result(unit: Object, value: dict[str, Any], old: Part, message: Message, speller: Speller) -> None:
    """Write a changed result. A tool message contains one result; texts of further parts are appended to it."""
    assert isinstance(old, ToolResult)
    results = [part for part in message.parts if isinstance(part, ToolResult)]
    new = results[0] if results else ToolResult(old.call_id, old.name, "")
    content = "\n".join([part.content for part in results] + [p.text for p in message.parts if isinstance(p, Text)])
    id_key, name_key = result_id_key(value), result_name_key(value)
    if new.name != old.name:
        unit.set(name_key or "name", speller.quote(new.name), after="role")
    if new.call_id != old.call_id and id_key:
        unit.set(id_key, speller.list([speller.quote(new.call_id)]) if id_key == "tool_call_ids" else speller.quote(new.call_id))
    elif new.call_id != old.call_id and new.call_id != new.name and value.get("role") != "function":
        unit.set("tool_call_id", speller.quote(new.call_id), after="role")
    if new.is_error != old.is_error and isinstance(value.get("error"), bool | None) and "error" in value:
        unit.set("error", "true" if new.is_error else "false")
    if content != old.content or new.media != old.media:
        _patch_result_content(unit, value, old, replace(new, content=content), speller)


def _patch_result_content(unit: Object, value: dict[str, Any], old: ToolResult, new: ToolResult, speller: Speller) -> None:
    if isinstance(value.get("content"), list):
        changed = patched_result_list(unit.raw("content"), old, new, RESULT_ELEMENTS, speller)
        unit.set("content", changed if json_edit.parse(changed) else '""')  # the API refuses an empty list
    else:
        unit.set("content", speller.quote(new.content), after="role")
