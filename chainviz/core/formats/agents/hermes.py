"""Sessions of Hermes Agent (`~/.hermes/sessions/`): OpenAI's messages, in a list beside the system prompt or a line each.

A record with the role `session_meta` tells of the session, its model and its tools; it is no message.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from chainviz.core.chain.messages import SLOT, SYSTEM, Fragment, Message, Role, Text, text_of
from chainviz.core.dialects.units import has_role, read_units
from chainviz.core.dialects.values import Speller, string_of
from chainviz.core.documents.json.edit import parse
from chainviz.core.documents.units import Sample, Unit
from chainviz.core.formats.contract import Style
from chainviz.core.formats.vendors.openai_form.chat_format import ChatFormat
from chainviz.core.formats.vendors.openai_form.read import read_message

_META = "session_meta"
_OWN = ("codex_reasoning_items", "codex_message_items")
_SESSION = ("session_id", "platform")


class Hermes(ChatFormat):
    name = "hermes"
    label = "Hermes Agent session"
    tested_with = "sessions of 2026"
    template = '{"session_id": "converted", "platform": "cli", "messages": [\n]}\n'
    slot_key = "system_prompt"
    carried_types = frozenset((_META,))
    carried_fields = frozenset(_OWN)

    def is_message(self, value: object) -> bool:
        return super().is_message(value) and string_of(value, "role") != _META

    def confidence(self, sample: Sample) -> float:
        if not any(map(self.is_message, sample.values)):
            return 0.0
        is_named = all(key in sample.beside for key in _SESSION)
        return 0.97 if is_named or any(_is_own(value) for value in sample.values) else 0.0

    def read(self, units: Iterable[Unit]) -> Iterator[Message | Unit]:
        for unit in units:
            if unit.ordinal != SLOT:
                yield from read_units([unit], read_message, lambda value: has_role(value) and value["role"] != _META)
            elif isinstance(unit.value, str) and unit.value:
                yield self.message(SYSTEM, (unit.fragment(),))

    def message(self, role: Role, source: tuple[Fragment, ...]) -> Message:
        if source[0].ordinal == SLOT:
            return Message(SYSTEM, (Text(parse(source[0].text), origin=0),), source=source)
        return super().message(role, source)

    def write(self, message: Message, style: Style) -> tuple[Fragment, ...]:
        in_slot = message.source[0].ordinal == SLOT if message.source else style.slot and style.number == 0
        if in_slot and message.source and self.message(SYSTEM, message.source[:1]) == message:
            return message.source[:1]
        if in_slot and message.role == SYSTEM:
            return (Fragment(SLOT, "", Speller(style.near, style.ascii).quote(text_of(message))),)
        return super().write(Message(message.role, message.parts) if in_slot else message, style)


def _is_own(value: Any) -> bool:
    return string_of(value, "role") == _META or (isinstance(value, dict) and any(key in value for key in _OWN))
