"""The calls of action sections: each entry alone with its error, also where one of them rejects the whole section."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.utils.safestring import SafeString, mark_safe

from chainviz.chains.render.json_text import paint
from chainviz.chains.render.visible_text import marks, one_line
from chainviz.core.text_formats.contract import FoundSection
from chainviz.core.text_formats.line_index import LineIndex
from chainviz.core.toolchain import CallsError, Entry, ReadCalls

MOST_CALLS = 100
"""Shown of one section."""
LONGEST = 4_000
"""Characters shown of the arguments of a call."""


@dataclass(frozen=True, slots=True)
class CallView:
    number: int
    name: str
    line: int
    error: str
    arguments: SafeString
    does_not_run: bool


@dataclass(frozen=True, slots=True)
class ActionView:
    label: str
    hue: str
    calls: tuple[CallView, ...]
    calls_left: int
    count: int
    errors: int
    fault: str
    """Why the text holds no calls, where that is not the fault of one entry."""
    is_rejected: bool


def action_view(
    section: FoundSection, read: ReadCalls, lines: LineIndex, label: str, hue: str
) -> ActionView:
    calls = tuple(
        _call(number, entry, section, lines, is_rejected=read.error is not None)
        for number, entry in enumerate(read.entries[:MOST_CALLS], 1)
    )
    is_of_entry = any(entry.error is read.error for entry in read.entries)
    return ActionView(
        label=label,
        hue=hue,
        calls=calls,
        calls_left=len(read.entries) - len(calls),
        count=len(read.entries),
        errors=sum(entry.error is not None for entry in read.entries),
        fault=_sentence(read.error, section, lines) if read.error and not is_of_entry else "",
        is_rejected=read.error is not None,
    )


def _call(number: int, entry: Entry, section: FoundSection, lines: LineIndex, *, is_rejected: bool) -> CallView:
    text = entry.call.text if entry.call else section.content[entry.start : entry.end]
    shown = text if len(text) <= LONGEST else f"{text[:LONGEST]}… {len(text) - LONGEST:,} more characters"
    return CallView(
        number=number,
        name=marks(one_line(entry.name, 80)),
        line=lines.place(section.start + entry.start)[0],
        error=_sentence(entry.error, section, lines) if entry.error else "",
        arguments=mark_safe(paint(shown)),  # escapes
        does_not_run=is_rejected and entry.error is None,
    )


def _sentence(error: CallsError, section: FoundSection, lines: LineIndex) -> str:
    """With the line and column of the whole text."""
    line, column = lines.place(section.start + error.offset)
    return marks(f"Line {line}, column {column}: {error.what}.")


def counts(actions: Sequence[ActionView]) -> tuple[int, int]:
    """Calls and errors of all sections."""
    faults = sum(bool(action.fault) for action in actions)
    return sum(action.count for action in actions), sum(action.errors for action in actions) + faults
