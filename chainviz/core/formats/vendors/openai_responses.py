"""OpenAI Responses: requests with their instructions, response objects, bare lists of items."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

from chainviz.core.chain.messages import AI, HUMAN, NEW, SLOT, SYSTEM, Fragment, Message, Opaque, Role, Text
from chainviz.core.dialects.items.item_units import ItemUnits
from chainviz.core.dialects.items.responses_read import ITEM_TYPES, SETTINGS, kind_of
from chainviz.core.dialects.items.responses_write import BLOCKS, RESPONSES, losses, new_items
from chainviz.core.dialects.losses import TEXTS_JOIN, has_several_texts
from chainviz.core.dialects.patching import Speller
from chainviz.core.dialects.unit_groups import one_result_each
from chainviz.core.documents.json.edit import parse
from chainviz.core.documents.units import Sample, TextMember, Unit
from chainviz.core.errors import Refused
from chainviz.core.formats.accepts import DOCUMENTS, Accepts
from chainviz.core.formats.contract import Format, Style

_ITEMS = ItemUnits(RESPONSES)
_RECORDS = frozenset(("id", "type", "output", "messages"))
"""Beside an `input` that a log keeps; a request has none of them."""
_INPUT = TextMember("input", ("model", "instructions", "previous_response_id", "reasoning", "max_output_tokens", "tools"))
_OF_OTHERS = frozenset(("encoding_format", "dimensions", "voice", "response_format", "speed"))
"""Members beside an `input` of OpenAI's APIs for embeddings and for speech."""
_OTHER_MODELS = re.compile(r"embed|moderation|tts|bge-|e5-", re.IGNORECASE)
_BLOCKS = ("input_text", "output_text", "input_image", "input_file")


class OpenAIResponses(Format):
    name = "openai_responses"
    label = "OpenAI Responses"
    api = "openai_responses"
    accepts = Accepts(kinds=ITEM_TYPES | BLOCKS, files=DOCUMENTS, free_form_calls=True)
    tested_with = "openai 3.54"
    slot_key = "instructions"
    template = '{"input": [\n]}\n'
    blocks_at = ("content",)
    packs = False
    hints = ("role", "call_id", "encrypted_content", "summary", "status")
    texts = (_INPUT,)
    sequences = ((("request", "input"), ("response", "output")), ((_INPUT.name,), ("output",)))
    carried_types = SETTINGS
    known_kinds = ITEM_TYPES

    def is_message(self, value: object) -> bool:
        is_bare = isinstance(value, dict) and "role" in value and "content" not in value
        return _rate(value) > 0 and not is_bare

    def confidence(self, sample: Sample) -> float:
        score = max([_rate(value) for value in sample.values], default=0.0)
        if sample.key in (_INPUT.key, _INPUT.name) and sample.values and isinstance(sample.values[0], str):
            return max(score, 0.9 if len(sample.values) == 1 and _asks_a_model(sample.document) else 0.0)
        if sample.beside.get("object") in ("response", "response.compaction") and sample.key == "output":
            return 0.97
        is_request = sample.key == "input" and ("model" in sample.beside or "instructions" in sample.beside)
        if score and is_request and not _RECORDS & sample.beside.keys():
            return max(score, 0.85)
        return score

    def read(self, units: Iterable[Unit]) -> Iterator[Message | Unit]:
        units = iter(units)
        is_first = True
        for unit in units:
            is_text = type(unit.value) is str
            if unit.ordinal != SLOT and not is_text:
                yield from _ITEMS.read(_again(unit, units), is_first=is_first)
            elif unit.value and type(unit.value) in (str, list):
                is_first = False
                yield self.message(SYSTEM, (unit.fragment(),))

    def message(self, role: Role, source: tuple[Fragment, ...]) -> Message:
        first = source[0]
        if first.ordinal != SLOT and not first.text.startswith('"'):
            return _ITEMS.message(role, source)
        value = parse(first.text)
        if isinstance(value, str):
            role = SYSTEM if first.ordinal == SLOT else HUMAN
            return Message(role, (Text(value, origin=0),), source=source)
        return Message(SYSTEM, (Opaque("instructions", first.text, origin=0),), source=source)

    def write(self, message: Message, style: Style) -> tuple[Fragment, ...]:
        source = message.source
        if not source:
            return self._new(message, style)
        if self.message(message.role, source) == message:
            return source
        if source[0].ordinal == SLOT:
            return self._new(message, Style("", style.ascii, slot=True))
        if source[0].text.startswith('"'):
            return self._as_text(message, style)
        return _ITEMS.patched(message, str, ascii_only=style.ascii)

    def _new(self, message: Message, style: Style) -> tuple[Fragment, ...]:
        speller = Speller(style.near, style.ascii)
        only = message.parts[0] if len(message.parts) == 1 else None
        if style.slot and style.number == 0 and message.role == SYSTEM and isinstance(only, Text):
            return (Fragment(SLOT, "", speller.quote(only.text)),)
        near = style.near if style.near.startswith("{") else ""
        items = new_items(message.role, one_result_each(message), message.label, near, speller)
        return tuple(Fragment(NEW, "", item) for item in items)

    def _as_text(self, message: Message, style: Style) -> tuple[Fragment, ...]:
        """A plain string holds the texts of a person, and nothing else."""
        texts = [part.text for part in message.parts if isinstance(part, Text)]
        if message.role != HUMAN or len(texts) < len(message.parts):
            raise Refused("The input of this request is plain text, which can hold only one human message.")
        first = message.source[0]
        return (Fragment(first.ordinal, first.lead, Speller("", style.ascii).quote("\n".join(texts))),)

    def losses(self, message: Message) -> tuple[str, ...]:
        lost = losses(message.role, message.parts)
        return (*lost, TEXTS_JOIN) if message.role == AI and has_several_texts(message.parts) else lost


def _asks_a_model(document: dict[str, Any]) -> bool:
    """Whether a document with a text as its input is a request of this API."""
    model = document.get("model")
    if "messages" in document or not isinstance(document.get("output", []), list):
        return False  # the record of a tracing tool
    return isinstance(model, str) and not _OTHER_MODELS.search(model) and not _OF_OTHERS & document.keys()


def _again(first: Unit, rest: Iterator[Unit]) -> Iterator[Unit]:
    yield first
    yield from rest


def _rate(value: Any) -> float:
    kind = kind_of(value)
    if kind in ITEM_TYPES:
        return 0.95
    if kind != "message" or not isinstance(value.get("role"), str):
        return 0.0
    content = value.get("content")
    blocks = content if isinstance(content, list) else []
    if any(isinstance(block, dict) and block.get("type") in _BLOCKS for block in blocks):
        return 0.95
    return 0.8 if "type" in value and "stop_reason" not in value else 0.2
