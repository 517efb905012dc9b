"""Chats as plain text: roles before paragraphs, few-shot strings, and raw text that no other format reads."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from itertools import pairwise

from chainviz.core.chain.messages import AI, HUMAN, NEW, Fragment, Message, Opaque, Role, Text, text_of
from chainviz.core.documents.detection.detect import raw_list
from chainviz.core.documents.source import Source
from chainviz.core.documents.unit_reader import RAW_LIMIT
from chainviz.core.documents.units import FoundList, Sample, Span, Unit
from chainviz.core.formats.contract import Format, Style
from chainviz.core.formats.read_only import HEAD, ROLES, ReadOnly, make_message, spoken

_ROLE = f"({'|'.join(ROLES)})"
_HEADING = rf"#{{1,6}}[ \t]+[^\w\n]{{0,6}}{_ROLE}\b[^\w\n]*$"
_BOLD = rf"\*\*[^\w\n]{{0,6}}{_ROLE}[ \t]*(?::\*\*|\*\*:)"
_ROLE_MARKER = re.compile(rf"^(?:{_HEADING}|{_BOLD})", re.MULTILINE | re.IGNORECASE)
_PREFIX = re.compile(rf"^{_ROLE}:(?= |$)", re.MULTILINE | re.IGNORECASE)
_FENCE = re.compile(r"^(```+|~~~+)[^\n]*$.*?(?:^\1[ \t]*$|\Z)", re.MULTILINE | re.DOTALL)
_END = re.compile(r"\s*(?:^-{3,}\s*)?\Z", re.MULTILINE)
"""The separator of two messages: white space and a horizontal rule."""


class RoleText(ReadOnly):
    """Chats kept as text, each message behind the name of its role: Markdown headings (`## User`), bold names (`**User:**`) or
    plain prefixes (`user: `). The last resort for a text: both a person and a model must speak in it.
    """

    name = "role_text"
    label = "Chat as Markdown or text"
    tested_with = "any"

    def rate(self, head: str) -> float:
        roles = {ROLES[_word(marker)] for marker in _markers(head)}
        return 0.6 if {HUMAN, AI} <= roles else 0.0

    def stretches(self, text: str) -> Iterator[tuple[int, int]]:
        starts = [marker.start() for marker in _markers(text)]
        for start, end in pairwise([*starts, len(text)]):
            message = text[start:end]
            gap = _END.search(message)
            yield start, start + (gap.start() if gap else len(message))

    def message(self, role: Role, source: tuple[Fragment, ...]) -> Message:
        text = source[0].text
        marker = _ROLE_MARKER.match(text) or _PREFIX.match(text)
        word = _word(marker) if marker else ""
        content = text[marker.end() if marker else 0 :].strip()
        return make_message(word, spoken(word, content), source)


def _word(marker: re.Match[str]) -> str:
    return next(group for group in marker.groups() if group).lower()


def _markers(text: str) -> list[re.Match[str]]:
    """Find where messages begin. Markers in code blocks do not count; plain prefixes do if the text begins with one."""
    if text.lstrip()[:1] in ("{", "["):
        return []
    start = len(text) - len(text.lstrip())
    pattern = _PREFIX if _PREFIX.match(text, start) else _ROLE_MARKER
    found = list(pattern.finditer(text))
    fences = [fence.span() for fence in _FENCE.finditer(text)] if (found and "```" in text) or "~~~" in text else []
    return [marker for marker in found if not any(first < marker.start() < last for first, last in fences)]


_FIRST = re.compile(rb'\s*\{\s*"[^"\\]{1,60}"\s*:\s*"(?:system|user|human): ')
_CHAT = re.compile(rb'"([^"\\]{1,60})"\s*:\s*"((?:system|user|human): (?:[^"\\]++|\\.)*+)"', re.DOTALL)
_SHOT_MARKER = re.compile(r"(?:^|(?<!\\)\\n)(system|user|human|assistant|ai|tool): ")
_ANSWER = re.compile(rb"(?<!\\)\\n(?:assistant|ai): ")
_NOTHING = "None"


class FewShot(ReadOnly):
    """Few-shot examples: a whole chat as one JSON string, each message behind its role (`"user: hi\nassistant: hello"`, as
    tau-bench keeps them). Calls are not in it: an assistant message of which only a call was made reads `None`.
    """

    name = "few_shot"
    label = "Few-shot chat in a string"
    tested_with = "tau-bench"

    def rate(self, head: str) -> float:
        return 0.9 if len(_SHOT_MARKER.findall(head)) > 1 and not head.startswith("{") else 0.0

    def find(self, source: Source) -> tuple[FoundList, ...]:
        start = 3 if source.bom else 0
        if source.size > RAW_LIMIT or not _FIRST.match(source.read(start, HEAD)):
            return ()
        text = source.read(0, source.size)
        chats = [chat for chat in _CHAT.finditer(text) if _ANSWER.search(chat[2])]
        return tuple(self._list_of(text, chat, place if len(chats) > 1 else -1) for place, chat in enumerate(chats))

    def _list_of(self, text: bytes, chat: re.Match[bytes], place: int) -> FoundList:
        key = chat[1].decode("utf-8", "replace")
        region = Span(0, len(text))
        if place >= 0:
            region = Span(*chat.span())
        sample = self.sample(chat[2][:HEAD].decode("utf-8", "replace"))
        pointer = (place, key) if place >= 0 else (key,)
        title = f"chat {place + 1}" if place >= 0 else ""
        return FoundList(pointer, title, region, *chat.span(2), lines=True, raw=True, sample=sample)

    def stretches(self, text: str) -> Iterator[tuple[int, int]]:
        starts = [marker.start(1) for marker in _SHOT_MARKER.finditer(text)]
        for start, end in pairwise([*starts, len(text) + 2]):
            yield start, end - 2  # the line break, as JSON spells it

    def message(self, role: Role, source: tuple[Fragment, ...]) -> Message:
        word, _, content = source[0].text.partition(": ")
        content = _string(content)
        return make_message(word, spoken(word, "" if word == "assistant" and content == _NOTHING else content), source)


def _string(content: str) -> str:
    try:
        return str(json.loads(f'"{content}"', strict=False))
    except ValueError:
        return content


class Raw(Format):
    """Raw text: what no format reads, kept as one human message that is the whole file."""

    packs = True
    name = "raw"
    label = "Raw text"
    tested_with = "any"
    blocks_at = ()
    lines = True

    def find(self, source: Source) -> tuple[FoundList, ...]:
        return (raw_list(source),)

    def confidence(self, sample: Sample) -> float:
        """Never detected: a person chooses it."""
        return 0.0

    def read(self, units: Iterable[Unit]) -> Iterator[Message | Unit]:
        for unit in units:
            source = (unit.fragment(),)
            yield Message(HUMAN, (Text(unit.text, origin=0),), source=source)

    def message(self, role: Role, source: tuple[Fragment, ...]) -> Message:
        return Message(HUMAN, (Text(source[0].text, origin=0),), source=source)

    def write(self, message: Message, style: Style) -> tuple[Fragment, ...]:
        text = text_of(message)
        if not message.source:
            return (Fragment(NEW, "", text),)
        first = message.source[0]
        return (first,) if first.text == text else (Fragment(first.ordinal, first.lead, text),)

    def losses(self, message: Message) -> tuple[str, ...]:
        lost = [] if message.role == HUMAN else ["roles are left out"]
        if any(not isinstance(part, Text | Opaque) for part in message.parts):
            lost.append("only text is kept")
        return tuple(lost)
