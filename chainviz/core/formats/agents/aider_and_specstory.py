"""Chat histories in Markdown: those of aider, and those that SpecStory keeps of other agents."""

from __future__ import annotations

import re
from collections.abc import Iterator

from chainviz.core.chain.messages import Fragment, Message, Part, Role, Text, Thinking, ToolCall, ToolResult
from chainviz.core.documents.json.edit import dump
from chainviz.core.documents.source import Source
from chainviz.core.documents.unit_reader import RAW_LIMIT
from chainviz.core.documents.units import FoundList, Span
from chainviz.core.formats.read_only import HEAD, ReadOnly, make_message

_SESSION = re.compile(r"^# aider chat started at ([^\n]*)$", re.MULTILINE)
_SESSION_BYTES = re.compile(_SESSION.pattern.encode(), re.MULTILINE)
_PARAGRAPHS = re.compile(r"(?:^####(?: [^\n]*)?$\n?)+|(?:^>(?: [^\n]*)?$\n?)+|(?:^(?!(?:####|>)(?: |$))[^\n]*\n?)+", re.MULTILINE)


class Aider(ReadOnly):
    """Aider's chat history (`.aider.chat.history.md`): what a person typed behind `#### `, aider's own notes behind `> `, what
    the model answered as it is. Each session is a chain; notes are no messages (aider `utils.split_chat_history_markdown`).
    """

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
        return tuple(self._list_of(head, end, place, len(spans)) for place, (head, end) in enumerate(spans))

    def _list_of(self, head: re.Match[bytes], end: int, place: int, count: int) -> FoundList:
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
            return make_message("assistant", (Text(text),), source)
        lines = (line.removeprefix("####").removeprefix(" ").removesuffix("  ") for line in text.split("\n"))
        return make_message("user", (Text("\n".join(lines)),), source)


def _is_note(text: str) -> bool:
    return text == ">" or text.startswith("> ")


_TURN = re.compile(r"^_\*\*(?P<who>User|Agent|Assistant|)(?P<more>[^*\n]*)\*\*_[ \t\r]*$", re.MULTILINE)
_TOOL = re.compile(r"<tool-use\b(?P<head>[^>]*)>(?P<body>.*?)</tool-use>", re.DOTALL)
_OPEN_TOOL = re.compile(r"<tool-use\b(?P<head>[^>]*)>(?P<body>.*)\Z", re.DOTALL)
_NAME = re.compile(r'data-tool-name="([^"]*)"')
_FENCE = re.compile(r"^(?P<ticks>`{3,})[^\n`]*\n.*?^(?P=ticks)[ \t\r]*$", re.MULTILINE | re.DOTALL)
_THOUGHT = re.compile(r"<think>(?:<details>\s*)?(?:<summary>[^<]*</summary>)?(.*?)</think>", re.DOTALL)
_MARKUP = re.compile(r"</?(?:details|summary|tool-use)\b[^>]*>")
_RULE = re.compile(r"\s*(?:^---[ \t\r]*$\s*)+\Z", re.MULTILINE)


class SpecStory(ReadOnly):
    """Histories that SpecStory keeps of other agents (`.specstory/history/….md`): Markdown with a line that names the speaker
    of a turn. A tool is an element `<tool-use>`: what comes before its last block of code is the call, that block is what
    the tool returned.
    """

    name = "specstory"
    label = "SpecStory history"
    tested_with = "Markdown of SpecStory 1.0 to 2.1"

    def rate(self, head: str) -> float:
        turns = {turn["who"] for turn in _TURN.finditer(head)}
        return 0.97 if "User" in turns and ("SpecStory" in head or len(turns) > 1) else 0.0

    def stretches(self, text: str) -> Iterator[tuple[int, int]]:
        heads = [turn.start() for turn in _TURN.finditer(text)]
        for start, end in zip(heads, [*heads[1:], len(text)], strict=True):
            for tool in _TOOL.finditer(text, start, end):
                middle = _result_start(tool)
                yield from _trimmed(text, start, middle)
                yield middle, tool.end()
                start = tool.end()
            yield from _trimmed(text, start, end)

    def message(self, role: Role, source: tuple[Fragment, ...]) -> Message:
        text = source[0].text
        turn = _TURN.match(text)
        if turn is None and not text.startswith("<tool-use") and text.rstrip().endswith("</tool-use>"):
            return make_message("tool", [ToolResult("", "", _output(text))], source)
        word = "user" if turn is not None and turn["who"] == "User" else "assistant"
        body = text[turn.end() :] if turn is not None else text
        return make_message(word, list(_parts(body)) if word == "assistant" else [Text(body.strip())], source)


def _result_start(tool: re.Match[str]) -> int:
    """Return where the result of a tool begins in the text: its last block of code, or its closing tags."""
    fences = list(_FENCE.finditer(tool["body"]))
    if fences:
        return tool.start("body") + fences[-1].start()
    return tool.start("body") + len(tool["body"].removesuffix("</details>"))


def _trimmed(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield the range without white space and rules around it; nothing if it is empty then."""
    rule = _RULE.search(text, start, end)
    content = text[start : rule.start() if rule else end]
    begin = start + len(content) - len(content.lstrip())
    if content.strip():
        yield begin, begin + len(content.strip())


def _parts(body: str) -> Iterator[Part]:
    """Yield texts, thoughts, and the call of a tool, whose element continues in the result."""
    opened = _OPEN_TOOL.search(body)
    place, end = 0, opened.start() if opened else len(body)
    for thought in _THOUGHT.finditer(body, 0, end):
        if body[place : thought.start()].strip():
            yield Text(body[place : thought.start()].strip())
        yield Thinking(_MARKUP.sub("", thought[1]).strip())
        place = thought.end()
    if body[place:end].strip():
        yield Text(body[place:end].strip())
    if opened:
        name = _NAME.search(opened["head"])
        yield ToolCall("", name[1] if name else "tool", dump({"input": _MARKUP.sub("", opened["body"]).strip()}))


def _output(text: str) -> str:
    """Return the output of a tool without the marks of the block of code."""
    fence = _FENCE.match(text)
    return "\n".join(fence[0].split("\n")[1:-1]) if fence else _MARKUP.sub("", text).strip()
