"""Data sets of chats: ShareGPT and Hermes, and the messages of Hugging Face chat templates."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from chainviz.core.chain.messages import (
    AI,
    HUMAN,
    NEW,
    SLOT,
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
)
from chainviz.core.dialects.losses import TEXTS_JOIN, has_several_texts
from chainviz.core.dialects.values import Speller, is_json, matched
from chainviz.core.documents.json import edit as json_edit
from chainviz.core.documents.units import Sample, Unit
from chainviz.core.formats.contract import Format, Style
from chainviz.core.formats.requests.form import NewRequest, RequestForm
from chainviz.core.formats.requests.settings import Reasoning, ResponseFormat, ToolChoice
from chainviz.core.formats.vendors.openai_form.chat_format import ChatFormat
from chainviz.core.formats.vendors.openai_form.request import OpenAILikeForm

ROLES: dict[str, Role] = {
    "system": SYSTEM, "human": HUMAN, "user": HUMAN, "gpt": AI, "assistant": AI, "chatgpt": AI, "model": AI, "bot": AI,
    "function_call": AI, "tool": TOOL, "observation": TOOL, "function_response": TOOL, "function": TOOL,
}  # fmt: skip
WORDS: dict[Role, str] = {SYSTEM: "system", HUMAN: "human", AI: "gpt", TOOL: "tool"}
CALL = "function_call"
_PLAIN_RESULTS = ("observation", "function_response")


class ShareGPT(Format):
    """ShareGPT and Hermes fine-tuning data: `{"conversations": [{"from": "human", "value": …}]}`.

    A call is a message of its own (`function_call`, LLaMA-Factory) or a `<tool_call>` element in the text (Hermes); a result is
    an `observation` or a `<tool_response>` element. Both are JSON texts without ids: a call is answered by the next result.
    Nothing tells whether a result is an error. `system` beside the list is the system message (LLaMA-Factory); a new one goes
    into the list.
    """

    name = "sharegpt"
    label = "ShareGPT"
    tested_with = "files of LLaMA-Factory, Hermes"
    packs = True
    slot_key = "system"
    template = '{"conversations": [\n]}\n'
    blocks_at = ("value",)
    hints = ("from",)

    def is_message(self, value: object) -> bool:
        return isinstance(value, dict) and isinstance(value.get("from"), str) and "value" in value

    def confidence(self, sample: Sample) -> float:
        seen = [value for value in sample.values if self.is_message(value)]
        if not seen:
            return 0.0
        known = any(value["from"] in ROLES for value in seen)
        return 0.97 if known else 0.6 if sample.key == "conversations" else 0.3

    def carried_in(self, value: object) -> frozenset[str]:
        """The parts of a message are all of its text."""
        is_text = isinstance(value, dict) and isinstance(value.get("value"), str)
        return frozenset(("value",)) if is_text else frozenset()

    def read(self, units: Iterable[Unit]) -> Iterator[Message | Unit]:
        for unit in units:
            if unit.ordinal == SLOT and isinstance(unit.value, str):
                source = (Fragment(SLOT, "", unit.text, None, unit.start),)
                yield Message(SYSTEM, (Text(unit.value, origin=0),), source=source)
            elif unit.ordinal != SLOT:
                yield self.message("", (unit.fragment(),)) if self.is_message(unit.value) else unit

    def message(self, role: Role, source: tuple[Fragment, ...]) -> Message:
        value = json_edit.parse(source[0].text)
        if source[0].ordinal == SLOT:
            return Message(SYSTEM, (Text(value, origin=0),), source=source)
        word = value["from"]
        role = ROLES.get(word, word)
        label = "" if WORDS.get(role) == word else word
        return Message(role, _parts(word, role, value["value"], source[0].text), source=source, label=label)

    def write(self, message: Message, style: Style) -> tuple[Fragment, ...]:
        speller = Speller(style.near, style.ascii)
        if not message.source:
            word = WORDS.get(message.role, message.role)
            text = speller.unit({"from": speller.quote(word), "value": speller.quote(_text(message, word))})
            return (Fragment(NEW, "", text),)
        first = message.source[0]
        old = self.message(message.role, (first,))
        if old == message:
            return (first,)
        if first.ordinal == SLOT:
            return (Fragment(SLOT, first.lead, speller.quote(_text(message, ""))),)
        return (Fragment(first.ordinal, first.lead, _patched(old, message, style)),)

    def losses(self, message: Message) -> tuple[str, ...]:
        lost = losses(message.parts)
        if any(isinstance(part, ToolCall | ToolResult) for part in message.parts):
            lost.append("calls and results have no ids here")
        if has_several_texts(message.parts):
            lost.append(TEXTS_JOIN)
        return tuple(lost)


def _parts(word: str, role: Role, value: object, unit: str) -> tuple[Part, ...]:
    if not isinstance(value, str):
        return (opaque(json_edit.raw_at(unit, ("value",)) or "null"),)
    if word == CALL:
        call = call_of(value)
        return (call,) if call else (Text(value, origin=0),)
    if word in _PLAIN_RESULTS or (role == TOOL and not has_marks(value)):
        return (ToolResult("", "", value, origin=0),)
    return parts(value) if role in (AI, TOOL) else (Text(value, origin=0),)


def _text(message: Message, word: str) -> str:
    if word == CALL and len(message.parts) == 1 and isinstance(message.parts[0], ToolCall):
        return call_text(message.parts[0])
    if (word in _PLAIN_RESULTS or not word) and all(isinstance(part, ToolResult) for part in message.parts):
        return "\n".join(part.content for part in message.parts if isinstance(part, ToolResult))
    return written(message.parts)


def _patched(old: Message, new: Message, style: Style) -> str:
    """Return the unit with its changed role and text."""
    first = new.source[0]
    speller = Speller(first.text, style.ascii)
    unit = json_edit.load_object(first.text)
    word = unit.get("from")
    if new.role != old.role:
        word = WORDS.get(new.role, new.role)
        unit.set("from", speller.quote(word))
    if new.parts != old.parts or new.role != old.role:
        value = unit.get("value")
        text = _patched_text(value, old, new) if isinstance(value, str) and new.role == old.role else _text(new, word)
        unit.set("value", speller.quote(text))
    return str(unit)


def _patched_text(value: str, old: Message, new: Message) -> str:
    if old.parts == parts(value):
        return patched(value, new.parts)
    before, after = old.parts[0], new.parts[0] if len(new.parts) == 1 else None
    if isinstance(before, ToolCall) and isinstance(after, ToolCall):
        return changed_call(value, before, after)
    return _text(new, old.label)


# Calls and results as elements of a text: `<tool_call>{"name": …, "arguments": {…}}</tool_call>`, `<tool_response>`.
# Hermes fine-tuning data and chat templates of open models write them. A part is one element or the text between two;
# white space between two elements is part of none and stays with the one before it.


_ELEMENT = re.compile(r"<(tool_call|tool_response)>\n?(.*?)\n?</\1>", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Piece:
    text: str
    part: Part


def has_marks(text: str) -> bool:
    return _ELEMENT.search(text) is not None


def pieces(text: str) -> list[Piece]:
    """Return the parts of a text in order, each with its characters; together they are the text."""
    found: list[Piece] = []
    place = 0
    for element in _ELEMENT.finditer(text):
        part = _element_part(element[1], element[2])
        if part is None:
            continue
        _add_between(found, text[place : element.start()])
        found.append(Piece(element[0], part))
        place = element.end()
    _add_between(found, text[place:])
    return found or [Piece(text, Text(text))]


def _add_between(found: list[Piece], text: str) -> None:
    if text.strip() or (text and not found):
        found.append(Piece(text, Text(text)))
    elif text:
        found[-1] = Piece(found[-1].text + text, found[-1].part)


def parts(text: str) -> tuple[Part, ...]:
    return tuple(_at(piece.part, place) for place, piece in enumerate(pieces(text)))


def patched(text: str, new: Sequence[Part]) -> str:
    """Return the text with its parts replaced by `new`. Unchanged parts keep their spelling."""
    old = pieces(text)
    claims = matched(parts(text), new)
    return "".join(_written(part) if claim is None else _changed(old[claim], part) for part, claim in zip(new, claims, strict=True))


def _changed(old: Piece, new: Part) -> str:
    """Return the piece with only its differences replaced."""
    if new == old.part:
        return old.text
    found = _ELEMENT.match(old.text)
    if found is None:
        return _written(new)
    inner = found[2]
    if isinstance(new, ToolResult):
        inner = new.content
    elif isinstance(new, ToolCall) and isinstance(old.part, ToolCall):
        inner = changed_call(inner, old.part, new)
    return old.text[: found.start(2)] + inner + old.text[found.end(2) :]


def changed_call(text: str, old: ToolCall, new: ToolCall) -> str:
    """Return the JSON text of a call with only the different leaves replaced."""
    call = json_edit.load_object(text)
    if new.name != old.name:
        call.set("name", json_edit.spelled_like(new.name, text))
    if new.arguments != old.arguments:
        call.set("parameters" if "parameters" in call and "arguments" not in call else "arguments", _arguments(new))
    return str(call)


def written(new: Sequence[Part]) -> str:
    """Return the text of new parts; elements get lines of their own."""
    text = ""
    for before, part in zip((None, *new), new, strict=False):
        is_apart = before is not None and not isinstance(before, Text) and not isinstance(part, Text)
        text += ("\n" if is_apart else "") + _written(part)
    return text


def call_of(text: str) -> ToolCall | None:
    """Return the call in a JSON text `{"name": …, "arguments": …}`; None for other texts."""
    try:
        value = json.loads(text, strict=False)
    except (ValueError, RecursionError):
        return None
    if not isinstance(value, dict) or not isinstance(value.get("name"), str):
        return None
    arguments = value.get("arguments", value.get("parameters"))
    spelled = json_edit.raw_at(text, ("arguments",)) or json_edit.raw_at(text, ("parameters",)) or "{}"
    return ToolCall("", value["name"], arguments if isinstance(arguments, str) else spelled, origin=0)


def call_text(call: ToolCall) -> str:
    return f'{{"name": {json_edit.quote(call.name, ascii_only=False)}, "arguments": {_arguments(call)}}}'


def _arguments(call: ToolCall) -> str:
    """Return arguments as JSON; quote a text that is not JSON, or is a JSON string."""
    is_spelled = is_json(call.arguments) and not call.arguments.lstrip().startswith('"')
    return call.arguments if is_spelled else json_edit.quote(call.arguments, ascii_only=False)


def opaque(text: str) -> Opaque:
    return Opaque("value", text, origin=0)


def losses(new: Sequence[Part]) -> list[str]:
    lost = []
    if any(isinstance(part, Image | Binary) for part in new):
        lost.append("images and files are left out")
    if any(isinstance(part, Thinking) for part in new):
        lost.append("reasoning becomes a <think> element")
    if any(isinstance(part, Text | ToolCall) and part.reasoning for part in new):
        lost.append("reasoning that belongs to a text or a call is left out")
    if any(isinstance(part, Opaque) for part in new):
        lost.append("parts of unknown kinds are left out")
    if any(isinstance(part, ToolResult) and part.is_error for part in new):
        lost.append("a result cannot be marked as an error")
    return lost


def _element_part(kind: str, inner: str) -> Part | None:
    return ToolResult("", "", inner) if kind == "tool_response" else call_of(inner)


def _at(part: Part, place: int) -> Part:
    return replace(part, origin=place)


def _written(part: Part) -> str:
    if isinstance(part, Text):
        return part.text
    if isinstance(part, Thinking):
        return f"<think>{part.content}</think>"
    if isinstance(part, ToolCall):
        return f"<tool_call>\n{call_text(part)}\n</tool_call>"
    if isinstance(part, ToolResult):
        return f"<tool_response>\n{part.content}\n</tool_response>"
    return ""


_ROLES = ("ipython", "observation")
_IMAGES = ("url", "path", "base64")


class HFChatForm(OpenAILikeForm):
    """The input of a chat template: messages and tools."""

    model_at = ()

    def write_tool_choice(self, new: NewRequest, choice: ToolChoice | None, parallel: bool | None) -> None:
        RequestForm.write_tool_choice(self, new, choice, parallel)

    def write_response_format(self, new: NewRequest, format: ResponseFormat) -> None:
        new.leave_out("response_format")

    def write_reasoning(self, new: NewRequest, reasoning: Reasoning) -> None:
        new.leave_out("reasoning")


class HFChat(ChatFormat):
    """Hugging Face chat templates: OpenAI's messages whose calls have no ids and whose arguments are objects. Images are parts
    `{"type": "image", "url": …}`; Llama's templates call the role of a result `ipython`.
    """

    name = "hf_chat"
    label = "Hugging Face chat"
    tested_with = "templates of transformers"
    template = '{"messages": [\n]}\n'
    known_roles = frozenset(("ipython",))
    request = HFChatForm()

    def confidence(self, sample: Sample) -> float:
        return max([_rate(value) for value in sample.values if self.is_message(value)], default=0.0)


def _rate(value: dict[str, Any]) -> float:
    """Rate a message; 0 if nothing distinguishes it from another dialect of OpenAI's chat."""
    if value["role"] in _ROLES:
        return 0.92
    calls = value.get("tool_calls")
    first = calls[0] if isinstance(calls, list) and calls else None
    if isinstance(first, dict) and "type" in first and "id" not in first:
        return 0.94
    content = value.get("content")
    blocks = [item for item in content if isinstance(item, dict)] if isinstance(content, list) else []
    is_image = any(item.get("type") == "image" and any(key in item for key in _IMAGES) for item in blocks)
    return 0.92 if is_image else 0.0
