"""Messages made of Anthropic's blocks, as Anthropic's API and the programs that keep its messages write them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from chainviz.core.chain.messages import AI, SLOT, SYSTEM, Fragment, Message, Opaque, Part, Role, Text
from chainviz.core.dialects.blocks.anthropic_read import RESULT_FORM, ROLES, WORDS, ResultForm, read_blocks, role_runs
from chainviz.core.dialects.blocks.anthropic_write import losses, new_content, patched_content
from chainviz.core.dialects.blocks.block_units import Blocks, Content, Run, read_fragments, value_at
from chainviz.core.dialects.patching import Speller
from chainviz.core.documents.json.edit import parse
from chainviz.core.documents.units import Pointer, Unit
from chainviz.core.formats.block_format import BlockFormat
from chainviz.core.formats.contract import COMPACT_SUMMARY, Style

_BLOCKS = Blocks(("content",), read_blocks, patched_content)


class AnthropicBlocksFormat(BlockFormat):
    template = '{"messages": [\n]}\n'
    form: ResultForm = RESULT_FORM
    blocks: Blocks = _BLOCKS
    blocks_at: Pointer = _BLOCKS.at
    words = WORDS
    hints = ("role",)

    def is_message(self, value: object) -> bool:
        if not isinstance(value, dict) or not isinstance(value.get("role"), str) or "messages" in value:
            return False
        return value["role"] in ROLES

    def read(self, units: Iterable[Unit]) -> Iterator[Message | Unit]:
        for unit in units:
            value = value_at(unit.value, self.blocks_at[:-1])
            if unit.ordinal == SLOT and type(unit.value) in (str, list):
                source = (Fragment(SLOT, "", unit.text, None, unit.start),)
                yield Message(SYSTEM, tuple(self.blocks.read(Content(unit.value, unit.text), SYSTEM)), source=source)
            elif type(value) is dict and type(value.get("role")) is str:
                content = value.get("content")
                for role, blocks in self.runs(value["role"], content):
                    parts = tuple(self.blocks.read(Content(content, unit.text, self.blocks_at, blocks), role))
                    source = (unit.fragment(blocks),)
                    yield Message(role, parts, source=source, note=_note(value), label=_label(parts))
            elif unit.ordinal != SLOT:
                yield unit

    def runs(self, word: str, content: Any) -> list[Run]:
        """The messages that a unit with this role feeds."""
        return role_runs(word, content)

    def message(self, role: Role, source: tuple[Fragment, ...]) -> Message:
        first = source[0]
        value = value_at(parse(first.text), self.blocks_at[:-1])
        if first.ordinal == SLOT:
            role = SYSTEM
        elif first.blocks is None:
            role = self.runs(value["role"], value.get("content"))[0][0] if value.get("content") != [] else role
        parts = [part for parts in read_fragments(source, self.blocks, role) for part in parts]
        return Message(role, tuple(parts), source=source, note=_note(value), label=_label(parts))

    def content(self, message: Message, style: Style, speller: Speller) -> str:
        near = value_at(parse(style.near), self.blocks_at) if style.near else None
        only = message.parts[0] if len(message.parts) == 1 else None
        as_text = isinstance(only, Text) and (only.reasoning is None or only.reasoning.is_empty or message.role != AI)
        if isinstance(only, Text) and as_text and not isinstance(near, list):
            return speller.quote(only.text)
        return new_content(message.parts, speller, self.form)

    def losses(self, message: Message) -> tuple[str, ...]:
        return losses(message.parts, self.form)


def _label(parts: Iterable[Part]) -> str:
    """Return the label of a message with a compaction block, which stands for all before it; "" for every other message."""
    return COMPACT_SUMMARY if any(isinstance(part, Opaque) and part.kind == "compaction" for part in parts) else ""


def _note(value: Any) -> str:
    reason = value.get("stop_reason") if isinstance(value, dict) else None
    return reason if isinstance(reason, str) else ""
