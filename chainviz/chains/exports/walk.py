"""Walks through a content of a chain from its first message to its last; bodies are read a stretch at a time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from chainviz.core.chain.message_paths import message_paths
from chainviz.core.chain.messages import ROLE_NAMES, Message
from chainviz.core.chain.paths import Path
from chainviz.core.dialects.attachments import filled_in
from chainviz.store.content.chain import StoredChain

STRETCH = 100


@dataclass(frozen=True, slots=True)
class Told:
    """What is written: the content and what it is called."""

    title: str
    source: str
    """Version and format, in words."""
    chain: StoredChain

    def walk(self) -> Iterator[tuple[Path, Message]]:
        messages = filled_in(self._messages(), self.chain.surroundings.texts)
        return zip(message_paths(self.chain.tree), messages, strict=True)

    def _messages(self) -> Iterator[Message]:
        for start in range(0, len(self.chain), STRETCH):
            yield from self.chain.slice(start, min(start + STRETCH, len(self.chain)))


def number_of(path: Path) -> str:
    return f"{path.section}.{path.pair}" if path.pair else f"{path.section}"


def role_of(message: Message) -> str:
    return ROLE_NAMES.get(message.role, message.role or "Unknown")
