"""Aider's chat history (`.aider.chat.history.md`): what a person typed behind `#### `, aider's own notes behind `> `, what the
model answered as it is. Each session is a chain; notes are no messages (aider `utils.split_chat_history_markdown`)."""

from __future__ import annotations

import re
from collections.abc import Iterator

from chainviz.core.chain.messages import Fragment, Message, Role, Text
from chainviz.core.documents.source import Source
from chainviz.core.documents.unit_reader import RAW_LIMIT
from chainviz.core.documents.units import FoundList, Span
from chainviz.core.formats.read_only import HEAD, ReadOnly, said

_SESSION = re.compile(r"^# aider chat started at ([^\n]*)$", re.MULTILINE)
_SESSION_BYTES = re.compile(_SESSION.pattern.encode(), re.MULTILINE)
_PARAGRAPHS = re.compile(r"(?:^####(?: [^\n]*)?$\n?)+|(?:^>(?: [^\n]*)?$\n?)+|(?:^(?!(?:####|>)(?: |$))[^\n]*\n?)+", re.MULTILINE)


class Aider(ReadOnly):
    name = "aider"
    label = "aider chat history"
    tested_with = "documentation of aider"

    def rate(self, head: str) -> float:
        return 0.97 if _SESSION.search(head) else 0.0

    def find(self, source: Source) -> tuple[FoundList, ...]:
        start = 3 if source.bom else 0
        if source.size > RAW_LIMIT or not self.rate(source.text(start, HEAD)):
            return ()
        text = source.read(0, source.size)
        heads = list(_SESSION_BYTES.finditer(text))
        ends = [*(head.start() for head in heads[1:]), len(text)]
        spans = [(head, end) for head, end in zip(heads, ends, strict=True) if b"\n#### " in text[head.end() : end]]
        return tuple(self._found(head, end, place, len(spans)) for place, (head, end) in enumerate(spans))

    def _found(self, head: re.Match[bytes], end: int, place: int, count: int) -> FoundList:
        name = head[1].decode("utf-8", "replace").strip()
        region = Span(head.start() if count > 1 else 0, end)
        title = f"session {place + 1} · {name}" if count > 1 else ""
        sample = self.sample(head[0].decode("utf-8", "replace"))
        return FoundList((place,) if count > 1 else (), title, region, head.start(), end, lines=True, raw=True, sample=sample)

    def stretches(self, text: str) -> Iterator[tuple[int, int]]:
        begin = _SESSION.match(text)
        for paragraph in _PARAGRAPHS.finditer(text, begin.end() + 1 if begin else 0):
            said_here = paragraph[0].strip()
            if said_here and not _is_note(said_here):
                start = paragraph.start() + len(paragraph[0]) - len(paragraph[0].lstrip())
                yield start, start + len(said_here)

    def message(self, role: Role, source: tuple[Fragment, ...]) -> Message:
        text = source[0].text
        if not text.startswith("####"):
            return said("assistant", (Text(text),), source)
        lines = (line.removeprefix("####").removeprefix(" ").removesuffix("  ") for line in text.split("\n"))
        return said("user", (Text("\n".join(lines)),), source)


def _is_note(text: str) -> bool:
    return text == ">" or text.startswith("> ")
