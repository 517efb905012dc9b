"""Formats that are shown, exported as they came, and converted: nothing new can be written into their documents."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from chainviz.core.chain.messages import AI, HUMAN, SYSTEM, TOOL, Fragment, Message, Part, Role, Text, ToolResult
from chainviz.core.documents.json.scan import byte_length
from chainviz.core.documents.source import Source
from chainviz.core.documents.units import FoundList, Pointer, Sample, Span, Unit
from chainviz.core.errors import Refused
from chainviz.core.formats.contract import Format, Style, refusal

HEAD = 1 << 16
"""Bytes that tell what a text is."""
ROLES: dict[str, Role] = {
    "system": SYSTEM, "developer": SYSTEM, "user": HUMAN, "human": HUMAN, "you": HUMAN, "assistant": AI, "ai": AI,
    "model": AI, "bot": AI, "chatgpt": AI, "claude": AI, "gemini": AI, "tool": TOOL, "function": TOOL,
}  # fmt: skip


_WORDS = {SYSTEM: "system", HUMAN: "user", AI: "assistant", TOOL: "tool"}


class ReadOnly(Format):
    blocks_at: Pointer = ()
    lines = True
    writes = False
    packs = False

    def rate(self, head: str) -> float:
        """The confidence in a text that begins with `head`."""
        raise NotImplementedError

    def stretches(self, text: str) -> Iterable[tuple[int, int]]:
        """Where the messages are in the text."""
        raise NotImplementedError

    def find(self, source: Source) -> tuple[FoundList, ...]:
        """The whole file as one chain."""
        start = 3 if source.bom else 0
        head = source.text(start, HEAD)
        if not self.rate(head):
            return ()
        tail = source.read(max(start, source.size - HEAD), source.size)
        end = source.size - (len(tail) - len(tail.rstrip()))
        return (FoundList((), "", Span(0, source.size), start, end, lines=True, raw=True, sample=self.sample(head)),)

    def sample(self, head: str) -> Sample:
        """Of a text that `find` found: strings in a JSON list may look like one."""
        return Sample((head,), {}, key=f"{self.name} text", lines=True)

    def confidence(self, sample: Sample) -> float:
        return self.rate(sample.values[0]) if sample.key == f"{self.name} text" else 0.0

    def read(self, units: Iterable[Unit]) -> Iterator[Message | Unit]:
        for unit in units:
            yield from self._messages(unit) if isinstance(unit.value, str) else [unit]

    def _messages(self, unit: Unit) -> Iterator[Message | Unit]:
        """What lies between two messages leads the second; what follows the last one is carried."""
        end, start, ordinal = 0, unit.start, unit.ordinal
        for first, last in self.stretches(unit.text):
            lead, text = unit.text[end:first], unit.text[first:last]
            start += byte_length(lead)
            yield self.message("", (Fragment(ordinal, lead, text, None, start),))
            end, start, ordinal = last, start + byte_length(text), ordinal + 1
        if end < len(unit.text):
            yield Unit(ordinal, "", unit.text[end:], None, start)

    def write(self, message: Message, style: Style) -> tuple[Fragment, ...]:
        """The source of a message that is as it was. Raises Refused for every other message."""
        if message.source and self.message(message.role, message.source) == message:
            return message.source
        raise Refused(refusal(self))

    def losses(self, message: Message) -> tuple[str, ...]:
        return (refusal(self),)


def said(
    word: str, parts: Iterable[Part], source: tuple[Fragment, ...], roles: Mapping[str, Role] = ROLES
) -> Message:
    """The message of the role that the document calls `word`; no word is the model's."""
    role = roles.get(word) or ROLES.get(word.lower(), word or AI)
    label = "" if word in ("", _WORDS.get(role)) else word
    return Message(role, tuple(replace(part, origin=place) for place, part in enumerate(parts)), source=source, label=label)


def spoken(word: str, content: str) -> tuple[Part, ...]:
    """What a text of that role says. Nothing names the call that a result answers."""
    if ROLES.get(word) == TOOL:
        return (ToolResult("", "", content),)
    return (Text(content),) if content else ()
