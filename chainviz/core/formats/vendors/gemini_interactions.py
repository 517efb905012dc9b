"""Gemini Interactions: the steps of a response, and of a request's input."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain

from chainviz.core.chain.messages import NEW, SLOT, SYSTEM, Fragment, Message, Role, Text, text_of
from chainviz.core.dialects.items.gemini_interactions import (
    KINDS,
    SERVER_STEPS,
    STEPS,
    TEXTS,
    kind_of,
    losses,
    new_steps,
)
from chainviz.core.dialects.items.item_units import ItemUnits
from chainviz.core.dialects.patching import Speller
from chainviz.core.dialects.unit_groups import one_result_each
from chainviz.core.documents.json.edit import parse
from chainviz.core.documents.units import Sample, Unit
from chainviz.core.formats.accepts import ANY, Accepts
from chainviz.core.formats.contract import Format, Style

_UNITS = ItemUnits(STEPS)
_PROOFS = KINDS - {"function_call"}
"""OpenAI's calls are of the same type, and name their arguments as a text."""


class GeminiInteractions(Format):
    name = "gemini_interactions"
    label = "Gemini Interactions"
    api = "gemini_interactions"
    accepts = Accepts(images=ANY, files=ANY, addresses=frozenset(("http", "https", "gs")), reasoning=True, media_of_model=True)
    tested_with = "google-genai 3.4"
    slot_key = "system_instruction"
    template = '{"input": [\n]}\n'
    blocks_at = ("content",)
    packs = False
    late_system = "a system message that is not the first message becomes a user message"
    names_results = True
    hints = ("content", "signature", "summary", "arguments", "call_id")
    known_kinds = SERVER_STEPS

    def is_message(self, value: object) -> bool:
        return isinstance(value, dict) and kind_of(value) in _PROOFS and "role" not in value

    def confidence(self, sample: Sample) -> float:
        kinds = [kind_of(value) for value in sample.values if self.is_message(value)]
        if not kinds:
            return 0.0
        return 0.97 if sample.key in ("steps", "input") or TEXTS.keys() & set(kinds) else 0.6

    def read(self, units: Iterable[Unit]) -> Iterator[Message | Unit]:
        units = iter(units)
        first = next(units, None)
        if first is not None and first.ordinal == SLOT:
            if type(first.value) is str and first.value:
                yield self.message(SYSTEM, (first.fragment(),))
            first = None
        yield from _UNITS.read(units if first is None else chain((first,), units))

    def message(self, role: Role, source: tuple[Fragment, ...]) -> Message:
        first = source[0]
        if first.ordinal == SLOT:
            return Message(SYSTEM, (Text(parse(first.text), origin=0),), source=source)
        return _UNITS.message(role, source)

    def write(self, message: Message, style: Style) -> tuple[Fragment, ...]:
        source = message.source
        if source and self.message(message.role, source) == message:
            return source
        if source and source[0].ordinal != SLOT:
            return _UNITS.patched(message, str, ascii_only=style.ascii)
        speller = Speller("" if source else style.near, style.ascii)
        has_slot = bool(source) or (style.slot and style.number == 0)
        if has_slot and message.role == SYSTEM:
            return (Fragment(SLOT, "", speller.quote(text_of(message))),)
        steps = new_steps(message.role, one_result_each(message), message.label, "", speller)
        return tuple(Fragment(NEW, "", step) for step in steps)

    def losses(self, message: Message) -> tuple[str, ...]:
        return losses(message.parts)
