"""A pasted error on the page that fixes its session: the place of the error, the rule that it breaks, and the repairs that solve it."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

from chainviz.chains.explorer.pasted_error import located
from chainviz.chains.explorer.places import request_numbers
from chainviz.chains.explorer.subject import Subject
from chainviz.core.chain.messages import Message, Text, ToolCall, ToolResult
from chainviz.core.operations.repair.fixes import CHOICES
from chainviz.core.pasted_errors.locate import what_was_tried
from chainviz.core.pasted_errors.message import read_error

LONGEST = 4_000
"""The most characters of a pasted error."""
AROUND = 1
"""The number of messages that are shown before and after the place."""
SHOWN = 240
"""The most characters of a message that are shown."""


@dataclass(frozen=True, slots=True)
class Choice:
    name: str
    """The name of a repair; "" for all changes that the API requires."""
    label: str
    explanation: str
    is_chosen: bool


@dataclass(frozen=True, slots=True)
class Line:
    """A message around the place."""

    number: int | None
    """The number of the message in the request, from 0."""
    role: str
    text: str
    url: str
    is_place: bool


@dataclass(frozen=True, slots=True)
class PastedFix:
    error: str
    pieces: tuple[tuple[str, bool], ...]
    """The text of the error in pieces; True marks an id or a place that was found."""
    problem: str
    """The problem that the rules find at the place, as a sentence; "" if they find none."""
    url: str
    """The address of the place in the chain."""
    lines: tuple[Line, ...]
    before: int
    """The number of messages before the shown ones."""
    after: int
    choices: tuple[Choice, ...]
    tried: tuple[str, ...]


def pasted_fix(subject: Subject, text: str, only: str) -> PastedFix:
    error = read_error(text[:LONGEST])
    found = located(subject.stored, error)
    best = found.problems[0] if found.problems else None
    place = best.message if best else min(found.places.best, default=-1)
    names = [name for name in found.fixes if name in CHOICES]
    usual = Choice("", "All that the API requires", "The smallest set of changes after which the session can be resumed.", not only)
    choices = [usual, *(Choice(name, *CHOICES[name], name == only) for name in names)]
    first, last = max(0, place - AROUND), min(len(subject.stored), place + AROUND + 1)
    lines = _lines(subject, first, last, place) if place >= 0 else ()
    return PastedFix(
        error=error.text,
        pieces=_pieces(error.text, (*error.ids, *found.places.ids)),
        problem=best.text if best else "",
        url=f"{subject.base_url}at/{found.path}#{found.path.dom_id}" if found.path is not None else "",
        lines=lines,
        before=first if lines else 0,
        after=len(subject.stored) - last if lines else 0,
        choices=tuple(choices),
        tried=tuple(what_was_tried(error, found)) if found.is_guess or best is None else (),
    )


def _lines(subject: Subject, first: int, last: int, place: int) -> tuple[Line, ...]:
    messages = subject.stored.slice(first, last)
    numbers = request_numbers(subject.stored, range(first, last))
    paths = [subject.stored.outline.path_at(index) for index in range(first, last)]
    return tuple(
        Line(numbers.get(index), message.role, _words(message), f"{subject.base_url}at/{path}#{path.dom_id}", index == place)
        for index, message, path in zip(range(first, last), messages, paths, strict=True)
    )


def _words(message: Message) -> str:
    """Return the beginning of a message's text."""
    texts = []
    for part in message.parts:
        if isinstance(part, Text):
            texts.append(part.text)
        elif isinstance(part, ToolCall):
            texts.append(f"{part.name} {part.arguments}")
        elif isinstance(part, ToolResult):
            texts.append(str(part.content))
    text = " ".join(" ".join(texts)[: 4 * SHOWN].split())
    return text if len(text) <= SHOWN else f"{text[: SHOWN - 1]}…"


def _pieces(text: str, ids: tuple[str, ...]) -> tuple[tuple[str, bool], ...]:
    """Cut a text at the ids."""
    marks = {0, len(text)}
    inside = set[int]()
    for id in filter(None, ids):
        start = text.find(id)
        while start >= 0:
            marks |= {start, start + len(id)}
            inside.add(start)
            start = text.find(id, start + len(id))
    return tuple((text[begin:end], begin in inside) for begin, end in pairwise(sorted(marks)) if begin < end)
