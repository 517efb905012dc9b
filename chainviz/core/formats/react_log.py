"""ReAct logs, plain text: `Question:`, `Thought 1:`, `Action 1: Search[x]`, `Observation 1:` (as reflexion writes them).

Each question that follows a blank line begins a chain. A line without a key continues the one above. `Finish[x]` is the
answer; what follows it (`Answer is CORRECT`, `Correct answer: …`) is its outcome, no message. An action that is none stays
text, and its observation is a human message. Separator lines and blank lines between chains belong to no chain.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from chainviz.core.chain.messages import (
    AI,
    HUMAN,
    NEW,
    TOOL,
    Fragment,
    Message,
    Role,
    Text,
    ToolCall,
    ToolResult,
    text_of,
)  # fmt: skip
from chainviz.core.dialects.frameworks import react_steps
from chainviz.core.dialects.frameworks.react_steps import ACTION, ANSWER, OBSERVATION, QUESTION, SEPARATOR, THOUGHT
from chainviz.core.dialects.patching import reasoning_of
from chainviz.core.documents.json.scan import byte_length
from chainviz.core.documents.source import CHUNK, Source
from chainviz.core.documents.units import FoundList, Sample, Span, Unit
from chainviz.core.formats.contract import Format, Style

_STEP_LINE = re.compile(rb"(?:Thought|Action|Observation)(?: \d+)?:")
_SEPARATOR = re.compile(SEPARATOR.encode())
_ROLE_STEPS = {AI: (THOUGHT, ACTION), TOOL: (OBSERVATION,)}
_OTHER_STEPS = (QUESTION, OBSERVATION)
HEAD = 1 << 14
"""Bytes that tell whether a text is a log."""


class ReactLog(Format):
    name = "react_log"
    label = "ReAct log"
    tested_with = "reflexion"
    blocks_at = ()
    lines = True
    packs = False

    def find(self, source: Source) -> tuple[FoundList, ...]:
        head = source.text(3 if source.bom else 0, HEAD)
        regions = list(_regions(source)) if react_steps.keys(head) else []
        # a chain alone may be too short to tell
        sample = Sample((head,), {}, lines=True)
        return tuple(_found(source, place, regions, sample) for place in range(len(regions)))

    def confidence(self, sample: Sample) -> float:
        words = {key.word for value in sample.values if isinstance(value, str) for key in react_steps.keys(value)}
        return 0.95 if {THOUGHT, ACTION} <= words else 0.0

    def read(self, units: Iterable[Unit]) -> Iterator[Message | Unit]:
        for unit in units:
            yield from self._messages(unit)

    def _messages(self, unit: Unit) -> Iterator[Message | Unit]:
        """The messages of one chain; steps that are none come back as units."""
        answer: list[Fragment] = []
        is_called = False
        for word, step in _steps(unit):
            if answer and word in (OBSERVATION, ANSWER):
                answer.append(step.fragment())
                continue
            if answer:
                yield self.message(AI, tuple(answer))
                answer = []
            if word in (THOUGHT, ACTION) and react_steps.is_finish(step.text):
                answer = [step.fragment()]
            elif word in (THOUGHT, ACTION):
                message = self.message(AI, (step.fragment(),))
                is_called = bool(message.calls)
                yield message
            elif word == ANSWER:
                yield step
            else:
                yield self.message(TOOL if word == OBSERVATION and is_called else HUMAN, (step.fragment(),))
        if answer:
            yield self.message(AI, tuple(answer))

    def message(self, role: Role, source: tuple[Fragment, ...]) -> Message:
        """Only of an observation the step does not say the role."""
        word = react_steps.word_of(source[0].text)
        role = AI if word in (THOUGHT, ACTION) else TOOL if role == TOOL and word == OBSERVATION else HUMAN
        parts = tuple(leaf.part for leaf in react_steps.leaves(role, source[0].text))
        return Message(role, parts, source=source, note=_outcome(source[1:]))

    def write(self, message: Message, style: Style) -> tuple[Fragment, ...]:
        if not message.source:
            return (Fragment(NEW, "", react_steps.new_step(message)),)
        first, *rest = message.source
        fits = react_steps.word_of(first.text) in _ROLE_STEPS.get(message.role, _OTHER_STEPS)
        text = (react_steps.patched(message, first.text) if fits else None) or react_steps.new_step(message)
        return message.source if text == first.text else (Fragment(first.ordinal, first.lead, text), *rest)

    def losses(self, message: Message) -> tuple[str, ...]:
        lost = []
        if message.role not in (HUMAN, AI, TOOL):
            lost.append(f"a message of the role {message.role[:40]} becomes a question")
        if any(not isinstance(part, Text | ToolCall | ToolResult) for part in message.parts):
            lost.append("only texts, calls and results are kept")
        elif reasoning_of(message):
            lost.append("reasoning is left out")
        if text_of(message) != text_of(self.message(message.role, (Fragment(NEW, "", react_steps.new_step(message)),))):
            lost.append("a text loses white space at its ends, or lines that begin like a step")
        if any(isinstance(part, ToolCall | ToolResult) for part in message.parts):
            lost.append("call ids become numbers, and results have no mark for errors")
        return tuple(lost)


def _regions(source: Source) -> Iterator[tuple[int, int, int]]:
    """Start of each chain, its end without and with the last line break."""
    start, end, region_end = -1, 0, 0
    after_blank, is_closed = True, False
    for offset, line in _lines(source):
        is_question = line.startswith(b"Question:") and after_blank
        if is_question or (start < 0 and _STEP_LINE.match(line)):
            if start >= 0:
                yield start, end, region_end
            start, is_closed = offset, False
        is_blank = not line.strip() or _SEPARATOR.match(line) is not None
        if not is_blank and not is_closed:
            end, region_end = offset + len(line.rstrip(b"\r\n")), offset + len(line)
        is_closed = is_closed or line.startswith(b"Correct answer:")
        after_blank = is_blank
    if start >= 0:
        yield start, end, region_end


def _lines(source: Source) -> Iterator[tuple[int, bytes]]:
    """Lines with their ends, each with its offset."""
    offset = 3 if source.bom else 0
    rest = b""
    for start in range(offset, source.size, CHUNK):
        lines = (rest + source.read(start, min(start + CHUNK, source.size))).splitlines(keepends=True)
        rest = b"" if lines[-1].endswith(b"\n") else lines.pop()
        for line in lines:
            yield offset, line
            offset += len(line)
    if rest:
        yield offset, rest


def _found(source: Source, place: int, regions: Sequence[tuple[int, int, int]], sample: Sample) -> FoundList:
    start, end, region_end = regions[place]
    question = source.text(start, min(end, start + HEAD)).partition("\n")[0].removeprefix(f"{QUESTION}:").strip()
    title = f"question {place + 1} · {question[:60]}" if len(regions) > 1 else ""
    pointer = (place,) if len(regions) > 1 else ()
    return FoundList(pointer, title, Span(start, region_end), start, end, lines=True, raw=True, sample=sample)


def _steps(unit: Unit) -> Iterator[tuple[str, Unit]]:
    """The unit's steps as units of their own, each with its first word."""
    place, start = 0, unit.start
    for ordinal, step in enumerate(react_steps.steps(unit.text)):
        lead, text = unit.text[place : step.start], unit.text[step.start : step.end]
        start += byte_length(lead)
        yield step.word, Unit(ordinal, lead, text, None, start)
        place, start = step.end, start + byte_length(text)


def _outcome(fragments: tuple[Fragment, ...]) -> str:
    """What the log says of the answer."""
    said = []
    for fragment in fragments:
        text = react_steps.leaves(HUMAN, fragment.text)[0].part
        assert isinstance(text, Text)
        is_answer = react_steps.word_of(fragment.text) == ANSWER
        said.append(f"correct answer: {text.text}" if is_answer else text.text)
    return "; ".join(said)
