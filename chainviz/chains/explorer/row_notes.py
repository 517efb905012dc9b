"""Notes of other apps on rows. Those apps are in a higher layer, so a setting names the function that returns the notes.

The server sends the notes together with the rows, so that they need no JavaScript and the page does not shift.
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
    """Notes as HTML, by the path of their row."""

    chips: Mapping[Path, str] = field(default_factory=dict)
    """HTML in the line of the row."""
    states: Mapping[Path, str] = field(default_factory=dict)
    """The colour of the row's mark in the outline."""
    below: Mapping[Path, str] = field(default_factory=dict)
    """HTML at the end of the open node."""
    marks: Mapping[Path, Sequence[TextMark]] = field(default_factory=dict)
    """Marks in the text of a part, by the path of the part."""


NO_NOTES = RowNotes()


def row_notes(subject: Subject, start: int, stop: int) -> RowNotes:
    """Return the notes on the rows that begin with the messages `start:stop`. One query, and one more if there are any."""
    find: Callable[[Subject, int, int], RowNotes] = import_string(settings.ROW_NOTES)
    return find(subject, start, stop)
