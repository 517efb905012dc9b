"""Read the content blocks of Bedrock Converse as parts, and write changed values into the source text. A block is an object whose
only key is its kind.

A part without a place takes the nearest form: arguments that are not a JSON object become {"_raw": …}; reasoning of a text or call
becomes a block before it; a file becomes a document with a generated name.
"""

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
    Opaque,
    Part,
    Reasoning,
    Role,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)
from chainviz.core.dialects.content import ResultElements, patched_result_list, read_result_content
from chainviz.core.dialects.values import Speller, decode_base64, encode_base64, image_of, is_object, split_data_url, string_of
from chainviz.core.documents.json import edit as json_edit
from chainviz.core.documents.json.edit import Object, raw_at
from chainviz.core.documents.units import Pointer
from chainviz.core.formats.blocks import Change, Content, Run, patched_list, user_runs

ROLES: dict[str, Role] = {"user": HUMAN, "assistant": AI, "system": SYSTEM}
WORDS: dict[Role, str] = {HUMAN: "user", TOOL: "user", AI: "assistant", SYSTEM: "system"}
OWN_KINDS = frozenset(
    ("image", "document", "video", "audio", "guardContent", "cachePoint", "citationsContent", "searchResult", "toolUse",
     "toolResult", "toolAddition", "toolRemoval", "reasoningContent")
)  # fmt: skip
DOCUMENTS = {
    "pdf": "application/pdf", "csv": "text/csv", "txt": "text/plain", "html": "text/html", "md": "text/markdown",
    "doc": "application/msword", "xls": "application/vnd.ms-excel",
    "docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
}  # fmt: skip
"""The media type of each of Bedrock's document formats."""


def role_runs(word: str, content: Any) -> list[Run]:
    """Return the messages of a unit: its results are a tool message, its other blocks a human message."""
    role = ROLES.get(word, word)
    return user_runs(content, _is_result) if role == HUMAN else [(role, None)]


def _is_result(item: Any) -> bool:
    return type(item) is dict and type(item.get("toolResult")) is dict


def kind_of(item: Any) -> str:
    """Return the key that names the kind of a block; "" if it is not a block."""
    if type(item) is not dict or "type" in item:
        return ""
    return next((key for key in item if key == "text" or key in OWN_KINDS), next(iter(item), ""))


def read_blocks(content: Content, role: Role) -> list[Part]:
    return content.parts(lambda index, place, origin: _part(content.value[index], content.text, place, role, origin))


def _part(item: Any, text: str, at: Pointer, role: Role, origin: int) -> Part:
    kind = kind_of(item)
    inner = item.get(kind) if kind else None
    if kind == "text" and type(inner) is str:
        return Text(inner, origin=origin)
    if type(inner) is dict:
        if kind == "toolUse" and role == AI and inner.get("type") != "server_tool_use":
            raw = raw_at(text, (*at, kind, "input")) if "input" in inner else ""
            return ToolCall(string_of(inner, "toolUseId"), string_of(inner, "name"), raw or "", origin=origin)
        if kind == "toolResult" and role == TOOL:
            said, media = read_result_content(inner.get("content"), text, (*at, kind, "content"), read_element)
            return ToolResult(string_of(inner, "toolUseId"), "", said, inner.get("status") == "error", media, origin=origin)
        if kind == "reasoningContent" and type(inner.get("reasoningText")) is dict:
            thought = inner["reasoningText"]
            return Thinking(string_of(thought, "text"), string_of(thought, "signature"), origin=origin)
        if kind == "reasoningContent" and type(inner.get("redactedContent")) is str:
            return Thinking("", inner["redactedContent"], True, origin=origin)
        media_part = read_media(item, origin)
        if media_part is not None:
            return media_part
    return Opaque(kind or "content", raw_at(text, at) or "", origin=origin)


def read_media(item: dict[str, Any], origin: int = -1) -> Image | Binary | None:
    """Return an image, or a document with its bytes; None for a document that is only referred to."""
    kind = kind_of(item)
    inner = item.get(kind)
    if kind not in ("image", "document") or type(inner) is not dict or type(inner.get("source")) is not dict:
        return None
    name, source = string_of(inner, "format"), inner["source"]
    if kind == "image":
        if type(source.get("bytes")) is str:
            return Image(f"data:image/{name};base64,{source['bytes']}", origin=origin)
        uri = string_of(source.get("s3Location"), "uri")
        return Image(uri, origin=origin) if uri else None
    content = decode_base64(string_of(source, "bytes")) if "bytes" in source else None
    return None if content is None or name not in DOCUMENTS else Binary(DOCUMENTS[name], content, origin=origin)


def read_element(item: dict[str, Any]) -> str | Image | Binary | None:
    """Return an element of a result's list as text or media; None for any other element."""
    if type(item.get("text")) is str:
        return str(item["text"])
    return json_edit.dump(item["json"]) if "json" in item else read_media(item)


_FORMATS = {mime: name for name, mime in DOCUMENTS.items()}


def _set_text(element: Object, text: str, speller: Speller) -> None:
    if "json" not in element:
        element.set("text", speller.quote(text))
    elif is_object(text):
        element.set("json", text)
    else:
        element.rename("json", "text", speller.quote(text))


def new_blocks(part: Part, speller: Speller) -> list[str]:
    """Return the blocks of a new part; none if the format has no place for it."""
    before: list[str] = []
    if isinstance(part, Text | ToolCall) and part.reasoning is not None and not part.reasoning.is_empty:
        before = [_reasoning(part.reasoning, speller)]
        if isinstance(part, Text) and not part.text.strip():
            return before  # because the API refuses blank texts
    made = _new_block(part, speller)
    return before if made is None else [*before, made]


def _reasoning(reasoning: Reasoning, speller: Speller) -> str:
    members = {"text": speller.quote(reasoning.content)}
    if reasoning.signature:
        members["signature"] = speller.quote(reasoning.signature)
    return _block("reasoningContent", {"reasoningText": speller.object(members)}, speller)


def _block(kind: str, members: dict[str, str], speller: Speller) -> str:
    return speller.object({kind: speller.object(members)})


def _new_block(part: Part, speller: Speller) -> str | None:
    if isinstance(part, Text):
        return speller.object({"text": speller.quote(part.text)})
    if isinstance(part, Thinking):
        if part.redacted:
            return _block("reasoningContent", {"redactedContent": speller.quote(part.signature)}, speller)
        return _reasoning(Reasoning(part.content, part.signature), speller)
    if isinstance(part, ToolCall):
        members = {"toolUseId": speller.quote(part.id), "name": speller.quote(part.name)}
        return _block("toolUse", {**members, "input": input_text(part.arguments, speller)}, speller)
    if isinstance(part, ToolResult):
        members = {"toolUseId": speller.quote(part.call_id), "content": _result_list(part, speller)}
        return _block("toolResult", members | ({"status": '"error"'} if part.is_error else {}), speller)
    if isinstance(part, Image | Binary):
        return new_media(part, speller)
    return part.text if is_own(part) else None


def is_own(part: Part) -> bool:
    return isinstance(part, Opaque) and part.kind in OWN_KINDS and is_object(part.text)


def input_text(arguments: str, speller: Speller) -> str:
    if is_object(arguments):
        return arguments
    return speller.object({"_raw": speller.quote(arguments)}) if arguments.strip() else "{}"


def _new_text(text: str, speller: Speller) -> str:
    return speller.object({"text": speller.quote(text)})


def _result_list(part: ToolResult, speller: Speller) -> str:
    made = [new_media(item, speller) for item in part.media]
    texts = [_new_text(part.content, speller)] if part.content or not made else []
    return speller.list([*texts, *[item for item in made if item is not None]])


def new_media(part: Image | Binary, speller: Speller) -> str | None:
    """Return the block of an image or file; None for an image on the web, because the API fetches only from S3."""
    if isinstance(part, Binary) and part.mime in _FORMATS:
        members = {"format": speller.quote(_FORMATS[part.mime]), "name": '"document"'}
        source = speller.object({"bytes": speller.quote(encode_base64(part.content))})
        return _block("document", {**members, "source": source}, speller)
    url = image_of(part).url
    split = split_data_url(url)
    if split is not None and split[0].startswith("image/"):
        source = speller.object({"bytes": speller.quote(split[1])})
        return _block("image", {"format": speller.quote(split[0].removeprefix("image/")), "source": source}, speller)
    if url.startswith("s3://"):
        source = speller.object({"s3Location": speller.object({"uri": speller.quote(url)})})
        return _block("image", {"format": '"png"', "source": source}, speller)
    return None


ELEMENTS = ResultElements(read_element, _new_text, new_media, _set_text)


def patched_content(raw: str, change: Change, speller: Speller) -> str:
    """Return the list of blocks after a change."""
    if not raw.startswith("["):
        return speller.list([block for part in change.new for block in new_blocks(part, speller)])
    return patched_list(raw, change, lambda part: new_blocks(part, speller), lambda raw, old, new: _changed(raw, old, new, speller))


def _changed(raw: str, old: Part, new: Part, speller: Speller) -> str:
    """Return the JSON of a block with its changed values replaced."""
    if not raw.startswith("{"):
        return _new_block(new, speller) or raw
    block = json_edit.load_object(raw)
    if isinstance(new, Text):
        block.set("text", speller.quote(new.text))
    elif isinstance(new, Thinking) and isinstance(old, Thinking) and new.redacted == old.redacted:
        _change_reasoning(_child(block, "reasoningContent"), old, new, speller)
    elif isinstance(new, ToolCall) and isinstance(old, ToolCall):
        _change_call(_child(block, "toolUse"), old, new, speller)
    elif isinstance(new, ToolResult) and isinstance(old, ToolResult):
        _change_result(_child(block, "toolResult"), old, new, speller)
    else:
        return _new_block(new, speller) or raw
    return str(block)


def _child(holder: Object, key: str) -> Object:
    inner = holder.child(key)
    assert isinstance(inner, Object)
    return inner


def _change_reasoning(holder: Object, old: Thinking, new: Thinking, speller: Speller) -> None:
    if new.redacted:
        holder.set("redactedContent", speller.quote(new.signature))
        return
    thought = _child(holder, "reasoningText")
    if new.content != old.content:
        thought.set("text", speller.quote(new.content))
    if new.signature != old.signature:
        thought.set("signature", speller.quote(new.signature))


def _change_call(call: Object, old: ToolCall, new: ToolCall, speller: Speller) -> None:
    if new.id != old.id:
        call.set("toolUseId", speller.quote(new.id))
    if new.name != old.name:
        call.set("name", speller.quote(new.name))
    if new.arguments != old.arguments:
        call.set("input", input_text(new.arguments, speller))


def _change_result(result: Object, old: ToolResult, new: ToolResult, speller: Speller) -> None:
    if new.call_id != old.call_id:
        result.set("toolUseId", speller.quote(new.call_id))
    if new.is_error != old.is_error:
        result.set("status", '"error"' if new.is_error else '"success"')
    if (new.content, new.media) == (old.content, old.media):
        return
    if isinstance(result.get("content"), list):
        result.set("content", patched_result_list(result.raw("content"), old, new, ELEMENTS, speller))
    else:
        result.set("content", _result_list(new, speller), after="toolUseId")


def losses(parts: Sequence[Part]) -> tuple[str, ...]:
    """Return a sentence for each thing that is lost when these parts become blocks."""
    media = [item for part in parts for item in (part.media if isinstance(part, ToolResult) else (part,))]
    lost = []
    if any(isinstance(part, Opaque) and not is_own(part) for part in parts):
        lost.append("parts of unknown kinds are left out")
    if any(isinstance(item, Image | Binary) and new_media(item, Speller("", True)) is None for item in media):
        lost.append("images with an address and files of unknown types are left out")
    if any(isinstance(part, ToolCall) and part.arguments.strip() and not is_object(part.arguments) for part in parts):
        lost.append('arguments that are not a JSON object become {"_raw": …}')
    if any(isinstance(part, ToolResult) and part.name for part in parts):
        lost.append("a result does not repeat its tool's name")
    if any(isinstance(part, ToolCall) and part.type != "function" for part in parts):
        lost.append("the type of a tool call is left out")
    if any(isinstance(part, Image) and part.detail for part in parts):
        lost.append("the detail of an image is left out")
    return tuple(lost)
