"""A pasted ReAct log: its lines with what each becomes, and the chains it would be imported as."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from chainviz.chains.parse.source_lines import Labels, SourceWindow, source_window
from chainviz.chains.render.visible_text import marks, one_line
from chainviz.chains.uploads.imports import ChoiceView, choices_of
from chainviz.core.chain.messages import AI, HUMAN, SYSTEM, TOOL, Message, byte_size, text_of
from chainviz.core.counts import count_text
from chainviz.core.documents.source import open_source
from chainviz.core.formats import get_format
from chainviz.core.formats.frameworks.react_log import ReactLog
from chainviz.core.formats.frameworks.react_steps import (
    ACTION,
    ANSWER,
    OBSERVATION,
    QUESTION,
    THOUGHT,
    is_finish,
    is_readable,
    keys,
    reflections,
)
from chainviz.core.formats.offers import LIKELY
from chainviz.core.load import LoadedChain, load_source
from chainviz.core.text_formats.contract import FoundSection, IgnoredRange, ParsedText

USUAL = ReactLog()
MOST_CHAINS, MOST_MESSAGES = 20, 30
"""The most chains and messages that are shown at once; all are imported."""
HUES = {
    "system": "section-5", "human": "section-3", "AI text": "section-1", "tool call": "section-2", "answer": "section-2",
    "not a call": "problem", "tool result": "section-4", "outcome": "ok",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class MessageLine:
    role: str
    name: str
    text: str
    size: int
    is_no_call: bool


@dataclass(frozen=True, slots=True)
class LogChain:
    title: str
    outcome: str
    is_correct: bool
    messages: tuple[MessageLine, ...]
    messages_left: int


@dataclass(frozen=True, slots=True)
class ReactPage:
    format: str
    choices: Sequence[ChoiceView]
    source: SourceWindow
    size: int
    chains: tuple[LogChain, ...]
    chains_left: int
    chain_count: int
    thoughts: int
    calls: int
    answers: int
    not_calls: int
    ignored: str


def react_page(text: str, format: str, first_line: int = 0) -> ReactPage | None:
    """Read a text as a ReAct log; None for other texts. `format` contains the choices for reading a log."""
    chosen = get_format(format) if format else USUAL
    form = chosen if isinstance(chosen, ReactLog) else USUAL
    chains = _chains(text, form)
    if not chains:
        return None
    steps = list(_steps(text, chains, form))
    counts = Counter(step.name for step in steps)
    ignored = tuple(_gaps(text, steps))
    shown = tuple(_chain(chain, number) for number, chain in enumerate(chains[:MOST_CHAINS], 1))
    labels = Labels([step.name for step in steps], [(1, 1)] * len(steps), [HUES[step.name] for step in steps])
    return ReactPage(
        format=form.name,
        choices=choices_of(form.name),
        source=source_window(text, ParsedText(tuple(steps), ignored), labels, first_line),
        size=byte_size(text),
        chains=shown,
        chains_left=len(chains) - len(shown),
        chain_count=len(chains),
        thoughts=counts["AI text"],
        calls=counts["tool call"],
        answers=counts["answer"],
        not_calls=counts["not a call"],
        ignored=_ignored_words(text, ignored),
    )


def _chains(text: str, form: ReactLog) -> list[LoadedChain]:
    if not {THOUGHT, ACTION} <= {key.word for key in keys(text)}:
        return []
    with open_source(text.encode("utf-8", "surrogatepass")) as source:
        found = form.find(source)
        return load_source(source, form.name) if found and form.confidence(found[0].sample) >= LIKELY else []


def _steps(text: str, chains: Sequence[LoadedChain], form: ReactLog) -> Iterator[FoundSection]:
    """Yield the lines of every message and outcome, each named by what it becomes."""
    place, unit = 0, -1
    for message in (message for chain in chains for message in chain.messages):
        for fragment in message.source:
            start = text.find(fragment.text, place)
            if start < 0 or fragment.start == unit:
                continue
            unit = fragment.start
            place = start + len(fragment.text)
            end, reflected = reflections(fragment.text)
            found = keys(fragment.text[:end])
            ends = [*(key.start for key in found[1:]), end]
            for key, stop in zip(found, ends, strict=True):
                outer_end = start + len(fragment.text[:stop].rstrip())
                name = "human" if key.word == QUESTION else _name(key.word, message, fragment.text, form)
                yield FoundSection(name, text, start + key.end, outer_end, start + key.start, outer_end)
            if end < len(fragment.text) and message.role == SYSTEM:
                yield FoundSection("system", text, start + reflected, place, start + end, place)


def _name(word: str, message: Message, step: str, form: ReactLog) -> str:
    """Return what a line with this first word becomes."""
    if word == ACTION and not is_readable(step):
        return "not a call"
    if word == ACTION and is_finish(step) and not form.how.finish_calls:
        return "answer"
    if word == ACTION:
        return "tool call" if message.calls else "AI text"
    if message.role == AI:
        return "AI text" if word == THOUGHT else "outcome"
    if word == ANSWER:
        return "outcome"
    return "tool result" if word == OBSERVATION and message.role == TOOL else "human"


def _gaps(text: str, steps: Sequence[FoundSection]) -> Iterator[IgnoredRange]:
    """Yield the ranges that belong to no step, without the white space around them."""
    place = 0
    for start, end in [*((step.outer_start, step.outer_end) for step in steps), (len(text), len(text))]:
        between = text[place:start]
        if between.strip():
            begin = place + len(between) - len(between.lstrip())
            yield IgnoredRange(begin, place + len(between.rstrip()))
        place = end


def _ignored_words(text: str, ignored: Sequence[IgnoredRange]) -> str:
    lines = sum(text.count("\n", each.start, each.end) + 1 for each in ignored)
    return count_text(lines, "line") if lines else "nothing"


def _chain(chain: LoadedChain, number: int) -> LogChain:
    question = next((message for message in chain.messages if message.role == HUMAN), None)
    title = one_line(text_of(question), 120) if question else f"{QUESTION} {number}"
    outcome = next((message.note for message in reversed(chain.messages) if message.note), "")
    views = tuple(_message(message) for message in chain.messages[:MOST_MESSAGES])
    return LogChain(
        marks(title), marks(one_line(outcome, 80)), "correct" in outcome.lower() and "incorrect" not in outcome.lower(),
        views, len(chain.messages) - len(views),
    )  # fmt: skip


def _message(message: Message) -> MessageLine:
    role = message.role
    names = {SYSTEM: "System", HUMAN: "Human", AI: "AI", TOOL: "Result"}
    call = next(iter(message.calls), None)
    step = message.source[0].text if message.source else ""
    is_no_call = message.role == AI and any(key.word == ACTION for key in keys(step)) and not is_readable(step)
    result = next((part.content for part in message.parts if hasattr(part, "content")), "")
    text = marks(one_line(text_of(message) or str(result), 160))
    return MessageLine("tool" if call else role, marks(call.name) if call else names[role], text, message.size, is_no_call)
