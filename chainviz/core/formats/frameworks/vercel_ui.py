"""UI messages of the Vercel AI SDK, as `useChat` keeps them and as Mastra stores them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from chainviz.core.chain.messages import (
    AI,
    HUMAN,
    SYSTEM,
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
    text_of,
)
from chainviz.core.dialects.content import as_url, located_file
from chainviz.core.dialects.leaf import Host, Leaf, Located, as_either, as_json, set_at, without
from chainviz.core.dialects.losses import Room, losses
from chainviz.core.dialects.units import joined_halves
from chainviz.core.dialects.values import Speller, is_json, is_object, objects_of, string_of
from chainviz.core.documents.json.edit import dump, member_at, parse, quote, raw_at, replace_at
from chainviz.core.documents.units import Pointer, Sample
from chainviz.core.documents.written_lists import uuid_of
from chainviz.core.formats.blocks import value_at
from chainviz.core.formats.contract import Style
from chainviz.core.formats.frameworks import vercel_parts
from chainviz.core.formats.leaf_format import LeafFormat, Run, is_half

ROLES: dict[str, Role] = {"system": SYSTEM, "user": HUMAN, "assistant": AI}
WORDS = {SYSTEM: "system", HUMAN: "user", AI: "assistant", TOOL: "assistant"}
_ROOM = Room(
    frozenset(WORDS), frozenset(("source-url", "source-document", "source", "custom")), free_arguments=False,
    result_media=False, calls_anywhere=False,
)  # fmt: skip
_AT: Pointer = ("parts",)
_ANSWERED = ("output-available", "output-error", "output-denied", "result")
_RESULT_KEYS = ("state", "output", "errorText", "preliminary", "resultProviderMetadata", "result")


class UIMessageFormat(LeafFormat):
    """UIMessages of the Vercel AI SDK, which others keep too. One message holds several steps, and a tool part is call and
    result.

    A step gives an AI message, and a tool message where calls have results. Version 4 spells tool parts `tool-invocation` and
    repeats them in `toolInvocations`, and the text in `content`: the copies follow the parts.
    """

    packs = True
    blocks_at: Pointer = _AT
    template = '{"messages": [\n]}\n'
    halves = True
    results_in_calls = True
    hints = ("parts",)
    carried_fields = frozenset(("state", "step"))

    def is_known_kind(self, kind: str) -> bool:
        return kind.startswith("data-") or super().is_known_kind(kind)

    def is_message(self, value: object) -> bool:
        if not isinstance(value, dict) or not isinstance(value.get("role"), str):
            return False
        return value["role"] in ROLES and isinstance(value_at(value, self.blocks_at), list)

    def runs(self, value: Any) -> Sequence[Run]:
        parts = value_at(value, self.blocks_at)
        if type(value) is not dict or type(value.get("role")) is not str or type(parts) is not list:
            return ()
        role: Role = value["role"]
        if role != "assistant":
            return ((ROLES.get(role, role), None),)
        runs = _steps(parts)
        return runs if len(runs) > 1 else ((AI, None),)

    def locate(self, value: Any, text: str, run: Run) -> list[Located]:
        at, parts = self.blocks_at, value_at(value, self.blocks_at)
        if is_half(run[1]):
            return [_result(parts[~index], text, (*at, ~index)) for index in run[1] or ()]
        places = range(len(parts)) if run[1] is None else run[1]
        found = [_part(parts[index], text, (*at, index), run[0]) for index in places]
        return [each for each in found if each is not None]

    def home(self, part: Part, host: Host) -> Pointer:
        return self.blocks_at

    def elements(self, part: Part, host: Host, speller: Speller) -> list[str]:
        made = _element(part, speller)
        return [] if made is None else [made]

    def skeleton(self, message: Message, style: Style, speller: Speller) -> str:
        id = uuid_of(f"{style.number} {message.role} {text_of(message)}")
        role = WORDS.get(message.role, "user")
        return speller.unit({"id": speller.quote(id), "role": speller.quote(role), **self.empty(speller)})

    def empty(self, speller: Speller) -> dict[str, str]:
        """Return the member for the parts of a new message, still empty."""
        return {"parts": "[]"}

    def with_role(self, text: str, role: Role, speller: Speller) -> str | None:
        return replace_at(text, ("role",), speller.quote(WORDS[role])) if role in (SYSTEM, HUMAN, AI) else None

    def join(self, fragments: Sequence[Fragment]) -> str:
        text = joined_halves(fragments, self.blocks_at, _ToolParts())
        if text == fragments[0].text and len({each.text for each in fragments}) == 1:
            return text
        holder = self.blocks_at[:-1]
        return replace_at(text, holder, _with_copies(raw_at(text, holder) or "{}"))

    def losses(self, message: Message) -> tuple[str, ...]:
        return losses(message, _ROOM)


def kind_of(item: Any) -> str:
    """Return the type of a part; "" if it has none."""
    kind = item.get("type") if type(item) is dict else None
    return kind if type(kind) is str else ""


def _is_tool(item: Any) -> bool:
    """Return True for a part that is both call and result. Excludes tools that the provider runs, which no tool message
    answers."""
    kind = kind_of(item)
    is_tool = kind == "dynamic-tool" or (kind == "tool-invocation" and type(item.get("toolInvocation")) is dict)
    return (is_tool or (kind.startswith("tool-") and "toolCallId" in item)) and not item.get("providerExecuted")


def _inside(item: dict[str, Any]) -> Pointer:
    """Return the pointer to the members of the call in the part."""
    is_inside = item["type"] == "tool-invocation" and type(item.get("toolInvocation")) is dict
    return ("toolInvocation",) if is_inside else ()


def _members(item: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = item["toolInvocation"] if _inside(item) else item
    return found


def _steps(parts: Sequence[Any]) -> list[Run]:
    """A step ends with its results, before the mark of the next one. Without marks, and in version 4, it ends before other parts too."""
    kinds = {*map(kind_of, parts)}
    is_marked = "step-start" in kinds and "tool-invocation" not in kinds
    runs: list[tuple[Role, list[int]]] = [(AI, [])]
    answered: list[int] = []
    for index, item in enumerate(parts):
        if answered and not (kind_of(item) != "step-start" if is_marked else _is_tool(item) and _step(item) == _step(parts[answered[-1]])):
            runs += [(TOOL, [~place for place in answered]), (AI, [])]
            answered = []
        runs[-1][1].append(index)
        if _is_tool(item) and _members(item).get("state") in _ANSWERED:
            answered.append(index)
    if answered:
        runs.append((TOOL, [~place for place in answered]))
    elif len(runs) > 1 and all(kind_of(parts[index]) == "step-start" for index in runs[-1][1]):
        runs[-3][1].extend(runs.pop()[1])
    return [(role, tuple(places)) for role, places in runs]


def _step(item: Any) -> Any:
    """Version 4 numbers the steps."""
    return _members(item).get("step") if _is_tool(item) else None


def _part(item: Any, text: str, place: Pointer, role: Role) -> Located | None:
    """Locate a part; None for the mark of a step."""
    kind = kind_of(item)
    found: Located | None = None
    if kind == "step-start":
        return None
    if kind == "text" and type(item.get("text")) is str:
        found = Located(Text(item["text"]), place, (Leaf("text", (*place, "text")),))
    elif kind == "reasoning":
        found = _reasoning(item, place)
    elif kind == "file":
        url = item.get("url")
        if type(url) is str:
            is_picture = _is_picture(item)
            found = Located(Image(url), place, (Leaf("url", (*place, "url")),)) if is_picture else located_file(url, place)
    elif _is_tool(item) and role == AI:
        found = _call(item, text, place)
    return found or Located(Opaque(kind or "part", raw_at(text, place) or ""), place)


def _is_picture(item: dict[str, Any]) -> bool:
    return str(item.get("mediaType") or item.get("mimeType") or "").startswith("image/")


def _reasoning(item: dict[str, Any], place: Pointer) -> Located | None:
    """Version 4 has the text under `reasoning`, or in the one detail beside it."""
    details = item.get("details")
    if not item.get("reasoning") and type(details) is list and len(details) == 1 and string_of(details[0], "text"):
        at = (*place, "details", 0)
        part = Thinking(details[0]["text"], string_of(details[0], "signature"))
        return Located(part, place, (Leaf("content", (*at, "text")), Leaf("signature", (*at, "signature"))))
    if type(item.get("reasoning")) is str and "text" not in item:
        return Located(Thinking(item["reasoning"]), place, (Leaf("content", (*place, "reasoning")),))
    return vercel_parts.located_reasoning(item, place)


def _name(item: dict[str, Any]) -> str:
    members = _members(item)
    return string_of(members, "toolName") if "toolName" in members else item["type"].removeprefix("tool-")


def _call_leaves(item: dict[str, Any], at: Pointer, id_field: str) -> tuple[Leaf, Leaf]:
    in_type = not _inside(item) and item["type"] != "dynamic-tool"
    name = Leaf("name", (*at, "type"), _as_type) if in_type else Leaf("name", (*at, "toolName"))
    return Leaf(id_field, (*at, "toolCallId")), name


def _as_type(value: str, raw: str, speller: Speller) -> str:
    return speller.quote(f"tool-{value}")


def _call(item: dict[str, Any], text: str, place: Pointer) -> Located:
    at = (*place, *_inside(item))
    members = _members(item)
    key = "args" if "args" in members else "input"
    arguments = "" if members.get(key) is None else member_at(text, at, key)
    part = ToolCall(string_of(members, "toolCallId"), _name(item), arguments)
    return Located(part, place, (*_call_leaves(item, at, "id"), Leaf("arguments", (*at, key), as_json)))


def _result(item: dict[str, Any], text: str, place: Pointer) -> Located:
    at = (*place, *_inside(item))
    members = _members(item)
    is_error = members.get("state") in ("output-error", "output-denied")
    key = "errorText" if is_error else "result" if "result" in members else "output"
    if members.get("state") == "output-denied" and type(members.get("approval")) is dict:
        at_reason, members, key = (*at, "approval"), {**members, **members["approval"]}, "reason"
    else:
        at_reason = at
    value = members.get(key)
    content = value if type(value) is str else "" if value is None else member_at(text, at_reason, key)
    part = ToolResult(string_of(members, "toolCallId"), _name(item), content, is_error)
    return Located(part, place, (*_call_leaves(item, at, "call_id"), Leaf("content", (*at_reason, key), as_either)))


def _element(part: Part, speller: Speller) -> str | None:
    quoted = speller.quote
    if isinstance(part, Text):
        return speller.object({"type": '"text"', "text": quoted(part.text)})
    if isinstance(part, Thinking):
        return vercel_parts.new_reasoning(part, "providerMetadata", speller)
    if isinstance(part, ToolCall | ToolResult):
        return _tool_element(part, speller)
    if isinstance(part, Image | Binary):
        url = as_url(part)
        mime = part.mime if isinstance(part, Binary) else _mime_of(url)
        return speller.object({"type": '"file"', "mediaType": quoted(mime), "url": quoted(url)})
    is_own = part.kind.startswith(("data-", "source-", "tool-")) or part.kind == "custom"
    return part.text if is_own and is_object(part.text) else None


def _mime_of(url: str) -> str:
    return url[5:].partition(";")[0] if url.startswith("data:") else "image/*"


def _tool_element(part: ToolCall | ToolResult, speller: Speller) -> str:
    kind = {"type": speller.quote(f"tool-{part.name}")} if part.name else {"type": '"dynamic-tool"', "toolName": '""'}
    id = part.id if isinstance(part, ToolCall) else part.call_id
    members = {**kind, "toolCallId": speller.quote(id)}
    if isinstance(part, ToolCall):
        return speller.object({**members, "state": '"input-available"', "input": as_json(part.arguments, "", speller)})
    if part.is_error:
        return speller.object({**members, "state": '"output-error"', "input": "{}", "errorText": speller.quote(part.content)})
    is_value = part.content[:1] in ("{", "[") and is_json(part.content)
    output = part.content if is_value else speller.quote(part.content)
    return speller.object({**members, "state": '"output-available"', "input": "{}", "output": output})


class _ToolParts:
    """The two halves of a tool part."""

    def call_id(self, element: str) -> str | None:
        item = parse(element)
        return string_of(_members(item), "toolCallId") if _is_tool(item) else None

    def without_result(self, element: str) -> str:
        item = parse(element)
        if not _is_tool(item) or _members(item).get("state") not in _ANSWERED:
            return element
        at = _inside(item)
        for key in _RESULT_KEYS[1:]:
            element = without(element, (*at, key))
        return set_at(element, (*at, "state"), quote("call" if at else "input-available"))

    def without_call(self, element: str) -> str:
        return element

    def with_results(self, element: str, results: Sequence[str]) -> str:
        if element == results[0]:
            return element
        old, new = parse(element), parse(results[0])
        if not _is_tool(old):
            return element
        at, other = _inside(old), _inside(new)
        for key in _RESULT_KEYS:
            raw = raw_at(results[0], (*other, key))
            if raw is None:
                element = without(element, (*at, key))
            elif _members(old).get(key) != _members(new)[key]:
                element = set_at(element, (*at, key), raw)
        return element


def _with_copies(text: str) -> str:
    """Version 4: `toolInvocations` and `content` say what the parts say."""
    value = parse(text)
    invocations = value.get("toolInvocations")
    tools = {string_of(_members(item), "toolCallId"): place for place, item in enumerate(value["parts"]) if _is_tool(item)}
    for place, copy in enumerate(invocations if type(invocations) is list else ()):
        found = tools.get(string_of(copy, "toolCallId")) if type(copy) is dict else None
        part = None if found is None else _members(value["parts"][found])
        if found is not None and part != copy:
            text = replace_at(text, ("toolInvocations", place), raw_at(text, (*_AT, found, "toolInvocation")) or dump(part))
    words = "".join(item["text"] for item in value["parts"] if kind_of(item) == "text" and type(item.get("text")) is str)
    if value.get("content") and type(value["content"]) is str and value["content"] != words:
        text = replace_at(text, ("content",), quote(words, text.isascii()))
    return text


_PARTS = ("step-start", "reasoning", "source-url", "source-document", "dynamic-tool", "tool-invocation", "custom", "file")


class VercelUI(UIMessageFormat):
    """UIMessage of the Vercel AI SDK: what `useChat` keeps."""

    name = "vercel_ui"
    label = "Vercel AI SDK UIMessage"
    tested_with = "ai 4, 5, 7"

    def confidence(self, sample: Sample) -> float:
        return max((_rate(value) for value in sample.values if self.is_message(value)), default=0.0)


def _rate(value: dict[str, Any]) -> float:
    items = objects_of(value, "parts")
    kinds = [kind_of(item) for item in items]
    if any(kind in ("text", "reasoning") and "content" in item for kind, item in zip(kinds, items, strict=True)):
        return 0.0  # OpenTelemetry's parts
    if any(kind in _PARTS or kind.startswith(("tool-", "data-")) for kind in kinds):
        return 0.95
    return 0.9 if "id" in value and kinds and all(kind == "text" for kind in kinds) else 0.0


class Mastra(UIMessageFormat):
    """Messages that Mastra stores (format 2): UIMessages of the Vercel AI SDK 4 whose parts lie in the content."""

    name = "mastra"
    label = "Mastra messages"
    tested_with = "source of Mastra, messages of format 2"
    blocks_at = ("content", "parts")
    carried_fields = UIMessageFormat.carried_fields | {"resourceId"}

    def is_message(self, value: object) -> bool:
        return super().is_message(value) and value_at(value, ("content", "format")) == 2

    def confidence(self, sample: Sample) -> float:
        return 0.97 if any(map(self.is_message, sample.values)) else 0.0

    def elements(self, part: Part, host: Host, speller: Speller) -> list[str]:
        """Reasoning, calls and results are spelled as in version 4 of the SDK."""
        if isinstance(part, Thinking) and not part.redacted:
            return [_mastra_reasoning(part, speller)]
        return [_invocation(part, speller)] if isinstance(part, ToolCall | ToolResult) else super().elements(part, host, speller)

    def empty(self, speller: Speller) -> dict[str, str]:
        return {"content": speller.object({"format": "2", "parts": "[]"})}


def _mastra_reasoning(part: Thinking, speller: Speller) -> str:
    texts = {"text": part.content} | ({"signature": part.signature} if part.signature else {})
    detail = speller.object({"type": '"text"', **{key: speller.quote(text) for key, text in texts.items()}})
    return speller.object({"type": '"reasoning"', "reasoning": '""', "details": speller.list([detail])})


def _invocation(part: ToolCall | ToolResult, speller: Speller) -> str:
    if isinstance(part, ToolCall):
        state, id, ends = "call", part.id, {"args": as_json(part.arguments, "", speller)}
    else:
        state, key = ("output-error", "errorText") if part.is_error else ("result", "result")
        id, ends = part.call_id, {"args": "{}", key: speller.quote(part.content)}
    head = {"state": state, "toolCallId": id, "toolName": part.name}
    call = {**{key: speller.quote(text) for key, text in head.items()}, **ends}
    return speller.object({"type": '"tool-invocation"', "toolInvocation": speller.object(call)})
