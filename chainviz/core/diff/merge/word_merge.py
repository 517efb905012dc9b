"""Three-way merge of a text, word by word."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from chainviz.core.diff.align import Gap, align

_WORD = re.compile(r"\\(?:u[0-9a-fA-F]{4}|.)|\w+|\s+|[^\w\s]", re.DOTALL)
"""An escape of a JSON string is one word, so that it is not torn apart."""
MOST_CHARACTERS = 1_000_000


class _Edit(NamedTuple):
    start: int
    stop: int
    words: tuple[str, ...]
    """What comes in place of words `start : stop` of the base."""


def merge_words(base: str, mine: str, theirs: str) -> str | None:
    """Returns the text with the changes of both sides; None where they touch the same words, or the texts are very long."""
    if max(map(len, (base, mine, theirs))) > MOST_CHARACTERS:
        return None
    words = _WORD.findall(base)
    edits = sorted({*_edits(words, mine), *_edits(words, theirs)})
    result: list[str] = []
    place = 0
    for i, edit in enumerate(edits):
        is_beside = i > 0 and edit.start == place and edit.start in (edit.stop, edits[i - 1].start)
        if edit.start < place or is_beside:
            return None
        result += (*words[place : edit.start], *edit.words)
        place = edit.stop
    return "".join((*result, *words[place:]))


def _edits(words: list[str], side: str) -> Iterator[_Edit]:
    others = _WORD.findall(side)
    for step in align(words, others).steps():
        if isinstance(step, Gap):
            yield _Edit(step.old_start, step.old_stop, tuple(others[step.new_start : step.new_stop]))
