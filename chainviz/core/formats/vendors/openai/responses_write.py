"""Write new items of OpenAI's Responses API, and write changed values into the source text.

A part without a place takes the nearest form: reasoning of a text or call becomes an item before it; a call of an unknown type
becomes a function call; a result becomes a function's output unless it answers a free-form call.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from chainviz.core.chain.messages import AI, FREE_FORM, TOOL, Binary, Image, Opaque, Part, Role, Text, Thinking, ToolCall, ToolResult
from chainviz.core.dialects.content import ResultElements, new_result_content, patched_result_list
from chainviz.core.dialects.items import ItemDialect
from chainviz.core.dialects.values import Speller, data_url, file_name, image_of, is_json, is_object
from chainviz.core.documents.json import edit as json_edit
from chainviz.core.documents.json.edit import Object
from chainviz.core.formats.vendors.openai.responses_read import (
    AUTO,
    CALLS,
    COMPACTIONS,
    ITEM_TYPES,
    RESULTS,
    id_key,
    is_client_call,
    kind_of,
    read_element,
    read_item,
    role_of,
)
from chainviz.core.formats.vendors.openai_form.read import ROLES, WORDS

BLOCKS = frozenset(("input_file", "input_image", "input_audio", "output_audio"))
"""Kinds of opaque parts that belong in the content of a message."""
_CALL_ITEMS = {shape.type: kind for kind, shape in CALLS.items()}


def new_items(message_role: Role, parts: Sequence[Part], label: str, near: str, speller: Speller) -> list[str]:
    """Return the items of new parts. A message imitates `near`, an item of the same role."""
    items: list[str] = []
    content: list[Part] = []
    for part in parts:
        if _is_content(part):
            content.append(part)
            continue
        items += _flushed(message_role, content, label, near, speller)
        items += _own_items(part, speller)
    items += _flushed(message_role, content, label, near, speller)
    return items or ([] if message_role == TOOL else [_message(message_role, [], label, near, speller)])


def _is_content(part: Part) -> bool:
    return isinstance(part, Text | Image | Binary) or (isinstance(part, Opaque) and part.kind in BLOCKS)


def _flushed(role: Role, content: list[Part], label: str, near: str, speller: Speller) -> list[str]:
    """Return the items of the collected parts: their reasoning, then one message. Empties `content`."""
    if not content:
        return []
    hung = [part.reasoning for part in content if isinstance(part, Text) and part.reasoning and not part.reasoning.is_empty]
    before = [_reasoning(one.content, one.signature, speller) for one in hung]
    kept = [part for part in content if not (isinstance(part, Text) and part.reasoning in hung and not part.text)]
    content.clear()
    return [*before, _message(role, kept, label, near, speller)] if kept or not before else before


def _message(role: Role, content: Sequence[Part], label: str, near: str, speller: Speller) -> str:
    model = json_edit.parse(near) if near else {}
    model = model if isinstance(model, dict) and kind_of(model) == "message" else {}
    members = {"type": '"message"'} if "type" in model else {}
    word = label if ROLES.get(label) == role else WORDS.get(role, role)
    members["role"] = speller.quote(word)
    texts = [part.text for part in content if isinstance(part, Text)]
    is_text = len(texts) == len(content) and (len(texts) == 1 or (role == AI and len(texts) > 1))
    if is_text and not isinstance(model.get("content"), list):
        members["content"] = speller.quote("\n".join(texts))  # a list is valid only in answers of the API, which have an id
    else:
        blocks = [new_block(part, role, speller) for part in content]
        members["content"] = speller.list([block for block in blocks if block is not None])
    return speller.unit(members)


def new_block(part: Part, role: Role, speller: Speller) -> str | None:
    """Return a new part as an element of a message's content; None if it does not belong there."""
    if isinstance(part, Text):
        kind = "output_text" if role == AI else "input_text"
        return speller.object({"type": speller.quote(kind), "text": speller.quote(part.text)})
    if isinstance(part, Binary) and not part.mime.startswith("image/"):
        file = {"type": "input_file", "filename": file_name(part.mime), "file_data": data_url(part.mime, part.content)}
        return speller.object({key: speller.quote(each) for key, each in file.items()})
    if isinstance(part, Image | Binary):
        image = image_of(part)
        members = {"type": '"input_image"', "image_url": speller.quote(image.url)}
        return speller.object({**members, "detail": speller.quote(image.detail or AUTO)})
    return part.text if isinstance(part, Opaque) and part.kind in BLOCKS and is_json(part.text) else None


def _own_items(part: Part, speller: Speller) -> list[str]:
    """Return the items of a part that is not message content."""
    if isinstance(part, Thinking):
        return [_reasoning(part.content, part.signature, speller)]
    if isinstance(part, ToolCall):
        hung = part.reasoning if part.reasoning and not part.reasoning.is_empty else None
        before = [_reasoning(hung.content, hung.signature, speller)] if hung else []
        return [*before, _call(part, speller)]
    if isinstance(part, ToolResult):
        return [_result(part, speller)]
    return [part.text] if is_own_item(part) and isinstance(part, Opaque) else []


def is_own_item(part: Part) -> bool:
    """Return True for an opaque part that is an item of this API."""
    if not isinstance(part, Opaque) or not is_object(part.text):
        return False
    kind = kind_of(json_edit.parse(part.text))
    return kind == part.kind and (kind in ITEM_TYPES or kind.endswith("_call"))


def _reasoning(content: str, signature: str, speller: Speller) -> str:
    summary = [speller.object({"type": '"summary_text"', "text": speller.quote(content)})] if content else []
    members = {"type": '"reasoning"', "summary": speller.list(summary)}
    return speller.object(members | ({"encrypted_content": speller.quote(signature)} if signature else {}))


def _call(part: ToolCall, speller: Speller) -> str:
    kind = _CALL_ITEMS.get(part.type, "function_call")
    shape = CALLS[kind]
    members = {"type": speller.quote(kind), "call_id": speller.quote(part.id)}
    if not shape.name:
        members["name"] = speller.quote(part.name)
    as_json = bool(shape.name) and is_json(part.arguments)
    members[shape.arguments] = part.arguments if as_json else speller.quote(part.arguments)
    return speller.object(members)


def _result(part: ToolResult, speller: Speller) -> str:
    own = _own_output(part)
    if own is not None:
        return json_edit.dump(own, speller.ascii_only)
    kind = "custom_tool_call_output" if part.type == FREE_FORM else "function_call_output"
    members = {"type": speller.quote(kind), "call_id": speller.quote(part.call_id)}
    return speller.object({**members, "output": new_result_content(part, _ELEMENTS, speller)})


def _own_output(part: ToolResult) -> dict[str, Any] | None:
    """Return the output item of a tool that OpenAI defines; None for a function's result, which also answers a local shell (Codex).
    The output of a tool search is a list of tools, so its text is left out."""
    match part.type:
        case "tool_search":
            found = {"execution": "client", "status": "completed", "tools": []}
            return {"type": "tool_search_output", "call_id": part.call_id, **found}
        case "shell":
            ended = {"stdout": "", "stderr": part.content, "outcome": {"type": "exit", "exit_code": 1}}
            return {"type": "shell_call_output", "call_id": part.call_id, "output": [ended]}
        case "apply_patch":
            return {"type": "apply_patch_call_output", "call_id": part.call_id, "status": "failed", "output": part.content}
    return None


_ELEMENTS = ResultElements(
    read_element,
    lambda text, speller: speller.object({"type": '"input_text"', "text": speller.quote(text)}),
    lambda part, speller: new_block(part, TOOL, speller),
)


def takes(raw: str, part: Part) -> bool:
    """Return True if a new part can be added to the item: content can be added to a message."""
    return _is_content(part) and kind_of(json_edit.parse(raw)) == "message"


def patched_item(raw: str, old: Sequence[Part], new: Sequence[tuple[Part, int | None]], role: Role, speller: Speller) -> str | None:
    """Return the item with its parts changed to `new`, each with the index of its old part; None if the item must be rewritten."""
    item = json_edit.load_object(raw)
    kind = kind_of(json_edit.parse(raw))
    if kind == "message":
        _patch_message(item, old, new, role, speller)
        return str(item)
    part, claim = new[0]
    before = old[claim] if claim is not None else None
    if isinstance(part, Thinking) and isinstance(before, Thinking):
        _patch_reasoning(item, before, part, speller)
    elif isinstance(part, ToolCall) and isinstance(before, ToolCall) and part.type == before.type:
        _patch_call(item, kind, before, part, speller)
    elif isinstance(part, ToolResult) and isinstance(before, ToolResult):
        _patch_result(item, kind, before, part, speller)
    elif part != before:
        return None
    return str(item)


def _patch_message(item: Object, old: Sequence[Part], new: Sequence[tuple[Part, int | None]], role: Role, speller: Speller) -> None:
    if not isinstance(item.get("content"), list):
        only = new[0][0] if len(new) == 1 else None
        if isinstance(only, Text):
            item.set("content", speller.quote(only.text))
        else:
            blocks = [new_block(part, role, speller) for part, _ in new]
            item.set("content", speller.list([block for block in blocks if block is not None]))
        return
    array = json_edit.load_array(item.raw("content"))
    row: list[int | str] = []
    for part, claim in new:
        if claim is None:
            made = new_block(part, role, speller)
            row += [] if made is None else [made]
            continue
        if part != old[claim]:
            array.set(claim, _changed_block(array.raw(claim), part, role, speller))
        row.append(claim)
    array.rebuild(row)
    item.set("content", str(array))


def _changed_block(raw: str, part: Part, role: Role, speller: Speller) -> str:
    if not raw.startswith("{"):
        return speller.quote(part.text) if isinstance(part, Text) else new_block(part, role, speller) or raw
    block = json_edit.load_object(raw)
    if isinstance(part, Text):
        block.set("refusal" if block.get("type") == "refusal" else "text", speller.quote(part.text))
    elif isinstance(part, Thinking):
        block.set("text", speller.quote(part.content))
    elif isinstance(part, Image):
        _set(block, "image_url", part.url, speller)
        _set(block, "detail", part.detail or AUTO if "detail" in block else part.detail, speller)
    elif isinstance(part, Binary):
        _set(block, "file_data", data_url(part.mime, part.content), speller)
    return str(block)


def _set(block: Object, key: str, value: str, speller: Speller) -> None:
    """Set a changed member; an empty text is not added."""
    if (block.get(key) or "") != value:
        block.set(key, speller.quote(value))


def _patch_reasoning(item: Object, old: Thinking, new: Thinking, speller: Speller) -> None:
    """Write a changed reasoning text into the first text of the item and remove the others."""
    if new.signature != old.signature:
        if new.signature:
            item.set("encrypted_content", speller.quote(new.signature))
        else:
            item.remove("encrypted_content")
    if new.content == old.content:
        return
    waits = bool(new.content)
    for key in ("summary", "content"):
        blocks = item.get(key)
        if not isinstance(blocks, list):
            continue
        array = json_edit.load_array(item.raw(key))
        row: list[int | str] = []
        for place, block in enumerate(blocks):
            if not (isinstance(block, dict) and isinstance(block.get("text"), str)):
                row.append(place)
            elif waits:
                unit = json_edit.load_object(array.raw(place))
                unit.set("text", speller.quote(new.content))
                array.set(place, str(unit))
                row.append(place)
                waits = False
        array.rebuild(row)
        item.set(key, str(array))
    if waits:
        made = speller.object({"type": '"summary_text"', "text": speller.quote(new.content)})
        item.set("summary", speller.list([made]), after="type")


def _patch_call(item: Object, kind: str, old: ToolCall, new: ToolCall, speller: Speller) -> None:
    key = CALLS[kind].arguments
    if new.id != old.id:
        item.set("call_id", speller.quote(new.id))
    if new.name != old.name:
        item.set("name", speller.quote(new.name))
    if new.arguments != old.arguments:
        as_json = key in item and not item.raw(key).startswith('"') and is_json(new.arguments)
        item.set(key, new.arguments if as_json else speller.quote(new.arguments))


def _patch_result(item: Object, kind: str, old: ToolResult, new: ToolResult, speller: Speller) -> None:
    key = RESULTS[kind]
    if new.call_id != old.call_id:
        item.set(id_key(json_edit.parse(str(item))), speller.quote(new.call_id))
    if new.name != old.name:
        item.set("name", speller.quote(new.name))
    if new.is_error != old.is_error and "status" in item:
        item.set("status", '"failed"' if new.is_error else '"completed"')
    if (new.content, new.media) == (old.content, old.media):
        return
    if isinstance(item.get(key), list):
        item.set(key, patched_result_list(item.raw(key), old, new, _ELEMENTS, speller))
    else:
        item.set(key, new_result_content(new, _ELEMENTS, speller))


def losses(role: Role, parts: Sequence[Part]) -> tuple[str, ...]:
    """Return a sentence for each thing that is lost when these parts become items."""
    lost = []
    if any(isinstance(part, Opaque) and not is_own_item(part) and part.kind not in BLOCKS for part in parts):
        lost.append("parts of unknown kinds are left out")
    if any(isinstance(part, Thinking) and part.redacted for part in parts):
        lost.append("reasoning is not marked as redacted")
    if any(isinstance(part, ToolCall) and not part.has_function for part in parts):
        lost.append("a call without a function becomes one without a name")
    if any(isinstance(part, ToolResult) and part.name for part in parts):
        lost.append("a result does not repeat its tool's name")
    if any(isinstance(part, ToolResult) and part.is_error for part in parts):
        lost.append("a result cannot be marked as an error")
    if role not in ROLES.values():
        lost.append(f"a message with the role {role[:40]} may be refused")
    return tuple(lost)


def _label(item: dict[str, Any], role: Role) -> str:
    if kind_of(item) in COMPACTIONS:
        return "compaction"
    word = item.get("role")
    return word if type(word) is str and kind_of(item) == "message" and WORDS.get(role) != word else ""


def _note(item: dict[str, Any]) -> str:
    status = item.get("status") if type(item) is dict else None
    return status if type(status) is str and status in ("incomplete", "failed") else ""


RESPONSES = ItemDialect(
    kind_of, role_of, read_item, new_items, patched_item, takes,
    texts=frozenset(("message",)), thoughts=frozenset(("reasoning",)), is_call=is_client_call,
    label=_label, note=_note, word=lambda role: WORDS.get(role, role),
)  # fmt: skip
