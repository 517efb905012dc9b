"""Account exports of chat services: ChatGPT, claude.ai, DeepSeek and Google AI Studio."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any

from chainviz.core.chain.messages import AI, HUMAN, SLOT, TOOL, Fragment, Message, Opaque, Part, Role, Text, Thinking, ToolCall, ToolResult
from chainviz.core.dialects.content import carried_bytes, read_result_content
from chainviz.core.dialects.values import objects_of, string_of
from chainviz.core.documents.json.edit import dump, member_at, parse, raw_at
from chainviz.core.documents.source import Source
from chainviz.core.documents.units import FoundList, Pointer, Sample, Tree, Unit
from chainviz.core.formats.blocks import Content
from chainviz.core.formats.read_only import ROLES, ReadOnly, ReadOnlyUnits, Turn, attachment, make_message, unknown
from chainviz.core.formats.vendors.google.read import read_parts

_EVERYBODY = "all"


def path(conversation: dict[str, Any]) -> Sequence[str]:
    """Return the ids of the nodes from the root to the current one, or to the last one if the tree has no current node."""
    nodes = conversation.get("mapping")
    if not isinstance(nodes, dict) or not nodes:
        return ()
    at = conversation.get("current_node")
    at = at if isinstance(at, str) and at in nodes else next(reversed(nodes))
    ids: dict[str, None] = {}
    while isinstance(at, str) and at in nodes and at not in ids and isinstance(nodes[at], dict):
        ids[at] = None
        at = nodes[at].get("parent")
    return (*reversed(ids),)


class ChatGPT(ReadOnly):
    """The account export of ChatGPT (`conversations.json`): each conversation keeps its messages as the nodes of a tree.

    The chain is the path from the root to `current_node`; the nodes of other branches stay as they are. What the assistant
    sends to a recipient other than `all` is a call, without an id: the next message of a tool answers it.
    """

    name = "chatgpt"
    label = "ChatGPT account export"
    tested_with = "descriptions of exports, 2023 to 2025"
    lines = False
    hints = ("author",)
    tree = Tree(("mapping",), "message", path)
    carried_fields = frozenset(("metadata", "weight", "language", "domain", "url", "title"))
    known_kinds = frozenset(("image_asset_pointer", "audio_asset_pointer", "video_container_asset_pointer", "audio_transcription"))

    def find(self, source: Source) -> tuple[FoundList, ...]:
        return ()

    def is_message(self, value: object) -> bool:
        if not isinstance(value, dict) or not isinstance(value.get("author"), dict) or "content" not in value:
            return False
        content = value["content"]
        return isinstance(value["author"].get("role"), str) and isinstance(content, dict) and "content_type" in content

    def confidence(self, sample: Sample) -> float:
        return 0.97 if any(self.is_message(value) for value in sample.values) else 0.0

    def read(self, units: Iterable[Unit]) -> Iterator[Message | Unit]:
        for unit in units:
            yield self.message("", (unit.fragment(),)) if self.is_message(unit.value) else unit

    def message(self, role: Role, source: tuple[Fragment, ...]) -> Message:
        value = parse(source[0].text)
        word, content = value["author"]["role"], value["content"]
        role = ROLES.get(word.lower(), word)
        parts = list(_chatgpt_parts(content))
        if role == TOOL:
            text = "\n".join(part.text for part in parts if isinstance(part, Text | Opaque))
            parts = [ToolResult("", str(value["author"].get("name") or ""), text)]
        recipient = value.get("recipient")
        if role == AI and isinstance(recipient, str) and recipient != _EVERYBODY:
            text = "\n".join(part.text for part in parts if isinstance(part, Text | Opaque))
            parts = [ToolCall("", recipient, text)]
        return make_message(word, parts, source)


def _chatgpt_parts(content: dict[str, Any]) -> Iterator[Part]:
    kind = str(content["content_type"])
    if isinstance(content.get("parts"), list):
        for item in content["parts"]:
            if item != "":
                yield Text(item) if isinstance(item, str) else _chatgpt_other(item)
    elif isinstance(content.get("thoughts"), list):
        for item in content["thoughts"]:
            yield Thinking(str(item.get("content") or item.get("summary") or "")) if isinstance(item, dict) else _chatgpt_other(item)
    elif isinstance(content.get("text"), str):
        yield Text(content["text"])
    elif kind == "reasoning_recap" and isinstance(content.get("content"), str):
        yield Thinking(content["content"])
    else:
        yield _chatgpt_other(content)


def _chatgpt_other(item: Any) -> Part:
    """Read a part to which the export only refers: an image in the account, a recording, browsed pages."""
    if isinstance(item, dict) and isinstance(item.get("text"), str):
        return Text(item["text"])
    kind = item.get("content_type") if isinstance(item, dict) else None
    return Opaque(kind if isinstance(kind, str) else "content", dump(item))


_SENDERS = ("human", "user", "assistant")
_BESIDE = {"attachments": "attachment", "files": "file"}


class ClaudeAI(ReadOnly):
    """The account export of claude.ai: conversations with `chat_messages`, whose content is Anthropic's blocks with a sender.
    One message of the assistant holds its calls, their results and what it says afterwards: it is read as several messages.
    `text` repeats the text of the content; of exports without content it is all there is.
    """

    name = "claude_ai"
    label = "claude.ai account export"
    tested_with = "descriptions of exports, 2023 to 2025"
    lines = False
    blocks_at = ("content",)
    hints = ("sender",)
    known_kinds = frozenset(("attachment", "file"))

    def find(self, source: Source) -> tuple[FoundList, ...]:
        return ()

    def is_message(self, value: object) -> bool:
        if not isinstance(value, dict) or value.get("sender") not in _SENDERS:
            return False
        return isinstance(value.get("content"), list) or isinstance(value.get("text"), str)

    def confidence(self, sample: Sample) -> float:
        seen = any(self.is_message(value) for value in sample.values)
        return (0.97 if sample.key == "chat_messages" else 0.6) if seen else 0.0

    def read(self, units: Iterable[Unit]) -> Iterator[Message | Unit]:
        for unit in units:
            if not self.is_message(unit.value):
                yield unit
                continue
            runs = _runs(unit.value)
            for blocks in runs:
                yield self.message("", (unit.fragment(blocks if len(runs) > 1 else None),))

    def message(self, role: Role, source: tuple[Fragment, ...]) -> Message:
        text = source[0].text
        value = parse(text)
        content = value.get("content")
        if not isinstance(content, list):
            return make_message(value["sender"], [Text(value["text"])] if value.get("text") else [], source)
        places = range(len(content)) if source[0].blocks is None else source[0].blocks
        parts = [_claude_part(content[at], text, ("content", at)) for at in places]
        if value["sender"] != "assistant":
            return make_message(value["sender"], [*parts, *_beside(value, text)], source)
        is_result = bool(parts) and all(isinstance(part, ToolResult) for part in parts)
        return make_message("tool" if is_result else "assistant", parts, source)


def _runs(value: dict[str, Any]) -> Sequence[tuple[int, ...]]:
    """Return the blocks of each message in the unit: results, and the blocks between them."""
    content = value.get("content")
    if value["sender"] != "assistant" or not isinstance(content, list):
        return [()]
    return [tuple(places) for _, places in groupby(range(len(content)), lambda at: _kind(content[at]) == "tool_result")] or [()]


def _kind(item: Any) -> str:
    kind = item.get("type") if isinstance(item, dict) else None
    return kind if isinstance(kind, str) else "content"


def _beside(value: dict[str, Any], text: str) -> Iterator[Part]:
    """Yield the files that a person attached, some with their text."""
    for key, kind in _BESIDE.items():
        items = value.get(key)
        for place in range(len(items) if isinstance(items, list) else 0):
            yield Opaque(kind, raw_at(text, (key, place)) or "")


def _claude_part(item: Any, text: str, place: Pointer) -> Part:
    kind = _kind(item)
    if kind == "text" and isinstance(item.get("text"), str):
        return Text(item["text"])
    if kind == "thinking" and isinstance(item.get("thinking"), str):
        return Thinking(item["thinking"])
    if kind == "tool_use":
        arguments = "" if item.get("input") is None else member_at(text, place, "input")
        return ToolCall(string_of(item, "id"), string_of(item, "name"), arguments)
    if kind == "tool_result":
        content, media = read_result_content(item.get("content"), text, (*place, "content"), _element_text)
        return ToolResult(string_of(item, "tool_use_id"), string_of(item, "name"), content, item.get("is_error") is True, media)
    return Opaque(kind, raw_at(text, place) or "")


def _element_text(item: dict[str, Any]) -> str | None:
    return item["text"] if item.get("type") == "text" and isinstance(item.get("text"), str) else None


_KINDS = ("REQUEST", "RESPONSE", "THINK")


class DeepSeekExport(ReadOnlyUnits):
    """The account export of DeepSeek: conversations as trees of messages, whose fragments say what was asked, thought and
    answered. The first fragment of a message names its role. The chain is the path to the newest node.
    """

    name = "deepseek_export"
    label = "DeepSeek account export"
    tested_with = "readers of exports, 2025 and 2026"
    hints = ("fragments",)

    def is_message(self, value: object) -> bool:
        return any(string_of(item, "type") in _KINDS for item in objects_of(value, "fragments"))

    def messages_in(self, value: Any) -> Sequence[Turn]:
        fragments = objects_of(value, "fragments")
        is_asked = any(string_of(item, "type") == "REQUEST" for item in fragments)
        return [(string_of(value, "role").lower() or ("user" if is_asked else "assistant"), [_deepseek_part(item) for item in fragments])]


def _deepseek_part(item: dict[str, Any]) -> Part:
    kind, content = string_of(item, "type"), string_of(item, "content")
    if kind == "THINK":
        return Thinking(content)
    return Text(content) if kind in _KINDS else unknown(item)


_ROLES = ("user", "model")
_FILES = ("inlineFile", "inlineImage", "inlineAudio", "inlineData")
_ELSEWHERE = ("driveDocument", "driveImage", "driveVideo", "driveAudio", "youtubeVideo")
_OTHERS = ("executableCode", "codeExecutionResult", "functionCall", "functionResponse")


class AIStudio(ReadOnlyUnits):
    """Prompts of Google AI Studio, as Google Drive keeps them: chunks in `chunkedPrompt`, each a text, a thought or a file.
    Chunks of one role that follow one another are one turn. Files on Google Drive are only referred to. `pendingInputs` is
    what was typed and not sent; it is no part of the chain.
    """

    name = "ai_studio"
    label = "Google AI Studio prompt"
    tested_with = "one prompt, excerpts of others"
    slot_key = "systemInstruction"
    hints = ("role",)
    certainty = 1.0
    copies = (("pendingInputs",),)
    carried_fields = frozenset(("errorMessage",))
    known_kinds = frozenset(("attachment", "executableCode", "codeExecutionResult"))

    def slots_of(self, inside: Pointer) -> Sequence[Pointer]:
        return ((*inside[:-2], self.slot_key),) if len(inside) > 1 else ()

    def instructions(self, value: Any) -> Sequence[Part]:
        """Read instructions from `{"text": …}`, or from a content as in the API."""
        texts = [string_of(item, "text") for item in (value, *objects_of(value, "parts"))]
        return [Text(text) for text in texts if text]

    def is_message(self, value: object) -> bool:
        contents = ("text", "parts", *_FILES, *_ELSEWHERE, *_OTHERS)
        return isinstance(value, dict) and value.get("role") in _ROLES and any(key in value for key in contents)

    def confidence(self, sample: Sample) -> float:
        return super().confidence(sample) if sample.key == "chunks" else 0.0

    def read(self, units: Iterable[Unit]) -> Iterator[Message | Unit]:
        turn: list[Unit] = []
        for unit in units:
            is_chunk = unit.ordinal != SLOT and self.is_message(unit.value)
            if turn and not (is_chunk and turn[0].value["role"] == unit.value["role"]):
                yield self._turn(turn)
                turn = []
            if is_chunk:
                turn.append(unit)
            else:
                yield from super().read([unit])
        if turn:
            yield self._turn(turn)

    def _turn(self, units: Sequence[Unit]) -> Message:
        return self.message("", tuple(unit.fragment() for unit in units))

    def message(self, role: Role, source: tuple[Fragment, ...]) -> Message:
        if source[0].ordinal == SLOT:
            return super().message(role, source)
        chunks = [parse(fragment.text) for fragment in source]
        word = "user" if chunks[0]["role"] == "user" else "assistant"
        message = make_message(word, [part for chunk in chunks for part in _ai_studio_parts(chunk)], source)
        return replace(message, note=string_of(chunks[-1], "errorMessage") or _reason(chunks[-1]))


def _reason(chunk: dict[str, Any]) -> str:
    """Return the reason why the answer ended, if it is not the normal one."""
    reason = string_of(chunk, "finishReason")
    return reason if reason != "STOP" else ""


def _ai_studio_parts(chunk: dict[str, Any]) -> Iterator[Part]:
    """Yield the parts. `parts` repeats the text, unless it contains something else."""
    parts = objects_of(chunk, "parts")
    if parts and (not string_of(chunk, "text") or any("text" not in item for item in parts)):
        yield from read_parts(Content(chunk["parts"], dump(chunk["parts"])), HUMAN)
        return
    for key, value in chunk.items():
        if key == "text" and string_of(chunk, key):
            yield Thinking(value) if chunk.get("isThought") is True else Text(value)
        elif key in _FILES:
            yield carried_bytes(string_of(value, "mimeType"), string_of(value, "data")) or _ai_studio_other(key, value)
        elif key in _ELSEWHERE:
            yield attachment({key: value})
        elif key in _OTHERS:
            yield _ai_studio_other(key, value)


def _ai_studio_other(key: str, value: Any) -> Part:
    return Opaque(key, dump({key: value}))
