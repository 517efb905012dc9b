"""Gemini generateContent: requests with their system instruction, bare lists of contents, the content of a response."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from chainviz.core.chain.messages import SLOT, SYSTEM, Fragment, Message, Role
from chainviz.core.dialects.blocks.block_units import Blocks, read_fragments
from chainviz.core.dialects.blocks.gemini_read import ROLES, UNCLEAR, WORDS, field_of, read_parts, role_runs, word_of
from chainviz.core.dialects.blocks.gemini_write import OWN_KINDS, PartWriter, losses, patched_content
from chainviz.core.dialects.patching import Speller
from chainviz.core.documents.json.edit import parse
from chainviz.core.documents.units import Sample, Unit
from chainviz.core.formats.accepts import ANY, Accepts
from chainviz.core.formats.block_format import BlockFormat
from chainviz.core.formats.contract import Style

_BLOCKS = Blocks(("parts",), read_parts, patched_content, in_slot=("parts",))
_ENVELOPE = ("systemInstruction", "system_instruction", "generationConfig", "generation_config", "safetySettings")


class Gemini(BlockFormat):
    name = "gemini"
    label = "Gemini generateContent"
    api = "gemini"
    accepts = Accepts(
        kinds=OWN_KINDS - {UNCLEAR},
        images=ANY,
        files=ANY,
        addresses=frozenset(("http", "https", "gs")),
        reasoning=True,
        media_of_model=True,
    )
    tested_with = "google-genai 3.4, request-response logs of Vertex AI"
    slot_key = "systemInstruction"
    slot_aliases = ("system_instruction",)
    template = '{"contents": [\n]}\n'
    blocks, blocks_at, words = _BLOCKS, _BLOCKS.at, WORDS
    late_system = "a system message that is not the first message becomes a user message"
    names_results = True
    hints = ("parts",)
    answers = ((), ("candidates", "content"))
    sequences = (
        (("request", "contents"), ("response", "candidates", "content")),
        (("full_request", "contents"), ("full_response", "candidates", "content")),
    )
    known_kinds = frozenset(("executableCode", "codeExecutionResult", "inlineData", "fileData", "toolCall", "toolResponse", UNCLEAR))

    def is_message(self, value: object) -> bool:
        return _rate(value) > 0

    def confidence(self, sample: Sample) -> float:
        rates = [_rate(value) for value in sample.values]
        if not rates or not max(rates):
            return 0.0
        is_request = sample.key == "contents" or any(key in sample.beside for key in _ENVELOPE)
        return max(*rates, 0.96) if is_request else max(rates)

    def read(self, units: Iterable[Unit]) -> Iterator[Message | Unit]:
        for unit in units:
            value = unit.value
            if unit.ordinal == SLOT:
                if type(value) in (str, dict):
                    yield self.message(SYSTEM, (Fragment(SLOT, "", unit.text, None, unit.start),))
            elif type(value) is dict and type(value.get("parts", [])) in (list, type(None)):
                for role, blocks in role_runs(value):
                    yield self.message(role, (unit.fragment(blocks),))
            else:
                yield unit

    def message(self, role: Role, source: tuple[Fragment, ...]) -> Message:
        first = source[0]
        value = parse(first.text)
        if first.ordinal == SLOT:
            role = SYSTEM
        elif first.blocks is None:
            role = role_runs(value)[0][0] if value.get("parts") else role
        parts = [part for parts in read_fragments(source, _BLOCKS, role) for part in parts]
        return Message(role, tuple(parts), source=source, label=_label(value, role))

    def content(self, message: Message, style: Style, speller: Speller) -> str:
        return speller.list(PartWriter(style.near, speller).parts(message.parts))

    def losses(self, message: Message) -> tuple[str, ...]:
        return losses(message.parts)


def _label(value: Any, role: Role) -> str:
    """The role as it is spelled, where no content of this role spells it so."""
    word = word_of(value) if isinstance(value, dict) and "role" in value else ""
    return word if word and WORDS.get(role) != word and role != SYSTEM else ""


def _rate(value: object) -> float:
    """How much a value looks like a content; the parts of other formats say their type or kind."""
    if not isinstance(value, dict) or not isinstance(value.get("parts"), list) or "kind" in value or "content" in value:
        return 0.0
    role = value.get("role", "user")
    items = [item for item in value["parts"] if isinstance(item, dict)]
    if any("type" in item or "part_kind" in item or "kind" in item for item in items) or not isinstance(role, str):
        return 0.0
    fields = [field_of(item) for item in items]
    if any(field not in ("", "text") for field in fields):
        return 0.95
    if role == "model":
        return 0.9
    return 0.8 if role in ROLES and any(fields) else 0.0
