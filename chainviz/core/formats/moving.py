"""Messages that move into another format: what they leave behind, how they are written there, what has no place there."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace

from chainviz.core.formats.contract import Format, Style
from chainviz.core.messages import SYSTEM, Fragment, Message


def without_source(message: Message) -> Message:
    """The message as if it were new: its fields and its role's spelling belong to the format it comes from."""
    return replace(message, source=(), label="", parts=tuple(replace(part, origin=-1) for part in message.parts))


def sources_in(format: Format, messages: Iterable[Message], *, has_slot: bool) -> Iterator[tuple[Fragment, ...]]:
    """Each message as the format writes it anew; leading system messages go into the slot, if the document has one."""
    leading = has_slot
    for message in messages:
        leading = leading and message.role == SYSTEM
        yield format.write(without_source(message), Style(slot=leading))


class Losses:
    """Counts what a format has no place for, message by message."""

    def __init__(self, format: Format) -> None:
        self.format = format
        self._count = 0
        self._counted: Counter[str] = Counter()
        self._first: dict[str, int] = {}

    def add(self, message: Message) -> None:
        """The next message, without source."""
        self._count += 1
        for loss in self.format.losses(message):
            self._counted[loss] += 1
            self._first.setdefault(loss, self._count)

    def sentences(self) -> Iterator[str]:
        for loss, count in self._counted.items():
            first = self._first[loss]
            where = f"message {first}" if count == 1 else f"{count:,} messages, the first is number {first}"
            yield f"{self.format.label}: {loss.rstrip('.')} ({where})."
