"""Write new parts of Gemini's contents, and write changed values into the source text, in the document's camel or snake case.

A part without a place takes the nearest form: reasoning of a text or call becomes a thought before it, while its signature stays
on the part; arguments that are not a JSON object become {"_raw": …}.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from chainviz.core.chain.messages import Binary, Image, Opaque, Part, Reasoning, Text, Thinking, ToolCall, ToolResult
from chainviz.core.dialects.units import DisplayIds
from chainviz.core.dialects.values import Speller, image_of, is_object, split_data_url
from chainviz.core.documents.json import edit as json_edit
from chainviz.core.documents.json.edit import Object
from chainviz.core.formats.blocks import Change, patched_list
from chainviz.core.formats.vendors.google.read import SNAKE, UNCLEAR, key_of, read_media, response_key

_SNAKE_KEY = re.compile(f'"(?:{"|".join(SNAKE.values())})"')
OWN_KINDS = frozenset(("fileData", "inlineData", "executableCode", "codeExecutionResult", "toolCall", "toolResponse", UNCLEAR))
"""Kinds of opaque parts that belong in a content."""


class PartWriter:
    """Writes the parts of one content. It counts the calls without ids, so that ids made for display are not written."""

    def __init__(self, near: str, speller: Speller) -> None:
        self._is_snake = _SNAKE_KEY.search(near) is not None
        self.speller = speller
        self._shown: dict[type, DisplayIds] = {ToolCall: DisplayIds(), ToolResult: DisplayIds()}

    def key(self, name: str) -> str:
        return SNAKE[name] if self._is_snake else name

    def parts(self, parts: Sequence[Part]) -> list[str]:
        return [text for part in parts for text in self.part(part)]

    def part(self, part: Part) -> list[str]:
        """Return the JSON texts of a new part; [] if the format has no place for it."""
        speller = self.speller
        if isinstance(part, Text):
            before, signature = self._thought(part.reasoning)
            return [*before, self._signed({"text": speller.quote(part.text)}, signature)]
        if isinstance(part, Thinking):
            if part.redacted:
                return []
            members = {"text": speller.quote(part.content), "thought": "true"}
            return [self._signed(members, part.signature)]
        if isinstance(part, ToolCall):
            before, signature = self._thought(part.reasoning)
            return [*before, self._signed({self.key("functionCall"): self._call(part)}, signature)]
        if isinstance(part, ToolResult):
            return [speller.object({self.key("functionResponse"): self._response(part)})]
        if isinstance(part, Image | Binary):
            return [self.media(part)]
        return [part.text] if is_own(part) else []

    def _thought(self, reasoning: Reasoning | None) -> tuple[list[str], str]:
        """Return the thought to write before a part, and the signature to write on the part."""
        if reasoning is None:
            return [], ""
        text = {"text": self.speller.quote(reasoning.content), "thought": "true"}
        return ([self.speller.object(text)] if reasoning.content else []), reasoning.signature

    def _signed(self, members: dict[str, str], signature: str) -> str:
        signed = {self.key("thoughtSignature"): self.speller.quote(signature)} if signature else {}
        return self.speller.object({**members, **signed})

    def _id(self, part: ToolCall | ToolResult, id: str) -> dict[str, str]:
        """Return the member with the id; none for an id that was made for display."""
        return {} if self._shown[type(part)].takes(id, part.name) else {"id": self.speller.quote(id)}

    def _call(self, part: ToolCall) -> str:
        members = {**self._id(part, part.id), "name": self.speller.quote(part.name)}
        if part.arguments.strip():
            members["args"] = args_text(part.arguments, self.speller)
        return self.speller.object(members)

    def _response(self, part: ToolResult) -> str:
        name = self.speller.quote(part.name)
        members = {**self._id(part, part.call_id), "name": name, "response": response_text(part, self.speller)}
        if part.media:
            members["parts"] = self.speller.list([self.media(item) for item in part.media])
        return self.speller.object(members)

    def media(self, part: Image | Binary) -> str:
        split = split_data_url(image_of(part).url)
        if split is None:
            uri = self.speller.quote(image_of(part).url)
            return self.speller.object({self.key("fileData"): self.speller.object({self.key("fileUri"): uri})})
        mime, data = self.speller.quote(split[0]), self.speller.quote(split[1])
        inner = self.speller.object({self.key("mimeType"): mime, "data": data})
        return self.speller.object({self.key("inlineData"): inner})


def is_own(part: Part) -> bool:
    return isinstance(part, Opaque) and part.kind in OWN_KINDS and is_object(part.text)


def args_text(arguments: str, speller: Speller) -> str:
    return arguments if is_object(arguments) else speller.object({"_raw": speller.quote(arguments)})


def response_text(part: ToolResult, speller: Speller) -> str:
    """Return the JSON of a response. A text becomes its member `output` or `error`; a JSON object with neither is the response."""
    if not part.is_error and is_object(part.content):
        value = json_edit.parse(part.content)
        if not response_key(value) and value.get("error") is None:
            return part.content
    return speller.object({"error" if part.is_error else "output": speller.quote(part.content)})


def patched_content(raw: str, change: Change, speller: Speller) -> str:
    """Return the list of parts after a change. A single part in place of a list becomes a list."""
    writer = PartWriter(raw, speller)
    raw = f"[{raw}]" if raw.startswith("{") else raw
    if not raw.startswith("["):
        only = change.new[0] if len(change.new) == 1 else None
        if raw.startswith('"') and isinstance(only, Text) and only.reasoning is None:
            return speller.quote(only.text)
        return speller.list(writer.parts(change.new))
    return patched_list(raw, change, writer.part, lambda raw, old, new: _changed(raw, old, new, writer))


def _changed(raw: str, old: Part, new: Part, writer: PartWriter) -> str:
    """Return the JSON of a part with its changed values replaced."""
    speller = writer.speller
    if not raw.startswith("{"):
        return next(iter(writer.part(new)), raw)
    item = json_edit.load_object(raw)
    value = json_edit.parse(raw)
    if isinstance(new, Text) and isinstance(old, Text):
        if new.text != old.text:
            item.set("text", speller.quote(new.text))
        _set_signature(item, old.reasoning, new.reasoning, writer)
    elif isinstance(new, Thinking) and isinstance(old, Thinking):
        if new.content != old.content:
            item.set("text", speller.quote(new.content))
        _set_signature(item, Reasoning(signature=old.signature), Reasoning(signature=new.signature), writer)
    elif isinstance(new, ToolCall) and isinstance(old, ToolCall):
        _change_call(_child(item, key_of(value, "functionCall")), old, new, speller)
        _set_signature(item, old.reasoning, new.reasoning, writer)
    elif isinstance(new, ToolResult) and isinstance(old, ToolResult):
        _change_response(_child(item, key_of(value, "functionResponse")), old, new, writer)
    elif isinstance(new, Image | Binary) and isinstance(old, Image | Binary):
        _change_media(item, new, writer)
    else:
        return next(iter(writer.part(new)), raw)
    return str(item)


def _child(item: Object, key: str) -> Object:
    inner = item.child(key)
    assert isinstance(inner, Object)
    return inner


def _set_signature(item: Object, old: Reasoning | None, new: Reasoning | None, writer: PartWriter) -> None:
    before, after = (one.signature if one else "" for one in (old, new))
    if before == after:
        return
    key = key_of(json_edit.parse(str(item)), "thoughtSignature") or writer.key("thoughtSignature")
    if after:
        item.set(key, writer.speller.quote(after))
    else:
        item.remove(key)


def _change_call(call: Object, old: ToolCall, new: ToolCall, speller: Speller) -> None:
    if new.name != old.name:
        call.set("name", speller.quote(new.name))
    if new.id != old.id:
        call.set("id", speller.quote(new.id))
    if new.arguments != old.arguments:
        call.set("args", args_text(new.arguments, speller))


def _is_shown(result: ToolResult, holder: Object) -> bool:
    """Return True if the id of a result is made from its name, and the JSON has none."""
    return not holder.get("id") and result.call_id.partition("#")[0] == result.name


def _change_response(holder: Object, old: ToolResult, new: ToolResult, writer: PartWriter) -> None:
    speller = writer.speller
    if new.name != old.name:
        holder.set("name", speller.quote(new.name))
    if new.call_id != old.call_id and not _is_shown(new, holder):
        holder.set("id", speller.quote(new.call_id))
    key = response_key(holder.get("response"))
    if key and new.is_error == old.is_error and new.content != old.content:
        response = _child(holder, "response")
        as_json = not response.raw(key).startswith('"') and is_object(new.content)
        response.set(key, new.content if as_json else speller.quote(new.content))
    elif (new.content, new.is_error) != (old.content, old.is_error):
        holder.set("response", response_text(new, speller))
    if new.media != old.media:
        _change_parts(holder, new, writer)


def _change_parts(holder: Object, new: ToolResult, writer: PartWriter) -> None:
    """Write the changed media of a result. Unchanged images keep their JSON, and other parts stay."""
    items = holder.get("parts") if isinstance(holder.get("parts"), list) else []
    raws = json_edit.load_array(holder.raw("parts")) if items else None
    wanted = list(new.media)
    kept: list[str] = []
    for place, item in enumerate(items):
        found = read_media(item)
        if found is not None and found not in wanted:
            continue
        if found is not None:
            wanted.remove(found)
        kept.append(raws.raw(place) if raws else "")
    holder.set("parts", writer.speller.list([*kept, *[writer.media(item) for item in wanted]]))


def _change_media(item: Object, new: Image | Binary, writer: PartWriter) -> None:
    value = json_edit.parse(str(item))
    key, split = key_of(value, "inlineData"), split_data_url(image_of(new).url)
    speller = writer.speller
    if key and split is not None:
        inner = _child(item, key)
        mime_key = key_of(value[key], "mimeType") or writer.key("mimeType")
        for name, text in ((mime_key, split[0]), ("data", split[1])):
            if value[key].get(name) != text:
                inner.set(name, speller.quote(text))
        return
    key = key_of(value, "fileData")
    if key and split is None:
        _child(item, key).set(key_of(value[key], "fileUri") or writer.key("fileUri"), speller.quote(image_of(new).url))
        return
    for name in ("inlineData", "fileData"):
        if key_of(value, name):
            item.remove(key_of(value, name))
    made = json_edit.load_object(writer.media(new))
    item.set(made.keys[0], made.raw(made.keys[0]))


def losses(parts: Sequence[Part]) -> tuple[str, ...]:
    """Return a sentence for each thing that is lost when these parts become a content."""
    lost = []
    if any(isinstance(part, Opaque) and not is_own(part) for part in parts):
        lost.append("parts of unknown kinds are left out")
    if any(isinstance(part, Text | ToolCall) and part.reasoning and part.reasoning.content for part in parts):
        lost.append("reasoning that belongs to a text or a call becomes a part of its own")
    if any(isinstance(part, Thinking) and part.redacted for part in parts):
        lost.append("redacted reasoning is left out")
    if any(isinstance(part, ToolCall) and part.arguments.strip() and not is_object(part.arguments) for part in parts):
        lost.append('arguments that are not a JSON object become {"_raw": …}')
    if any(isinstance(part, ToolCall) and part.type != "function" for part in parts):
        lost.append("the type of a tool call is left out")
    if any(isinstance(part, Image) and part.detail for part in parts):
        lost.append("the detail of an image is left out")
    return tuple(lost)
