"""Few-shot examples: a whole chat as one JSON string, each message behind its role (`"user: hi\\nassistant: hello"`, as
tau-bench keeps them). Calls are not in it: an assistant message of which only a call was made reads `None`."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import pairwise

from chainviz.core.chain.messages import Fragment, Message, Role
from chainviz.core.documents.source import Source
from chainviz.core.documents.unit_reader import RAW_LIMIT
from chainviz.core.documents.units import FoundList, Span
from chainviz.core.formats.read_only import HEAD, ReadOnly, said, spoken

_FIRST = re.compile(rb'\s*\{\s*"[^"\\]{1,60}"\s*:\s*"(?:system|user|human): ')
_CHAT = re.compile(rb'"([^"\\]{1,60})"\s*:\s*"((?:system|user|human): (?:[^"\\]++|\\.)*+)"', re.DOTALL)
_MARKER = re.compile(r"(?:^|(?<!\\)\\n)(system|user|human|assistant|ai|tool): ")
_ANSWER = re.compile(rb"(?<!\\)\\n(?:assistant|ai): ")
_NOTHING = "None"


class FewShot(ReadOnly):
    name = "few_shot"
    label = "Few-shot chat in a string"
    tested_with = "tau-bench"

    def rate(self, head: str) -> float:
        return 0.9 if len(_MARKER.findall(head)) > 1 and not head.startswith("{") else 0.0

    def find(self, source: Source) -> tuple[FoundList, ...]:
        start = 3 if source.bom else 0
        if source.size > RAW_LIMIT or not _FIRST.match(source.read(start, HEAD)):
            return ()
        text = source.read(0, source.size)
        chats = [chat for chat in _CHAT.finditer(text) if _ANSWER.search(chat[2])]
        return tuple(self._found(text, chat, place if len(chats) > 1 else -1) for place, chat in enumerate(chats))

    def _found(self, text: bytes, chat: re.Match[bytes], place: int) -> FoundList:
        key = chat[1].decode("utf-8", "replace")
        region = Span(0, len(text))
        if place >= 0:
            region = Span(*chat.span())
        sample = self.sample(chat[2][:HEAD].decode("utf-8", "replace"))
        pointer = (place, key) if place >= 0 else (key,)
        title = f"chat {place + 1}" if place >= 0 else ""
        return FoundList(pointer, title, region, *chat.span(2), lines=True, raw=True, sample=sample)

    def stretches(self, text: str) -> Iterator[tuple[int, int]]:
        starts = [marker.start(1) for marker in _MARKER.finditer(text)]
        for start, end in pairwise([*starts, len(text) + 2]):
            yield start, end - 2  # the line break, as JSON spells it

    def message(self, role: Role, source: tuple[Fragment, ...]) -> Message:
        word, _, content = source[0].text.partition(": ")
        content = _string(content)
        return said(word, spoken(word, "" if word == "assistant" and content == _NOTHING else content), source)


def _string(content: str) -> str:
    try:
        return str(json.loads(f'"{content}"', strict=False))
    except ValueError:
        return content
