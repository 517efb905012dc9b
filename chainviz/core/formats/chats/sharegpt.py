"""ShareGPT and Hermes fine-tuning data: `{"conversations": [{"from": "human", "value": …}]}`.

A call is a message of its own (`function_call`, LLaMA-Factory) or a `<tool_call>` element in the text (Hermes); a result
is an `observation` or a `<tool_response>` element. Both are JSON texts without ids: a call is answered by the next result.
Nothing tells whether a result is an error. `system` beside the list is the system message (LLaMA-Factory); a new one goes
into the list.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from chainviz.core.chain.messages import (
    AI,
    HUMAN,
    NEW,
    SLOT,
    SYSTEM,
    TOOL,
    Fragment,
    Message,
    Part,
    Role,
    Text,
    ToolCall,
    ToolResult,
)  # fmt: skip
from chainviz.core.dialects.frameworks import marked_text
from chainviz.core.dialects.losses import TEXTS_JOIN, has_several_texts
from chainviz.core.dialects.patching import Speller
from chainviz.core.documents.json import edit as json_edit
from chainviz.core.documents.units import Sample, Unit
from chainviz.core.formats.contract import Format, Style

ROLES: dict[str, Role] = {
    "system": SYSTEM, "human": HUMAN, "user": HUMAN, "gpt": AI, "assistant": AI, "chatgpt": AI, "model": AI, "bot": AI,
    "function_call": AI, "tool": TOOL, "observation": TOOL, "function_response": TOOL, "function": TOOL,
}  # fmt: skip
WORDS: dict[Role, str] = {SYSTEM: "system", HUMAN: "human", AI: "gpt", TOOL: "tool"}
CALL = "function_call"
_PLAIN_RESULTS = ("observation", "function_response")


class ShareGPT(Format):
    name = "sharegpt"
    label = "ShareGPT"
    tested_with = "files of LLaMA-Factory, Hermes"
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
        lost = marked_text.losses(message.parts)
        if any(isinstance(part, ToolCall | ToolResult) for part in message.parts):
            lost.append("calls and results have no ids here")
        if has_several_texts(message.parts):
            lost.append(TEXTS_JOIN)
        return tuple(lost)


def _parts(word: str, role: Role, value: object, unit: str) -> tuple[Part, ...]:
    if not isinstance(value, str):
        return (marked_text.opaque(json_edit.raw_at(unit, ("value",)) or "null"),)
    if word == CALL:
        call = marked_text.call_of(value)
        return (call,) if call else (Text(value, origin=0),)
    if word in _PLAIN_RESULTS or (role == TOOL and not marked_text.has_marks(value)):
        return (ToolResult("", "", value, origin=0),)
    return marked_text.parts(value) if role in (AI, TOOL) else (Text(value, origin=0),)


def _text(message: Message, word: str) -> str:
    if word == CALL and len(message.parts) == 1 and isinstance(message.parts[0], ToolCall):
        return marked_text.call_text(message.parts[0])
    if (word in _PLAIN_RESULTS or not word) and all(isinstance(part, ToolResult) for part in message.parts):
        return "\n".join(part.content for part in message.parts if isinstance(part, ToolResult))
    return marked_text.written(message.parts)


def _patched(old: Message, new: Message, style: Style) -> str:
    """The unit with its role and text changed where they differ."""
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
    if old.parts == marked_text.parts(value):
        return marked_text.patched(value, new.parts)
    before, after = old.parts[0], new.parts[0] if len(new.parts) == 1 else None
    if isinstance(before, ToolCall) and isinstance(after, ToolCall):
        return marked_text.changed_call(value, before, after)
    return _text(new, old.label)
