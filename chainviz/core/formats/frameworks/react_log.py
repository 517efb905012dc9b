"""ReAct logs, plain text: `Question:`, `Thought 1:`, `Action 1: Search[x]`, `Observation 1:` (as reflexion writes them).

Each question that follows a blank line begins a chain. A line without a key continues the one above. `Reflections:` below
a question are a system message before it. `Finish[x]` is the answer; what follows it (`Answer is CORRECT`,
`Correct answer: …`) is its outcome, no message. An action that is none stays text, and its observation is a human message.
Separator lines and blank lines between chains belong to no chain. What results, `Finish` and reflections become can be chosen.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace

from chainviz.core.chain.messages import AI, HUMAN, NEW, SYSTEM, TOOL, Fragment, Message, Role, Text, ToolCall, ToolResult, text_of
from chainviz.core.dialects.losses import TEXTS_JOIN, has_several_texts
from chainviz.core.dialects.values import reasoning_of
from chainviz.core.documents.json.scan import byte_length
from chainviz.core.documents.source import CHUNK, Source
from chainviz.core.documents.units import FoundList, Sample, Span, Unit
from chainviz.core.formats.contract import Choice, Format, Style
from chainviz.core.formats.frameworks import react_steps
from chainviz.core.formats.frameworks.react_steps import ACTION, ANSWER, OBSERVATION, QUESTION, SEPARATOR, THOUGHT, Reading

_STEP_LINE = re.compile(rb"(?:Thought|Action|Observation)(?: \d+)?:")
_BEGINS = re.compile(r"\s*(?:Question|(?:Thought|Action|Observation) \d+): ")
"""The beginning of a log that is too short for other checks."""
_ANSWERS = re.compile(r"^Answer:", re.MULTILINE)
"""A line of texts with questions and answers, which are not logs."""
_SEPARATOR = re.compile(SEPARATOR.encode())
_ROLE_STEPS = {AI: (THOUGHT, ACTION), TOOL: (OBSERVATION,)}
_OTHER_STEPS = (QUESTION, OBSERVATION)
_ASKED, _REFLECTED = (0,), (1,)
"""The blocks of a question's step."""
CHOICES = (
    Choice("results", "Results become", (("tool", "Tool messages"), ("text", "Text observations"))),
    Choice("finish", "Finish becomes", (("answer", "The answer"), ("call", "A tool call"))),
    Choice("reflections", "Reflections become", (("system", "A system message"), ("omit", "Left out"))),
)
USUAL = Reading()
HEAD = 1 << 14
"""The number of bytes that are searched to recognise a log."""


class ReactLog(Format):
    name = "react_log"
    label = "ReAct log"
    tested_with = "reflexion"
    blocks_at = ()
    lines = True
    results_in_calls = True
    choices = CHOICES

    def __init__(self, how: Reading = USUAL) -> None:
        self.how = how
        unusual = {"text": how.text_results, "call": how.finish_calls, "omit": how.no_reflections}
        values = ",".join(value for value, is_chosen in unusual.items() if is_chosen)
        self.name = f"react_log:{values}" if values else "react_log"

    def chosen(self, values: Collection[str]) -> ReactLog:
        return ReactLog(Reading("text" in values, "call" in values, "omit" in values))

    def find(self, source: Source) -> tuple[FoundList, ...]:
        head = source.text(3 if source.bom else 0, HEAD)
        regions = list(_regions(source)) if react_steps.keys(head) else []
        # a chain alone may be too short to tell
        sample = Sample((head,), {}, lines=True)
        return tuple(_list_of(source, place, regions, sample) for place in range(len(regions)))

    def confidence(self, sample: Sample) -> float:
        texts = [value for value in sample.values if isinstance(value, str)]
        words = {key.word for text in texts for key in react_steps.keys(text)}
        if {THOUGHT, ACTION} <= words:
            return 0.95
        return 0.5 if any(_BEGINS.match(text) and not _ANSWERS.search(text) for text in texts) else 0.0

    def read(self, units: Iterable[Unit]) -> Iterator[Message | Unit]:
        for unit in units:
            yield from self._messages(unit)

    def _messages(self, unit: Unit) -> Iterator[Message | Unit]:
        """Yield the messages of one chain; other steps are yielded as units."""
        answer: list[Fragment] = []
        is_called = False
        for word, step in _steps(unit):
            if answer and word in (OBSERVATION, ANSWER):
                answer.append(step.fragment())
                continue
            if answer:
                yield self.message(AI, tuple(answer))
                answer = []
            if word == QUESTION:
                yield from self._question(step)
            elif word in (THOUGHT, ACTION) and not self.how.finish_calls and react_steps.is_finish(step.text):
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

    def _question(self, step: Unit) -> Iterator[Message]:
        if self.how.no_reflections or react_steps.reflections(step.text)[0] == len(step.text):
            yield self.message(HUMAN, (step.fragment(),))
        else:
            yield self.message(SYSTEM, (replace(step.fragment(), blocks=_REFLECTED),))
            yield self.message(HUMAN, (replace(step.fragment(), blocks=_ASKED),))

    def message(self, role: Role, source: tuple[Fragment, ...]) -> Message:
        """Only of an observation the step does not say the role."""
        word = react_steps.word_of(source[0].text)
        is_reflected = role == SYSTEM and source[0].blocks == _REFLECTED
        role = AI if word in (THOUGHT, ACTION) else TOOL if role == TOOL and word == OBSERVATION else HUMAN
        role = SYSTEM if is_reflected else role
        parts = tuple(leaf.part for leaf in react_steps.leaves(role, source[0].text, self.how))
        return Message(role, parts, source=source, note=_outcome(source[1:]))

    def write(self, message: Message, style: Style) -> tuple[Fragment, ...]:
        if not message.source:
            return (Fragment(NEW, "", react_steps.new_step(message)),)
        first, *rest = message.source
        fits = react_steps.word_of(first.text) in _ROLE_STEPS.get(message.role, _OTHER_STEPS)
        text = (react_steps.patched(message, first.text, self.how) if fits else None) or react_steps.new_step(message)
        return (first.with_text(text), *rest)

    def join(self, fragments: Sequence[Fragment]) -> str:
        """A question's step of what the human and the system message own of it."""
        asked, reflected = (next((each.text for each in fragments if each.blocks == blocks), "") for blocks in (_ASKED, _REFLECTED))
        question = asked[: react_steps.reflections(asked)[0]]
        return question + reflected[react_steps.reflections(reflected)[0] :] if reflected else question.rstrip()

    def losses(self, message: Message) -> tuple[str, ...]:
        lost = []
        if message.role not in (HUMAN, AI, TOOL):
            lost.append(f"a message with the role {message.role[:40]} becomes a question")
        if any(not isinstance(part, Text | ToolCall | ToolResult) for part in message.parts):
            lost.append("only texts, calls and results are kept")
        elif reasoning_of(message):
            lost.append("reasoning is left out")
        if text_of(message) != text_of(self.message(message.role, (Fragment(NEW, "", react_steps.new_step(message)),))):
            lost.append("a text loses white space at its ends, or lines that begin like a step")
        if any(isinstance(part, ToolCall) and re.search(react_steps.NO_NAME, part.name) for part in message.parts):
            lost.append("white space and brackets in the name of a tool become underscores")
        if any(isinstance(part, ToolCall) and not part.name for part in message.parts):
            lost.append("a call without a name becomes text, and its result a question")
        if has_several_texts(message.parts):
            lost.append(TEXTS_JOIN)
        if any(isinstance(part, ToolCall | ToolResult) for part in message.parts):
            lost.append("call ids become numbers, and results are not marked as errors")
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
    """Yield lines with their line breaks, each with its offset."""
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


def _list_of(source: Source, place: int, regions: Sequence[tuple[int, int, int]], sample: Sample) -> FoundList:
    start, end, region_end = regions[place]
    question = source.text(start, min(end, start + HEAD)).partition("\n")[0].removeprefix(f"{QUESTION}:").strip()
    title = f"question {place + 1} · {question[:60]}" if len(regions) > 1 else ""
    pointer = (place,) if len(regions) > 1 else ()
    return FoundList(pointer, title, Span(start, region_end), start, end, lines=True, raw=True, sample=sample)


def _steps(unit: Unit) -> Iterator[tuple[str, Unit]]:
    """Yield the unit's steps as units of their own, each with its first word."""
    place, start = 0, unit.start
    for ordinal, step in enumerate(react_steps.steps(unit.text)):
        lead, text = unit.text[place : step.start], unit.text[step.start : step.end]
        start += byte_length(lead)
        yield step.word, Unit(ordinal, lead, text, None, start)
        place, start = step.end, start + byte_length(text)


def _outcome(fragments: tuple[Fragment, ...]) -> str:
    """Return the outcome of the answer in the log."""
    said = []
    for fragment in fragments:
        text = react_steps.leaves(HUMAN, fragment.text, USUAL)[0].part
        assert isinstance(text, Text)
        is_answer = react_steps.word_of(fragment.text) == ANSWER
        said.append(f"correct answer: {text.text}" if is_answer else text.text)
    return "; ".join(said)
