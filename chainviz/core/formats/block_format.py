"""Formats whose messages are `{role, content}` with a list of blocks: a message is written as its dialect writes the blocks."""

from __future__ import annotations

from collections.abc import Mapping

from chainviz.core.chain.messages import NEW, SLOT, SYSTEM, Fragment, Message, Role
from chainviz.core.dialects.blocks.block_units import Blocks, patched_message
from chainviz.core.dialects.patching import Speller
from chainviz.core.formats.contract import Format, Style


class BlockFormat(Format):
    blocks: Blocks
    words: Mapping[Role, str]
    """The word of each role."""

    def content(self, message: Message, style: Style, speller: Speller) -> str:
        """The content of a new message as JSON text."""
        raise NotImplementedError

    def write(self, message: Message, style: Style) -> tuple[Fragment, ...]:
        if not message.source:
            return (self._new(message, style),)
        source = message.source[:1]
        old = self.message(message.role, source)
        if old == message:
            return source
        if source[0].ordinal == SLOT and message.role != SYSTEM:
            return (self._new(message, style),)
        return patched_message(message, old.role, self.blocks, self.words, ascii_only=style.ascii)

    def _new(self, message: Message, style: Style) -> Fragment:
        speller = Speller(style.near, style.ascii)
        content = self.content(message, style, speller)
        member = str(self.blocks.at[-1])
        if message.role == SYSTEM and style.slot:
            return Fragment(SLOT, "", speller.object({member: content}) if self.blocks.in_slot else content)
        head = {key: speller.quote(word) for key, word in self.head(message, style).items()}
        return Fragment(NEW, "", speller.unit({**head, member: content}))

    def head(self, message: Message, style: Style) -> dict[str, str]:
        """The members of a new message that stand before its content."""
        return {"role": self.words.get(message.role, message.role)}
