"""Read the steps of Gemini's Interactions API as parts, write new steps, and write changed values into the source text.

Consecutive steps of the model form one AI message, which includes the steps of tools that the API runs itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from chainviz.core.chain.messages import AI, HUMAN, SYSTEM, TOOL, Binary, Image, Opaque, Part, Role, Text, Thinking, ToolCall, ToolResult
from chainviz.core.dialects.items import Claimed, ItemDialect
from chainviz.core.dialects.values import Speller, decode_base64, image_of, is_object, split_data_url, string_of
from chainviz.core.documents.json import edit as json_edit
from chainviz.core.documents.json.edit import Object, dump, member_at, raw_at
from chainviz.core.documents.units import Pointer
from chainviz.core.formats.vendors.google.write import args_text

TEXTS = {"user_input": HUMAN, "model_output": AI}
_WORDS = {HUMAN: "user_input", AI: "model_output", SYSTEM: "user_input"}
_SERVER_TOOLS = ("google_search", "google_maps", "url_context", "code_execution", "mcp_server_tool")
SERVER_STEPS = frozenset(f"{tool}_{end}" for tool in _SERVER_TOOLS for end in ("call", "result"))
"""Steps of tools that the API runs itself, so the client sends no result."""
KINDS = frozenset((*TEXTS, "thought", "function_call", "function_result"))


def kind_of(step: Any) -> str:
    kind = step.get("type") if type(step) is dict else None
    return kind if type(kind) is str else ""


def role_of(item: dict[str, Any], *, is_first: bool = False) -> Role:
    """Return the role of the message that a step belongs to. Steps of the API's own tools belong to the model."""
    kind = kind_of(item)
    if kind in TEXTS:
        return TEXTS[kind]
    if kind == "function_result":
        return TOOL
    return AI if kind in KINDS or kind.endswith(("_call", "_result")) else kind


def holds_content(step: dict[str, Any]) -> bool:
    """Return True if a step contains text of the user, the model or another role."""
    kind = kind_of(step)
    return kind in TEXTS or (kind not in KINDS and not kind.endswith(("_call", "_result")) and "content" in step)


def read_step(step: dict[str, Any], text: str, at: Pointer, first: int = 0) -> list[Part]:
    """Return the parts of the step at `at` in `text`. Their origins count from `first`."""
    kind = kind_of(step)
    if holds_content(step):
        return _content(step.get("content"), text, (*at, "content"), first)
    if kind == "thought":
        blocks = step.get("summary")
        texts = [string_of(block, "text") for block in (blocks if type(blocks) is list else ())]
        return [Thinking("\n\n".join(filter(None, texts)), string_of(step, "signature"), origin=first)]
    if kind == "function_call":
        raw = member_at(text, at, "arguments") if "arguments" in step else ""
        return [ToolCall(string_of(step, "id"), string_of(step, "name"), raw or "", origin=first)]
    if kind == "function_result":
        result = step.get("result")
        said = result if type(result) is str else "" if result is None else member_at(text, at, "result") or dump(result)
        return [ToolResult(string_of(step, "call_id"), string_of(step, "name"), said, step.get("is_error") is True, origin=first)]
    return [Opaque(kind, raw_at(text, at) or "", origin=first)]


def _content(content: Any, text: str, at: Pointer, first: int) -> list[Part]:
    if type(content) is str:
        return [Text(content, origin=first)]
    if type(content) is not list:
        return [] if content is None else [Opaque("content", raw_at(text, at) or "", origin=first)]
    return [_block(block, text, (*at, place), first + place) for place, block in enumerate(content)]


def _block(block: Any, text: str, at: Pointer, origin: int) -> Part:
    kind = kind_of(block)
    if kind == "text" and type(block.get("text")) is str:
        return Text(block["text"], origin=origin)
    if kind == "image" and type(block.get("data")) is str:
        return Image(f"data:{string_of(block, 'mime_type')};base64,{block['data']}", origin=origin)
    if kind == "document" and type(block.get("data")) is str:
        content = decode_base64(block["data"])
        if content is not None:
            return Binary(string_of(block, "mime_type"), content, origin=origin)
    if kind == "image" and type(block.get("uri")) is str:
        return Image(block["uri"], origin=origin)
    return Opaque(kind or "content", raw_at(text, at) or "", origin=origin)


def new_steps(role: Role, parts: Sequence[Part], label: str, near: str, speller: Speller) -> list[str]:
    """Return the steps of new parts."""
    steps: list[str] = []
    content: list[str] = []

    def flush() -> None:
        if content:
            kind = _WORDS.get(role, role)
            steps.append(speller.object({"type": speller.quote(kind), "content": speller.list(content)}))
            content.clear()

    for part in parts:
        blocks = new_blocks(part, speller)
        if blocks:
            content.extend(blocks)
            continue
        flush()
        steps += _own_steps(part, speller)
    flush()
    empty = speller.object({"type": speller.quote(_WORDS.get(role, role)), "content": "[]"})
    return steps or ([] if role == TOOL else [empty])


def new_blocks(part: Part, speller: Speller) -> list[str]:
    """Return a new part as elements of a text step; [] if the part is a step of its own or has no place in the format."""
    if isinstance(part, Text):
        return [speller.object({"type": '"text"', "text": speller.quote(part.text)})]
    if not isinstance(part, Image | Binary):
        return []
    url = image_of(part).url
    split = split_data_url(url)
    if split is None:
        return [speller.object({"type": '"image"', "uri": speller.quote(url)})]
    kind = "image" if split[0].startswith("image/") else "document"
    members = {"type": speller.quote(kind), "data": speller.quote(split[1]), "mime_type": speller.quote(split[0])}
    return [speller.object(members)]


def _own_steps(part: Part, speller: Speller) -> list[str]:
    if isinstance(part, Thinking):
        block = speller.object({"type": '"text"', "text": speller.quote(part.content)})
        members = {"type": '"thought"'} | ({"summary": speller.list([block])} if part.content else {})
        return [speller.object(members | ({"signature": speller.quote(part.signature)} if part.signature else {}))]
    if isinstance(part, ToolCall):
        members = {"type": '"function_call"', "id": speller.quote(part.id), "name": speller.quote(part.name)}
        arguments = args_text(part.arguments, speller) if part.arguments.strip() else "{}"
        return [speller.object({**members, "arguments": arguments})]
    if isinstance(part, ToolResult):
        members = {"type": '"function_result"', "call_id": speller.quote(part.call_id), "name": speller.quote(part.name)}
        members["result"] = speller.quote(part.content)
        return [speller.object(members | ({"is_error": "true"} if part.is_error else {}))]
    return [part.text] if is_own_step(part) and isinstance(part, Opaque) else []


def is_own_step(part: Part) -> bool:
    if not isinstance(part, Opaque) or not is_object(part.text):
        return False
    return part.kind in SERVER_STEPS and kind_of(json_edit.parse(part.text)) == part.kind


def takes(raw: str, part: Part) -> bool:
    """Return True if a new part can be added to the step: content can be added to a text step."""
    return isinstance(part, Text | Image | Binary) and holds_content(json_edit.parse(raw))


def patched_step(raw: str, old: Sequence[Part], new: Sequence[Claimed], role: Role, speller: Speller) -> str | None:
    """Return the step with its parts changed to `new`; None if the step must be rewritten."""
    step = json_edit.load_object(raw)
    if holds_content(json_edit.parse(raw)):
        _patch_content(step, old, new, speller)
        return str(step)
    part, claim = new[0]
    before = old[claim] if claim is not None else None
    if isinstance(part, Thinking) and isinstance(before, Thinking):
        _patch_thought(step, before, part, speller)
    elif isinstance(part, ToolCall) and isinstance(before, ToolCall):
        for key, was, now in (("id", before.id, part.id), ("name", before.name, part.name)):
            if was != now:
                step.set(key, speller.quote(now))
        if part.arguments != before.arguments:
            step.set("arguments", args_text(part.arguments, speller))
    elif isinstance(part, ToolResult) and isinstance(before, ToolResult):
        _patch_result(step, before, part, speller)
    elif part != before:
        return None
    return str(step)


def _patch_content(step: Object, old: Sequence[Part], new: Sequence[Claimed], speller: Speller) -> None:
    if not isinstance(step.get("content"), list):
        only = new[0][0] if len(new) == 1 else None
        blocks = [block for part, _ in new for block in new_blocks(part, speller)]
        step.set("content", speller.quote(only.text) if isinstance(only, Text) else speller.list(blocks))
        return
    array = json_edit.load_array(step.raw("content"))
    row: list[int | str] = []
    for part, claim in new:
        if claim is None:
            row += new_blocks(part, speller)
            continue
        if part != old[claim]:
            array.set(claim, _changed_block(array.raw(claim), part, speller))
        row.append(claim)
    array.rebuild(row)
    step.set("content", str(array))


def _changed_block(raw: str, part: Part, speller: Speller) -> str:
    made = next(iter(new_blocks(part, speller)), raw)
    if not raw.startswith("{"):
        return made
    block, new = json_edit.load_object(raw), json_edit.load_object(made)
    for key in new.keys:
        if block.get(key) != new.get(key):
            block.set(key, new.raw(key))
    for key in ({"data", "uri", "mime_type"} - set(new.keys)) & set(block.keys):
        block.remove(key)
    return str(block)


def _patch_thought(step: Object, old: Thinking, new: Thinking, speller: Speller) -> None:
    if new.signature != old.signature:
        step.set("signature", speller.quote(new.signature))
    if new.content != old.content:
        block = speller.object({"type": '"text"', "text": speller.quote(new.content)})
        step.set("summary", speller.list([block]))


def _patch_result(step: Object, old: ToolResult, new: ToolResult, speller: Speller) -> None:
    for key, was, now in (("call_id", old.call_id, new.call_id), ("name", old.name, new.name)):
        if was != now:
            step.set(key, speller.quote(now))
    if new.is_error != old.is_error:
        step.set("is_error", "true" if new.is_error else "false")
    if new.content != old.content:
        as_json = "result" in step and not step.raw("result").startswith('"') and is_object(new.content)
        step.set("result", new.content if as_json else speller.quote(new.content))


def losses(parts: Sequence[Part]) -> tuple[str, ...]:
    """Return a sentence for each thing that is lost when these parts become steps."""
    lost = []
    if any(isinstance(part, Opaque) and not is_own_step(part) for part in parts):
        lost.append("parts of unknown kinds are left out")
    if any(isinstance(part, Text | ToolCall) and part.reasoning is not None and not part.reasoning.is_empty for part in parts):
        lost.append("reasoning that belongs to a text or a call is left out")
    if any(isinstance(part, ToolCall) and part.arguments.strip() and not is_object(part.arguments) for part in parts):
        lost.append('arguments that are not a JSON object become {"_raw": …}')
    if any(isinstance(part, ToolResult) and part.media for part in parts):
        lost.append("images inside results are left out")
    if any(isinstance(part, Thinking) and part.redacted for part in parts):
        lost.append("redacted reasoning becomes a signature without text")
    return tuple(lost)


STEPS = ItemDialect(
    kind_of, role_of, read_step, new_steps, patched_step, takes,
    texts=frozenset(TEXTS), thoughts=frozenset(("thought",)), is_call=lambda step: kind_of(step) == "function_call",
)  # fmt: skip
