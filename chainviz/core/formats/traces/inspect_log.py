"""Messages of Inspect's eval logs: chat messages whose calls name their function as a string and hold arguments as an object.

A log is a container: each sample (and epoch) is a chain. Long texts may be among the sample's attachments: the page
shows them where they are referred to; a changed one is written into the message itself.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
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
from chainviz.core.dialects.content import ResultElements, as_url, content_leaves, located_file, new_result_content, read_result_content
from chainviz.core.dialects.leaf import Host, Leaf, Located, as_json
from chainviz.core.dialects.losses import Room, losses
from chainviz.core.dialects.values import Speller, is_object, objects_of, string_of
from chainviz.core.documents.json.edit import member_at, raw_at, replace_at
from chainviz.core.documents.units import Pointer, Sample
from chainviz.core.formats.contract import Style
from chainviz.core.formats.leaf_format import LeafFormat, Run, near_value

ROLES: dict[str, Role] = {"system": SYSTEM, "user": HUMAN, "assistant": AI, "tool": TOOL}
WORDS = {role: word for word, role in ROLES.items()}
_SERVER_TOOL = "inspect_server_tool"
_OWN = frozenset(("audio", "video", "document", "data", _SERVER_TOOL))
_ROOM = Room(frozenset(WORDS), _OWN, free_arguments=False, calls_anywhere=False)
_CONTENT: Pointer = ("content",)
_CALLS: Pointer = ("tool_calls",)


class Inspect(LeafFormat):
    name = "inspect"
    label = "Inspect eval log"
    tested_with = "inspect-ai 0.3.41 to 0.3.285"
    blocks_at = _CONTENT
    template = '{"messages": [\n]}\n'
    names_results = True
    hints = ("role",)
    copies = (
        ("samples", "input"), ("samples", "output"), ("samples", "events"),
        ("events", "input"), ("events", "output"), ("events", "call"), ("events", "state"),
        ("message_pool",), ("events_data",),
    )  # fmt: skip
    carried_fields = frozenset(("parse_error",))
    known_kinds = frozenset(("inspect_server_tool",))

    def carried_in(self, value: object) -> frozenset[str]:
        """Return the fields that are known. An error repeats the text of the result, if it has one."""
        has_content = isinstance(value, dict) and bool(value.get("content"))
        return self.carried_fields | {"error"} if has_content else self.carried_fields

    def is_message(self, value: object) -> bool:
        return isinstance(value, dict) and "content" in value and str(value.get("role")) in ROLES

    def confidence(self, sample: Sample) -> float:
        """The members beside the list identify a sample of a log, whatever its messages are."""
        if sample.key != "messages" or not any(self.is_message(value) for value in sample.values):
            return 0.0
        if "epoch" in sample.beside and "target" in sample.beside:
            return 0.97
        return 0.96 if any(_is_own(value) for value in sample.values) else 0.0

    def runs(self, value: Any) -> Sequence[Run]:
        is_message = type(value) is dict and type(value.get("role")) is str
        return ((ROLES.get(value["role"], value["role"]), None),) if is_message else ()

    def locate(self, value: Any, text: str, run: Run) -> list[Located]:
        if run[0] == TOOL:
            return [_result(value, text)]
        calls = value.get("tool_calls") if run[0] == AI else None
        listed = enumerate(calls if type(calls) is list else ())
        found = [_call(item, text, (*_CALLS, index)) for index, item in listed if type(item) is dict]
        return [*_content(value, text, bool(found)), *found]

    def home(self, part: Part, host: Host) -> Pointer:
        return _CALLS if isinstance(part, ToolCall) else _CONTENT

    def elements(self, part: Part, host: Host, speller: Speller) -> list[str]:
        made = _element(part, speller)
        return [] if made is None else [made]

    def skeleton(self, message: Message, style: Style, speller: Speller) -> str:
        near = near_value(style)
        as_list = isinstance(near, dict) and isinstance(near.get("content"), list)
        role = speller.quote(WORDS.get(message.role, "user"))
        if message.role != TOOL:
            return speller.unit({"content": "[]" if as_list else '""', "role": role})
        result = next(part for part in message.parts if isinstance(part, ToolResult))
        members = {"content": new_result_content(result, _ELEMENTS, speller), "role": role}
        members |= {"tool_call_id": speller.quote(result.call_id), "function": speller.quote(result.name)}
        error = {"type": '"unknown"', "message": speller.quote(result.content)}
        return speller.unit({**members, **({"error": speller.object(error)} if result.is_error else {})})

    def with_role(self, text: str, role: Role, speller: Speller) -> str | None:
        return None if role == TOOL else replace_at(text, ("role",), speller.quote(WORDS.get(role, role)))

    def losses(self, message: Message) -> tuple[str, ...]:
        return losses(message, _ROOM)


def _is_own(value: Any) -> bool:
    if any(item.get("type") == "reasoning" and "redacted" in item for item in objects_of(value, "content")):
        return True
    calls = value.get("tool_calls") if isinstance(value, dict) else None
    return isinstance(calls, list) and any(isinstance(call, dict) and isinstance(call.get("function"), str) for call in calls)


def _content(value: dict[str, Any], text: str, has_calls: bool) -> list[Located]:
    content = value.get("content")
    if type(content) is list:
        return [_block(item, text, (*_CONTENT, index)) for index, item in enumerate(content)]
    if type(content) is not str or (not content and has_calls):
        return []
    return [Located(Text(content), _CONTENT, (Leaf("text", _CONTENT),))]


def _block(item: Any, text: str, place: Pointer) -> Located:
    kind = item.get("type") if type(item) is dict else None
    found = None
    if kind == "text" and type(item.get("text")) is str:
        found = Located(Text(item["text"]), place, (Leaf("text", (*place, "text")),))
    elif kind == "reasoning" and type(item.get("reasoning")) is str:
        found = _reasoning(item, place)
    elif kind == "image" and type(item.get("image")) is str:
        detail = string_of(item, "detail") if item.get("detail") != "auto" else ""
        leaves = (Leaf("url", (*place, "image")), Leaf("detail", (*place, "detail")))
        found = Located(Image(item["image"], detail), place, leaves)
    elif kind == "document" and type(item.get("document")) is str:
        found = located_file(item["document"], place)
    # Anthropic's blocks of that type are calls, not what the provider ran itself
    shown = _SERVER_TOOL if kind == "tool_use" else kind if type(kind) is str else "content"
    return found or Located(Opaque(shown, raw_at(text, place) or ""), place)


def _reasoning(item: dict[str, Any], place: Pointer) -> Located:
    """Redacted reasoning is opaque: its text is the provider's."""
    if item.get("redacted") is True:
        part = Thinking(string_of(item, "summary"), item["reasoning"], True)
        return Located(part, place, (Leaf("content", (*place, "summary")), Leaf("signature", (*place, "reasoning"))))
    part = Thinking(item["reasoning"], string_of(item, "signature"))
    return Located(part, place, (Leaf("content", (*place, "reasoning")), Leaf("signature", (*place, "signature"))))


def _call(item: dict[str, Any], text: str, place: Pointer) -> Located:
    arguments = "" if item.get("arguments") is None else member_at(text, place, "arguments")
    part = ToolCall(string_of(item, "id"), string_of(item, "function"), arguments)
    leaves = (Leaf("id", (*place, "id")), Leaf("name", (*place, "function")), Leaf("arguments", (*place, "arguments"), as_json))
    return Located(part, place, leaves)


def _result(value: dict[str, Any], text: str) -> Located:
    content, media = read_result_content(value.get("content"), text, _CONTENT, _element_value)
    error = value["error"] if type(value.get("error")) is dict else {}
    reason = string_of(error, "message")
    said = content_leaves(_CONTENT, _ELEMENTS) if content or media or not reason else ()
    repeated = (Leaf("content", ("error", "message")),) if reason and reason == (content or reason) else ()
    part = ToolResult(string_of(value, "tool_call_id"), string_of(value, "function"), content if said else reason, bool(error), media)
    leaves = (Leaf("call_id", ("tool_call_id",)), Leaf("name", ("function",)), Leaf("is_error", ("error",), _error))
    return Located(part, (), (*leaves, *said, *repeated))


def _error(value: Any, raw: str, speller: Speller) -> str | None:
    if not value:
        return "null"
    return raw if raw not in ("", "null") else speller.object({"type": '"unknown"', "message": '""'})


def _element_value(item: dict[str, Any]) -> str | Image | Binary | None:
    if item.get("type") == "text" and type(item.get("text")) is str:
        return str(item["text"])
    return Image(item["image"]) if item.get("type") == "image" and type(item.get("image")) is str else None


def _element(part: Part, speller: Speller) -> str | None:
    quote = speller.quote
    if isinstance(part, Text):
        return speller.object({"type": '"text"', "text": quote(part.text)})
    if isinstance(part, Thinking):
        text, summary = (part.signature, {"summary": quote(part.content)}) if part.redacted else (part.content, {})
        signed = {"signature": quote(part.signature)} if part.signature and not part.redacted else {}
        redacted = "true" if part.redacted else "false"
        return speller.object({"type": '"reasoning"', "reasoning": quote(text), **summary, **signed, "redacted": redacted})
    if isinstance(part, ToolCall):
        members = {"id": quote(part.id), "function": quote(part.name), "arguments": as_json(part.arguments, "", speller)}
        return speller.object(members)
    if isinstance(part, Image | Binary):
        if isinstance(part, Binary) and not part.mime.startswith("image/"):
            return speller.object({"type": '"document"', "document": quote(as_url(part)), "mime_type": quote(part.mime)})
        detail = part.detail if isinstance(part, Image) and part.detail else "auto"
        return speller.object({"type": '"image"', "image": quote(as_url(part)), "detail": quote(detail)})
    return part.text if isinstance(part, Opaque) and part.kind in _OWN and is_object(part.text) else None


_ELEMENTS = ResultElements(_element_value, lambda text, speller: _element(Text(text), speller) or '""', _element)


# Long texts that Inspect keeps once, among the attachments of a sample: `attachment://<hash>` stands where they
# belong.


_REFERENCE = re.compile(r"attachment://([0-9a-f]{32})")
_VALUE = re.compile(r'"\s*:\s*("(?:[^"\\]++|\\.)*+")', re.DOTALL)


def references(text: str) -> list[str]:
    """Return the hashes that the text refers to, each once."""
    return list(dict.fromkeys(_REFERENCE.findall(text))) if "attachment://" in text else []


def is_reference(text: str) -> bool:
    """Return True if the text consists only of a reference."""
    return _REFERENCE.fullmatch(text.strip()) is not None


def attached(texts: Iterable[str], hash: str) -> str | None:
    """Return the text of that hash around the messages; None if there is none."""
    for text in texts:
        at = text.find(f'"{hash}"')
        found = _VALUE.match(text, at + len(hash) + 1) if at >= 0 else None
        if found:
            try:
                return str(json.loads(found[1], strict=False))
            except ValueError:
                return None
    return None


def filled_in(messages: Iterable[Message], texts: Callable[[], Sequence[str]]) -> Iterator[Message]:
    """Yield the messages with the attached texts inserted, for a document that has no attachments. `texts` returns the
    text around the messages; it is called only if a message has a reference."""

    @lru_cache(maxsize=1)
    def around() -> Sequence[str]:
        return texts()

    def in_place(found: re.Match[str]) -> str:
        text = attached(around(), found[1])
        return found[0] if text is None else text

    for message in messages:
        parts = tuple(_filled(part, in_place) for part in message.parts)
        yield message if parts == message.parts else replace(message, parts=parts)


def _filled(part: Part, in_place: Callable[[re.Match[str]], str]) -> Part:
    match part:
        case Text():
            return replace(part, text=_REFERENCE.sub(in_place, part.text))
        case Thinking():
            return replace(part, content=_REFERENCE.sub(in_place, part.content))
        case Image():
            return replace(part, url=_REFERENCE.sub(in_place, part.url))
        case ToolCall():
            # arguments are JSON, so that a text goes into them with its escapes
            return replace(part, arguments=_REFERENCE.sub(lambda found: json.dumps(in_place(found))[1:-1], part.arguments))
        case ToolResult():
            media = tuple(replace(each, url=_REFERENCE.sub(in_place, each.url)) if isinstance(each, Image) else each for each in part.media)
            return replace(part, content=_REFERENCE.sub(in_place, part.content), media=media)
    return part
