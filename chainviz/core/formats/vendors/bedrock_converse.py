"""Bedrock Converse: requests with their system blocks, bare lists of messages, the message of a response."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from chainviz.core.chain.messages import SLOT, SYSTEM, Fragment, Message, Role
from chainviz.core.dialects.blocks.bedrock_read import (
    DOCUMENTS,
    OWN_KINDS,
    ROLES,
    WORDS,
    kind_of,
    read_blocks,
    role_runs,
)
from chainviz.core.dialects.blocks.bedrock_write import losses, new_blocks, patched_content
from chainviz.core.dialects.blocks.block_units import Blocks, read_fragments
from chainviz.core.dialects.patching import Speller
from chainviz.core.documents.json.edit import parse
from chainviz.core.documents.units import Sample, Unit
from chainviz.core.formats.accepts import Accepts
from chainviz.core.formats.block_format import BlockFormat
from chainviz.core.formats.contract import Style

_BLOCKS = Blocks(("content",), read_blocks, patched_content)
_ENVELOPE = ("modelId", "toolConfig", "inferenceConfig", "additionalModelRequestFields", "guardrailConfig")
_PROOFS = OWN_KINDS - {"image", "document"}


class BedrockConverse(BlockFormat):
    name = "bedrock_converse"
    label = "Bedrock Converse"
    api = "bedrock"
    accepts = Accepts(kinds=OWN_KINDS, files=frozenset(DOCUMENTS.values()), addresses=frozenset(("s3",)))
    tested_with = "botocore 1.44, logs of model invocations"
    slot_key = "system"
    template = '{"messages": [\n]}\n'
    blocks, blocks_at, words = _BLOCKS, _BLOCKS.at, WORDS
    hints = ("role",)
    joins_turns = True
    answers = ((), ("output", "message"))
    sequences = ((("input", "inputBodyJson", "messages"), ("output", "outputBodyJson", "output", "message")),)

    def is_message(self, value: object) -> bool:
        return _rate(value) > 0

    def confidence(self, sample: Sample) -> float:
        rates = [_rate(value) for value in sample.values]
        if not rates or not max(rates):
            return 0.0
        return max(*rates, 0.96) if any(key in sample.beside for key in _ENVELOPE) else max(rates)

    def read(self, units: Iterable[Unit]) -> Iterator[Message | Unit]:
        for unit in units:
            value = unit.value
            if unit.ordinal == SLOT and type(value) is list and value:
                yield self.message(SYSTEM, (Fragment(SLOT, "", unit.text, None, unit.start),))
            elif type(value) is dict and type(value.get("role")) is str:
                for role, blocks in role_runs(value["role"], value.get("content")):
                    yield self.message(role, (unit.fragment(blocks),))
            elif unit.ordinal != SLOT:
                yield unit

    def message(self, role: Role, source: tuple[Fragment, ...]) -> Message:
        first = source[0]
        value = parse(first.text)
        if first.ordinal == SLOT:
            role = SYSTEM
        elif first.blocks is None:
            role = role_runs(value["role"], value.get("content"))[0][0] if value.get("content") else role
        parts = [part for parts in read_fragments(source, _BLOCKS, role) for part in parts]
        return Message(role, tuple(parts), source=source)

    def content(self, message: Message, style: Style, speller: Speller) -> str:
        return speller.list([block for part in message.parts for block in new_blocks(part, speller)])

    def losses(self, message: Message) -> tuple[str, ...]:
        return losses(message.parts)


def _rate(value: Any) -> float:
    """How much a value looks like a message: its blocks have one key, and none says its type."""
    if not isinstance(value, dict) or not isinstance(value.get("content"), list):
        return 0.0
    if not isinstance(value.get("role"), str) or value["role"] not in ROLES:
        return 0.0
    kinds = [kind_of(item) for item in value["content"] if isinstance(item, dict)]
    if any(kind in _PROOFS for kind in kinds):
        return 0.95
    return 0.9 if kinds and all(kind == "text" or kind in OWN_KINDS for kind in kinds) else 0.0
