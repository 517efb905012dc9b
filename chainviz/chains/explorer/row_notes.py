"""Notes of other apps on rows: these apps are in a layer above, so a setting names the function that finds the notes.

The server sends them with the rows, not in a later request, so they need no JavaScript and nothing shifts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from django.conf import settings
from django.utils.module_loading import import_string

from chainviz.chains.explorer.subject import Subject
from chainviz.chains.render.text_marks import TextMark
from chainviz.core.chain.paths import Path


@dataclass(frozen=True, slots=True)
class RowNotes:
    """HTML by the path of a row."""

    chips: Mapping[Path, str] = field(default_factory=dict)
    """In the line of the row."""
    states: Mapping[Path, str] = field(default_factory=dict)
    """The colour of its mark in the outline."""
    below: Mapping[Path, str] = field(default_factory=dict)
    """At the end of the opened node."""
    marks: Mapping[Path, Sequence[TextMark]] = field(default_factory=dict)
    """In the text of a part, by its path."""


NO_NOTES = RowNotes()


def row_notes(subject: Subject, start: int, stop: int) -> RowNotes:
    """Return the notes on the rows that begin with the messages `start:stop`. One query, and one more if there are any."""
    find: Callable[[Subject, int, int], RowNotes] = import_string(settings.ROW_NOTES)
    return find(subject, start, stop)
