"""Anthropic's content blocks: writes new ones, and changes leaf by leaf into the source text.

Nearest forms: a result's tool name is not written; invalid JSON arguments become {"_raw": …}; reasoning that hangs
on a text or a call becomes a thinking block before it.
"""

from __future__ import annotations

from collections.abc import Sequence

from chainviz.core.chain.messages import Binary, Image, Part, Reasoning, Text, Thinking, ToolCall, ToolResult
from chainviz.core.dialects.blocks.anthropic_read import RESULT_FORM, ResultForm, read_element
from chainviz.core.dialects.blocks.block_units import Change, patched_list
from chainviz.core.dialects.leaves import set_at
from chainviz.core.dialects.patching import (
    Speller,
    encode_base64,
    image_of,
    is_json,
    split_data_url,
)  # fmt: skip
from chainviz.core.dialects.result_content import ResultElements, new_result_content, patched_result_list
from chainviz.core.documents.json import edit as json_edit
from chainviz.core.documents.json.edit import Object, parse, raw_at


def input_text(arguments: str, speller: Speller) -> str:
    if is_json(arguments):
        return arguments
    return speller.object({"_raw": speller.quote(arguments)}) if arguments.strip() else "{}"


def new_content(parts: Sequence[Part], speller: Speller, form: ResultForm = RESULT_FORM) -> str:
    """The blocks of a new message; the API wants results before any text."""
    ordered = sorted(parts, key=lambda part: not isinstance(part, ToolResult))
    return speller.list([block for part in ordered for block in new_blocks(part, speller, form)])


def new_blocks(part: Part, speller: Speller, form: ResultForm = RESULT_FORM) -> list[str]:
    """The blocks of a part that no document holds yet; empty for what has no place here."""
    before: list[str] = []
    if isinstance(part, Text | ToolCall) and part.reasoning is not None and not part.reasoning.is_empty:
        before = [_thinking(part.reasoning, speller)]
        if isinstance(part, Text) and not part.text.strip():
            return before  # the API refuses empty texts
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


_ELEMENTS = ResultElements(
    read_element,
    lambda text, speller: speller.object({"type": '"text"', "text": speller.quote(text)}),
    new_media,
)


def patched_content(raw: str, change: Change, speller: Speller, form: ResultForm = RESULT_FORM) -> str:
    """The content's text with its change; only own blocks stay in it."""
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
    """The block with only its differing leaves replaced; None where nothing of the old block is kept."""
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
