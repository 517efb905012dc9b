"""Read Anthropic's content blocks as parts, and write changed values into the source text.

`at` is the place of the content in the unit; the content is a text or a list of blocks. Consecutive tool results of a user
message become one tool message, its other blocks a human message. A part without a place takes the nearest form: the tool
name of a result is left out; invalid JSON arguments become {"_raw": …}; reasoning of a text or call becomes a thinking block
before it.
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
    with_origin,
)
from chainviz.core.dialects.content import ResultElements, new_result_content, patched_result_list, read_result_content
from chainviz.core.dialects.leaf import set_at
from chainviz.core.dialects.values import (
    Speller,
    decode_base64,
    encode_base64,
    image_of,
    input_text,
    is_json,
    split_data_url,
    string_of,
    text_or_null,
)
from chainviz.core.documents.json import edit as json_edit
from chainviz.core.documents.json.edit import Object, dump, member_at, parse, raw_at
from chainviz.core.documents.units import Pointer
from chainviz.core.formats.blocks import Change, Content, Run, patched_list, user_runs, value_at

OWN_KINDS = frozenset(
    ("image", "document", "search_result", "container_upload", "server_tool_use", "mcp_tool_use", "mcp_tool_listing",
     "web_search_tool_result", "web_fetch_tool_result", "code_execution_tool_result", "bash_code_execution_tool_result",
     "text_editor_code_execution_tool_result", "tool_search_tool_result", "mcp_tool_result", "advisor_tool_result",
     "compaction", "fallback", "tool_addition", "tool_removal")
)  # fmt: skip
"""Types of the API's own blocks, which are read as opaque parts."""
ROLES: dict[str, Role] = {"user": HUMAN, "assistant": AI, "system": SYSTEM}
WORDS: dict[Role, str] = {HUMAN: "user", TOOL: "user", AI: "assistant", SYSTEM: "system"}


def role_runs(word: str, content: Any) -> list[Run]:
    """Return the messages of a unit: for each its role, and its blocks if there are several messages."""
    role = ROLES.get(word, word)
    return user_runs(content, is_result) if role == HUMAN else [(role, None)]


def is_result(item: Any) -> bool:
    return type(item) is dict and item.get("type") == "tool_result"


class ResultForm:
    """How a result block stores its content. Programs that store Anthropic's blocks may do it differently."""

    id_key = "tool_use_id"
    name_key = ""
    """The member that repeats the tool's name; "" if there is none."""
    error_at: Pointer = ("is_error",)
    error_words = ("false", "true")
    """JSON text of the value at `error_at` for a success and for an error."""
    marks_success = False
    """A successful result has the value at `error_at` too."""

    def content_at(self, item: dict[str, Any]) -> Pointer:
        return ("content",)

    def is_error(self, item: dict[str, Any]) -> bool:
        return dump(value_at(item, self.error_at)) == self.error_words[True]


RESULT_FORM = ResultForm()


def read_blocks(content: Content, role: Role, form: ResultForm = RESULT_FORM) -> list[Part]:
    def part(index: int, place: Pointer, origin: int) -> Part:
        item = content.value[index]
        if role == TOOL and is_result(item):
            return with_origin(_result(item, content.text, place, form), origin)
        return _part(item, content.text, place, role, origin)

    return content.parts(part)


def _result(item: dict[str, Any], text: str, place: Pointer, form: ResultForm) -> ToolResult:
    at = form.content_at(item)
    content, media = read_result_content(value_at(item, at), text, (*place, *at), read_element)
    name = string_of(item, form.name_key) if form.name_key else ""
    return ToolResult(string_of(item, form.id_key), name, content, form.is_error(item), media)


def _part(item: Any, text: str, place: Pointer, role: Role, origin: int) -> Part:
    kind = item.get("type") if type(item) is dict else None
    if kind == "text" and (said := text_or_null(item)) is not None:
        return Text(said, origin=origin)
    if kind == "tool_use" and role == AI and type(item.get("id")) is str:
        raw = member_at(text, place, "input") if "input" in item else ""
        return ToolCall(item["id"], string_of(item, "name"), raw or "", origin=origin)
    if kind == "thinking" and type(item.get("thinking")) is str:
        return Thinking(item["thinking"], string_of(item, "signature"), origin=origin)
    if kind == "redacted_thinking" and type(item.get("data")) is str:
        return Thinking("", item["data"], True, origin=origin)
    media_part = read_media(item, origin) if kind in ("image", "document") else None
    if media_part is not None:
        return media_part
    return Opaque(kind if type(kind) is str else "content", raw_at(text, place) or "", origin=origin)


def read_media(item: dict[str, Any], origin: int = -1) -> Image | Binary | None:
    """Return an image, or a document with its bytes; None for a document that is only referred to."""
    source = item.get("source")
    if type(source) is not dict:
        return None
    kind, mime, content = source.get("type"), string_of(source, "media_type"), string_of(source, "data")
    if item["type"] == "image":
        if kind == "base64":
            return Image(f"data:{mime};base64,{content}", origin=origin)
        return Image(source["url"], origin=origin) if kind == "url" and type(source.get("url")) is str else None
    decoded = decode_base64(content) if kind == "base64" else None
    return None if decoded is None else Binary(mime, decoded, origin=origin)


def read_element(item: dict[str, Any]) -> str | Image | Binary | None:
    """Return an element of a result's list as text or media; None for any other element."""
    if item.get("type") == "text" and type(item.get("text")) is str:
        return str(item["text"])
    return read_media(item) if item.get("type") == "image" else None


def new_content(parts: Sequence[Part], speller: Speller, form: ResultForm = RESULT_FORM) -> str:
    """Return the content of a new message. Results come first, because the API requires it."""
    ordered = sorted(parts, key=lambda part: not isinstance(part, ToolResult))
    return speller.list([block for part in ordered for block in new_blocks(part, speller, form)])


def new_blocks(part: Part, speller: Speller, form: ResultForm = RESULT_FORM) -> list[str]:
    """Return the blocks of a new part; none if the format has no place for it."""
    before: list[str] = []
    if isinstance(part, Text | ToolCall) and part.reasoning is not None and not part.reasoning.is_empty:
        before = [_thinking(part.reasoning, speller)]
        if isinstance(part, Text) and not part.text.strip():
            return before  # because the API refuses empty texts
    made = _new_block(part, speller, form)
    return before if made is None else [*before, made]


def _thinking(reasoning: Reasoning, speller: Speller) -> str:
    members = {"type": '"thinking"', "thinking": speller.quote(reasoning.content)}
    return speller.object({**members, "signature": speller.quote(reasoning.signature)})


def _new_block(part: Part, speller: Speller, form: ResultForm) -> str | None:
    if isinstance(part, Text):
        return speller.object({"type": '"text"', "text": speller.quote(part.text)})
    if isinstance(part, Thinking):
        if part.redacted:
            return speller.object({"type": '"redacted_thinking"', "data": speller.quote(part.signature)})
        return _thinking(Reasoning(part.content, part.signature), speller)
    if isinstance(part, ToolCall):
        members = {"type": '"tool_use"', "id": speller.quote(part.id), "name": speller.quote(part.name)}
        return speller.object({**members, "input": input_text(part.arguments, speller)})
    if isinstance(part, ToolResult):
        return _new_result(part, speller, form)
    if isinstance(part, Image | Binary):
        return new_media(part, speller)
    return part.text if is_json(part.text) else None


def _new_result(part: ToolResult, speller: Speller, form: ResultForm) -> str:
    members = {"type": '"tool_result"', form.id_key: speller.quote(part.call_id)}
    if form.name_key:
        members[form.name_key] = speller.quote(part.name)
    content = new_result_content(part, _ELEMENTS, speller)
    block = set_at(speller.object(members), form.content_at({}), content)
    is_marked = part.is_error or form.marks_success
    return set_at(block, form.error_at, form.error_words[part.is_error]) if is_marked else block


def new_media(part: Image | Binary, speller: Speller) -> str:
    if isinstance(part, Binary) and not part.mime.startswith("image/"):
        kind, found = '"document"', (part.mime, encode_base64(part.content))
    else:
        kind, url = '"image"', image_of(part).url
        split = split_data_url(url)
        if split is None:
            source = speller.object({"type": '"url"', "url": speller.quote(url)})
            return speller.object({"type": kind, "source": source})
        found = split
    members = {"type": '"base64"', "media_type": speller.quote(found[0]), "data": speller.quote(found[1])}
    return speller.object({"type": kind, "source": speller.object(members)})


_ELEMENTS = ResultElements(read_element, lambda text, speller: speller.object({"type": '"text"', "text": speller.quote(text)}), new_media)


def patched_content(raw: str, change: Change, speller: Speller, form: ResultForm = RESULT_FORM) -> str:
    """Return the text of the content after a change, with the message's own blocks only."""
    new = change.new
    if not raw.startswith("["):
        if len(new) == 1 and isinstance(new[0], Text) and new[0].reasoning is None:
            return raw if change.old and new[0] == change.old[0] else speller.quote(new[0].text)
        return speller.list([block for part in new for block in new_blocks(part, speller, form)])

    def changed(raw: str, old: Part, new: Part) -> str:
        if isinstance(new, ToolResult) and isinstance(old, ToolResult):
            return _changed_result(raw, old, new, speller, form)
        return changed_block(raw, old, new, speller) or _new_block(new, speller, form) or raw

    return patched_list(raw, change, lambda part: new_blocks(part, speller, form), changed)


def changed_block(raw: str, old: Part, new: Part, speller: Speller) -> str | None:
    """Return the block with its changed values replaced; None if nothing of the old block can be kept."""
    block = json_edit.load_object(raw) if raw.startswith("{") else Object("", "")
    if isinstance(new, Text):
        block.set("text", speller.quote(new.text))
    elif isinstance(new, Thinking) and isinstance(old, Thinking) and new.redacted == old.redacted:
        if new.content != old.content:
            block.set("thinking", speller.quote(new.content))
        if new.signature != old.signature:
            block.set("data" if new.redacted else "signature", speller.quote(new.signature))
    elif isinstance(new, ToolCall) and isinstance(old, ToolCall):
        _change_call(block, old, new, speller)
    elif isinstance(new, Image | Binary) and _same_source(block, new):
        _change_media(block, new, speller)
    else:
        return None
    return str(block)


def _change_call(block: Object, old: ToolCall, new: ToolCall, speller: Speller) -> None:
    if new.id != old.id:
        block.set("id", speller.quote(new.id))
    if new.name != old.name:
        block.set("name", speller.quote(new.name))
    if new.arguments != old.arguments:
        block.set("input", input_text(new.arguments, speller))


def _changed_result(raw: str, old: ToolResult, new: ToolResult, speller: Speller, form: ResultForm) -> str:
    if new.call_id != old.call_id:
        raw = set_at(raw, (form.id_key,), speller.quote(new.call_id))
    if form.name_key and new.name != old.name:
        raw = set_at(raw, (form.name_key,), speller.quote(new.name))
    if new.is_error != old.is_error:
        raw = set_at(raw, form.error_at, form.error_words[new.is_error])
    if new.content == old.content and new.media == old.media:
        return raw
    at = form.content_at(parse(raw))
    content = raw_at(raw, at) or ""
    if content.startswith("["):
        return set_at(raw, at, patched_result_list(content, old, new, _ELEMENTS, speller))
    return set_at(raw, at, new_result_content(new, _ELEMENTS, speller))


def _same_source(block: Object, new: Image | Binary) -> bool:
    source = block.get("source")
    if not isinstance(source, dict):
        return False
    if isinstance(new, Binary):
        return source.get("type") == "base64" and block.get("type") == "document"
    return source.get("type") == ("url" if split_data_url(new.url) is None else "base64")


def _change_media(block: Object, new: Image | Binary, speller: Speller) -> None:
    source = block.child("source")
    assert isinstance(source, Object)
    found = (new.mime, encode_base64(new.content)) if isinstance(new, Binary) else split_data_url(new.url)
    if found is None:
        assert isinstance(new, Image)
        source.set("url", speller.quote(new.url))
        return
    for key, value in zip(("media_type", "data"), found, strict=True):
        if source.get(key) != value:
            source.set(key, speller.quote(value))


def losses(parts: Sequence[Part], form: ResultForm = RESULT_FORM) -> tuple[str, ...]:
    lost = []
    if any(isinstance(part, ToolCall) and part.arguments.strip() and not is_json(part.arguments) for part in parts):
        lost.append('arguments that are not valid JSON become {"_raw": …}')
    if any(isinstance(part, ToolCall) and not part.has_function for part in parts):
        lost.append("a call without a function becomes one without a name")
    if not form.name_key and any(isinstance(part, ToolResult) and part.name for part in parts):
        lost.append("a result does not repeat its tool's name")
    if any(isinstance(part, Image) and part.detail for part in parts):
        lost.append("the detail of an image is left out")
    if any(isinstance(part, ToolCall) and part.type != "function" for part in parts):
        lost.append("the type of a tool call is left out")
    return tuple(lost)
