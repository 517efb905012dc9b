"""Chats of applications: LibreChat, LM Studio, SillyTavern and Open WebUI.

Open WebUI keeps the messages of a chat as the nodes of a tree, and most repeat the current branch in a list. The chain is the path from
the root to `currentId`; the nodes of other branches stay as they are. What a model thought, and the calls of tools with their results,
are `<details>` elements in its text.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from html import unescape
from itertools import groupby
from typing import Any

from chainviz.core.chain.messages import Fragment, Image, Message, Opaque, Part, Role, Text, Thinking, ToolCall, ToolResult
from chainviz.core.dialects.values import objects_of, string_of
from chainviz.core.documents.json.edit import dump, parse
from chainviz.core.documents.units import Pointer, Tree, Unit
from chainviz.core.formats.read_only import ReadOnlyUnits, Turn, as_text, attachment, in_steps, inner, unknown, with_results


class LibreChat(ReadOnlyUnits):
    """Conversations that LibreChat exports: a list of messages, or a tree in which each message holds those that answer it.

    Of a tree the chain follows the last answer of each message; of a list with several answers to one message, the way to its
    last message. A message of the model may hold several steps: texts, thoughts, and calls with what they returned.
    """

    name = "librechat"
    label = "LibreChat export"
    tested_with = "source of LibreChat 0.7, 0.8"
    hints = ("isCreatedByUser",)

    def is_message(self, value: object) -> bool:
        return isinstance(value, dict) and isinstance(value.get("isCreatedByUser"), bool) and "messageId" in value

    def read(self, units: Iterable[Unit]) -> Iterator[Message | Unit]:
        units = list(units)
        others = _other_branches([unit.value for unit in units if self.is_message(unit.value)])
        for unit in units:
            if self.is_message(unit.value) and string_of(unit.value, "messageId") in others:
                yield unit
            else:
                yield from super().read((unit,))

    def is_carried(self, value: object) -> bool:
        """Return True for a message of another branch."""
        return self.is_message(value)

    def messages_in(self, value: Any) -> Sequence[Turn]:
        found: list[Turn] = []
        while value:
            found += _messages_of(value)
            children = objects_of(value, "children")
            value = children[-1] if children and self.is_message(children[-1]) else None
        return found


def _other_branches(messages: Sequence[dict[str, Any]]) -> set[str]:
    """Return the ids of the messages that do not lead to the last one. Empty if every message of the list has one answer."""
    parents = {string_of(each, "messageId"): string_of(each, "parentMessageId") for each in messages}
    named = [*filter(None, parents.values())]
    if len(set(named)) == len(named):
        return set()
    others, at = {*parents} - {""}, string_of(messages[-1], "messageId")
    while at in others:
        others.remove(at)
        at = parents[at]
    return others


def _messages_of(message: dict[str, Any]) -> Sequence[Turn]:
    role = "user" if message["isCreatedByUser"] else "assistant"
    blocks = objects_of(message, "content")
    return in_steps(role, map(_block, blocks)) if blocks else [(role, [*_text(message)])]


def _text(message: dict[str, Any]) -> Iterator[Part]:
    if string_of(message, "text"):
        yield Text(message["text"])


def _block(item: dict[str, Any]) -> tuple[Part, ToolResult | None]:
    kind = string_of(item, "type")
    if kind in ("text", "error"):
        return Text(as_text(inner(item, kind).get("value") or item.get(kind))), None
    if kind == "think":
        return Thinking(as_text(item.get("think"))), None
    call = inner(item, "tool_call")
    if kind != "tool_call" or not string_of(call, "name"):
        return unknown(item), None
    id, name, output = string_of(call, "id"), call["name"], call.get("output")
    return ToolCall(id, name, as_text(call.get("args"))), None if output is None else ToolResult(id, name, as_text(output))


class LMStudio(ReadOnlyUnits):
    """Conversations of LM Studio (`~/.lmstudio/conversations/….conversation.json`): a message keeps all its versions. The
    selected version counts; the others stay as they are. An answer is a list of steps, of which content blocks hold texts,
    thoughts, calls and results; the others say what the application showed meanwhile.
    """

    name = "lm_studio"
    label = "LM Studio conversation"
    tested_with = "descriptions of conversations, source of importers"
    slot_key = "systemPrompt"
    hints = ("versions",)
    carried_fields = frozenset(("debugInfo", "prefix", "suffix", "style", "genInfo", "toolStatus", "tokensCount", "currentlySelected"))
    known_kinds = frozenset(("attachment",))

    def is_message(self, value: object) -> bool:
        return isinstance(value, dict) and "currentlySelected" in value and any(map(_role, objects_of(value, "versions")))

    def spoken(self, value: Any) -> Any:
        """Return the selected version of the message."""
        place = value.get("currentlySelected")
        chosen = [each for number, each in enumerate(value.get("versions", ())) if number == place]
        return {**value, "versions": chosen}

    def messages_in(self, value: Any) -> Sequence[Turn]:
        version = _selected(value)
        role = _role(version)
        if not role:
            return ()
        steps = objects_of(version, "steps") if "steps" in version else [version]
        parts = _with_names([part for step in steps for part in _lm_studio_parts(step)])
        groups = groupby(parts, key=lambda part: isinstance(part, ToolResult))
        return [("tool" if is_result else role, [*parts]) for is_result, parts in groups] or [(role, [])]


def _role(version: Any) -> str:
    return string_of(version, "role")


def _selected(value: dict[str, Any]) -> dict[str, Any]:
    versions, at = value["versions"], value["currentlySelected"]
    chosen = versions[at] if type(at) is int and 0 <= at < len(versions) else None
    return chosen if isinstance(chosen, dict) else {}


def _lm_studio_parts(step: dict[str, Any]) -> Iterator[Part]:
    is_thought = string_of(inner(step, "style"), "type") == "thinking"
    for item in objects_of(step, "content"):
        kind = string_of(item, "type")
        if kind == "text":
            text = string_of(item, "text")
            yield Thinking(text) if is_thought else Text(text)
        elif kind == "toolCallRequest":
            arguments = item.get("parameters", item.get("arguments"))
            yield ToolCall(_call_id(item), string_of(item, "name"), as_text(arguments))
        elif kind == "toolCallResult":
            yield ToolResult(_call_id(item), string_of(item, "name"), as_text(item.get("content")))
        else:
            yield attachment(item) if kind == "file" else unknown(item)


def _with_names(parts: Sequence[Part]) -> Iterator[Part]:
    """Return results with the name of the tool, which only their calls have."""
    names = {part.id: part.name for part in parts if isinstance(part, ToolCall)}
    for part in parts:
        yield replace(part, name=part.name or names.get(part.call_id, "")) if isinstance(part, ToolResult) else part


def _call_id(item: dict[str, Any]) -> str:
    """Return the model's id of the call; older files number the calls."""
    number = item.get("callId")
    return string_of(item, "toolCallRequestId") or (str(number) if type(number) is int else "")


_HIDDEN = "hidden"
"""The label of a message that the model does not see."""
_FILES = ("image", "file", "files", "media", "video")


class SillyTavern(ReadOnlyUnits):
    """Chats of SillyTavern: lines with messages behind a line that names the user and the character. Of the swipes of an answer
    the one that is shown counts. Messages of the system, which hold calls of tools with their results or tell the user
    something, and messages that the user hid are marked alike: the model sees only the calls of them.
    """

    name = "silly_tavern"
    label = "SillyTavern chat"
    tested_with = "one chat of 2023, source of SillyTavern"
    hints = ("mes",)
    carried_fields = frozenset(("swipes", "swipe_info"))
    known_kinds = frozenset(("attachment",))

    def is_message(self, value: object) -> bool:
        return isinstance(value, dict) and isinstance(value.get("mes"), str) and isinstance(value.get("is_user"), bool)

    def is_carried(self, value: object) -> bool:
        return isinstance(value, dict) and "mes" not in value and ("chat_metadata" in value or "character_name" in value)

    def carried_in(self, value: object) -> frozenset[str]:
        """Return the fields that are known. A message about calls only reports that there were some."""
        return self.carried_fields | {"mes"} if objects_of(inner(value, "extra"), "tool_invocations") else self.carried_fields

    def messages_in(self, value: Any) -> Sequence[Turn]:
        invocations = objects_of(inner(value, "extra"), "tool_invocations")
        if invocations:
            results = [ToolResult(string_of(each, "id"), string_of(each, "name"), as_text(each.get("result"))) for each in invocations]
            return with_results("assistant", [*map(_call, invocations)], results)
        return [("user" if value["is_user"] else "assistant", [*_tavern_parts(value)])]

    def read(self, units: Iterable[Unit]) -> Iterator[Message | Unit]:
        for each in super().read(units):
            yield _labelled(each) if isinstance(each, Message) else each

    def message(self, role: Role, source: tuple[Fragment, ...]) -> Message:
        return _labelled(super().message(role, source))

    def is_sent(self, message: Message) -> bool:
        return message.label != _HIDDEN


def _labelled(message: Message) -> Message:
    value = parse(message.source[0].text)
    is_hidden = value.get("is_system") is True and not message.source[0].blocks
    return replace(message, label=_HIDDEN) if is_hidden else message


def _call(invocation: dict[str, Any]) -> ToolCall:
    return ToolCall(string_of(invocation, "id"), string_of(invocation, "name"), as_text(invocation.get("parameters")))


def _tavern_parts(value: dict[str, Any]) -> Iterator[Part]:
    extra = inner(value, "extra")
    if string_of(extra, "reasoning"):
        yield Thinking(extra["reasoning"])
    if value["mes"]:
        yield Text(value["mes"])
    for key in _FILES:
        if extra.get(key):
            yield attachment({key: extra[key]})


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
        yield from _open_webui_text(content[begin : element.start()])
        begin = element.end()
        if attributes["type"] == "reasoning":
            yield Thinking(_QUOTE.sub("", element[2].strip())), None
        else:
            yield _open_webui_call(attributes, element[2])
    yield from _open_webui_text(content[begin:])


def _open_webui_text(text: str) -> Iterator[tuple[Part, None]]:
    if text.strip():
        yield Text(text.strip("\n")), None


def _open_webui_call(attributes: dict[str, str], body: str) -> tuple[ToolCall, ToolResult | None]:
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
