"""Three-way merge of texts: plain text word by word, JSON value by value, including added and removed members. Spelling is kept. If
both sides changed one value, the whole text is in conflict."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from chainviz.core.diff.align import Gap, align
from chainviz.core.diff.merge.items import Merged, settled
from chainviz.core.documents.json.edit import Array, Object, load

_TOKEN = re.compile(r'"(?:[^"\\]++|\\.)*+"(?:\s*+:)?|\s++|[\w.+-]++|.', re.DOTALL)


def merge_texts(base: str, mine: str, theirs: str) -> Merged[str]:
    """Merge texts. `both`: the changes of both sides, word by word where they conflict; None if they touch the same words."""
    if mine == theirs or base in (mine, theirs):
        return settled(theirs if mine == base else mine)
    sides = [_TOKEN.findall(text) for text in (base, mine, theirs)]
    if len({tuple(each if each[-1] in "{}[]:," else "" for each in side) for side in sides}) > 1:
        return Merged(mine, theirs, None, has_conflicts=True)
    rows = [_merged(*row) for row in zip(*sides, strict=True)]
    own, other = "".join(each.mine for each in rows), "".join(each.theirs for each in rows)
    both = [each.both for each in rows if each.both is not None]
    return Merged(own, other, "".join(both) if len(both) == len(rows) else None, has_conflicts=own != other)


def _merged(old: str, mine: str, theirs: str) -> Merged[str]:
    if mine == theirs or old in (mine, theirs):
        return settled(theirs if mine == old else mine)
    are_strings = all(each.startswith('"') for each in (old, mine, theirs))
    return Merged(mine, theirs, merge_words(old, mine, theirs) if are_strings else None, has_conflicts=True)


_WORD = re.compile(r"\\(?:u[0-9a-fA-F]{4}|.)|\w+|\s+|[^\w\s]", re.DOTALL)
"""Words of a text. An escape of a JSON string is one word, so that a merge never splits it."""
MOST_CHARACTERS = 1_000_000


class _Edit(NamedTuple):
    start: int
    stop: int
    words: tuple[str, ...]
    """The words that replace words `start : stop` of the base."""


def merge_words(base: str, mine: str, theirs: str) -> str | None:
    """Return the text with the changes of both sides; None if they touch the same words, or the texts are very long."""
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


def merge_json(base: str, mine: str, theirs: str) -> str | None:
    """Return JSON text with the changes of both sides; None if both changed the same value, or one removed it and the other changed it.
    All texts must be valid JSON."""
    try:
        return _merge_value(base.strip(), mine.strip(), theirs.strip())
    except RecursionError:
        return None


def _merge_value(base: str, mine: str, theirs: str) -> str | None:
    if mine == theirs or base in (mine, theirs):
        return theirs if mine == base else mine
    if not base[:1] == mine[:1] == theirs[:1]:
        return None
    if base[:1] not in ("{", "["):
        return merge_texts(base, mine, theirs).both
    sides = [load(each) for each in (base, mine, theirs)]
    return _merged_members(*sides) if base[:1] == "{" else _merged_items(*sides)  # type: ignore[arg-type]


def _merged_items(base: Array, mine: Array, theirs: Array) -> str | None:
    """Merge lists item by item. An item that both sides changed is a conflict, even for different members, because a side may have moved
    items."""
    if not len(base) == len(mine) == len(theirs):
        return None
    for place in range(len(base)):
        old, own, other = (each.raw(place) for each in (base, mine, theirs))
        if other not in (old, own):
            if own != old:
                return None
            mine.set(place, other)
    return str(mine)


def _merged_members(base: Object, mine: Object, theirs: Object) -> str | None:
    """Write the changes of theirs into mine."""
    if any(len(set(each.keys)) < len(each.keys) for each in (base, mine, theirs)):
        return None
    before = ""
    for key in dict.fromkeys((*theirs.keys, *base.keys)):
        old, own, other = (each.raw(key) if key in each else None for each in (base, mine, theirs))
        if other not in (old, own):
            if own == old:
                text = other
            elif old is None or own is None or other is None or (text := _merge_value(old, own, other)) is None:
                return None
            if text is None:
                mine.remove(key)
            else:
                mine.set(key, text, after=before)
        before = key if key in mine else before
    return str(mine)
