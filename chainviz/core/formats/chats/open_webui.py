"""Chats that Open WebUI exports: each keeps its messages as the nodes of a tree, and most repeat the current branch in a list.

The chain is the path from the root to `currentId`; the nodes of other branches stay as they are. What a model thought, and the
calls of tools with their results, are `<details>` elements in its text.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from html import unescape
from typing import Any

from chainviz.core.chain.messages import Fragment, Image, Message, Opaque, Part, Role, Text, Thinking, ToolCall, ToolResult
from chainviz.core.dialects.values import objects_of, string_of
from chainviz.core.documents.json.edit import dump, parse
from chainviz.core.documents.units import Pointer, Tree, Unit
from chainviz.core.formats.read_only import ReadOnlyUnits, Turn, as_text, attachment, in_steps, inner

_END = "</details>"
_ELEMENT = re.compile(rf'<details((?:\s+[\w-]+="[^"]*")+)\s*>\s*(?:<summary>[^<]*</summary>)?(.*?){_END}\s*', re.DOTALL)
_ATTRIBUTE = re.compile(r'([\w-]+)="([^"]*)"')
_QUOTE = re.compile(r"^> ?", re.MULTILINE)


def path(chat: dict[str, Any]) -> Sequence[str]:
    """Return the ids of the messages from the root to the current one, or to the last one if the tree has no current
    message."""
    history = inner(chat, "history")
    nodes = inner(history, "messages")
    at: Any = string_of(history, "currentId")
    at = at if at in nodes else next(reversed(nodes), None)
    ids: dict[str, None] = {}
    while isinstance(at, str) and at in nodes and at not in ids:
        ids[at] = None
        at = string_of(nodes[at], "parentId")
    return (*reversed(ids),)


class OpenWebUI(ReadOnlyUnits):
    name = "open_webui"
    label = "Open WebUI export"
    tested_with = "descriptions of exports, source of Open WebUI"
    slot_key = "system"
    hints = ("parentId", "childrenIds")
    tree = Tree(("history", "messages"), "", path, "parentId", copy="messages")
    carried_fields = frozenset(("error", "statusHistory", "followUps"))
    known_kinds = frozenset(("sources", "attachment"))

    def slots_of(self, inside: Pointer) -> Sequence[Pointer]:
        """Return the instructions of the chat, in its `params`."""
        at = inside[:-3] if inside[-3:-1] == ("history", "messages") else inside[:-1]
        return ((*at, "params", self.slot_key),) if inside else ()

    def is_message(self, value: object) -> bool:
        if not isinstance(value, dict) or not string_of(value, "role") or "content" not in value:
            return False
        return "parentId" in value or isinstance(value.get("childrenIds"), list)

    def read(self, units: Iterable[Unit]) -> Iterator[Message | Unit]:
        for unit in units:
            for each in super().read([unit]):
                yield _noted(each) if isinstance(each, Message) else each

    def message(self, role: Role, source: tuple[Fragment, ...]) -> Message:
        return _noted(super().message(role, source))

    def messages_in(self, value: Any) -> Sequence[Turn]:
        role, content = value["role"], value["content"]
        is_answer = role == "assistant" and isinstance(content, str)
        pairs = [*_pieces(content)] if is_answer else [(Text(as_text(content)), None)] if content else []
        beside: list[Part] = [*map(_file, objects_of(value, "files")), *_sources(value)]
        return in_steps(role, [*pairs, *((part, None) for part in beside)])


def _noted(message: Message) -> Message:
    """Return the message with the error that ended the answer."""
    return replace(message, note=as_text(inner(parse(message.source[0].text), "error").get("content")))


def _pieces(content: str) -> Iterator[tuple[Part, ToolResult | None]]:
    """Yield the text between the elements, and their content; other elements are text."""
    begin = 0
    # behind the last end nothing is searched: each beginning would be followed to the end of the text
    for element in _ELEMENT.finditer(content, 0, content.rfind(_END) + len(_END)):
        attributes = {name: unescape(value) for name, value in _ATTRIBUTE.findall(element[1])}
        if attributes.get("type") not in ("reasoning", "tool_calls"):
            continue
        yield from _text(content[begin : element.start()])
        begin = element.end()
        yield (Thinking(_QUOTE.sub("", element[2].strip())), None) if attributes["type"] == "reasoning" else _call(attributes, element[2])
    yield from _text(content[begin:])


def _text(text: str) -> Iterator[tuple[Part, None]]:
    if text.strip():
        yield Text(text.strip("\n")), None


def _call(attributes: dict[str, str], body: str) -> tuple[ToolCall, ToolResult | None]:
    """Return a call and its result, which is an attribute or, in later versions, the text of the element."""
    id, name = attributes.get("id", ""), attributes.get("name", "")
    call = ToolCall(id, name, _decoded(attributes.get("arguments", "")))
    result = attributes.get("result") or unescape(body.strip())
    is_done = attributes.get("done") != "false"
    return call, ToolResult(id, name, _decoded(result)) if is_done else None


def _decoded(text: str) -> str:
    """Return a JSON string as its text; other JSON unchanged."""
    try:
        value = json.loads(text, strict=False)
    except (ValueError, RecursionError):
        return text
    return value if isinstance(value, str) else text


def _file(item: dict[str, Any]) -> Part:
    """Return an image in the export or on the web; other files are only referred to."""
    url = string_of(item, "url")
    is_image = string_of(item, "type") == "image" and url.startswith(("data:image/", "http:", "https:"))
    return Image(url) if is_image else attachment(item)


def _sources(value: dict[str, Any]) -> Iterator[Part]:
    """Yield the retrieved sources that the model received."""
    if objects_of(value, "sources"):
        yield Opaque("sources", dump(value["sources"]))
