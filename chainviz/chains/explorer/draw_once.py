"""Windows and opened nodes of versions as HTML, which stay in memory: a version never changes, and many people open the same one.

The key names the content with the edition of its history, which a purge makes new, the rules in its outline, and what the person may
do. The notes of other apps are read each time: if they have changed, the drawing is made again, as it always is for a draft.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, Generic, NamedTuple, TypeVar

from chainviz.chains.explorer.row_views import RowNotes, row_notes
from chainviz.chains.explorer.subject import Subject
from chainviz.store.content.at_hand import AtHand

T = TypeVar("T")
MOST, LONGEST = 128, 100_000
"""The number of drawings that stay in memory, and the most bytes of one."""


class Drawing(NamedTuple, Generic[T]):
    value: T
    span: range
    """The messages on whose rows it has the notes."""
    notes: RowNotes
    length: int


_DRAWINGS: AtHand[Drawing[Any]] = AtHand(MOST)


def draw_once(subject: Subject, what: Hashable, draw: Callable[[], Drawing[T]]) -> T:
    """Return the value of a drawing. `what` names it among the drawings of the subject."""
    if subject.edition is None:
        return draw().value
    content = subject.snapshot.pk, subject.edition, bytes(subject.snapshot.digest), bytes(subject.outline.listing)
    key = content, subject.base_url, subject.permissions, what
    found = _DRAWINGS.get(key)
    if found is not None and row_notes(subject, found.span.start, found.span.stop) == found.notes:
        value: T = found.value
        return value
    made = draw()
    if made.length <= LONGEST:
        _DRAWINGS.keep(key, made)
    return made.value
