"""Three-way merge of JSON: objects member by member, also where a side added or removed members, and lists of equal length item
by item. Spelling stays."""

from __future__ import annotations

from chainviz.core.diff.merge.text_merge import merge_texts
from chainviz.core.documents.json.edit import Array, Object, load


def merge_json(base: str, mine: str, theirs: str) -> str | None:
    """Returns JSON text with the changes of both sides; None where both changed the same value, or removed and changed it.
    Texts are valid JSON."""
    try:
        return _merged(base.strip(), mine.strip(), theirs.strip())
    except RecursionError:
        return None


def _merged(base: str, mine: str, theirs: str) -> str | None:
    if mine == theirs or base in (mine, theirs):
        return theirs if mine == base else mine
    if not base[:1] == mine[:1] == theirs[:1]:
        return None
    if base[:1] not in ("{", "["):
        return merge_texts(base, mine, theirs).both
    sides = [load(each) for each in (base, mine, theirs)]
    return _merged_members(*sides) if base[:1] == "{" else _merged_items(*sides)  # type: ignore[arg-type]


def _merged_items(base: Array, mine: Array, theirs: Array) -> str | None:
    """An item that both changed is a conflict even where they changed different members: one side may have moved items."""
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
    """Makes the changes of theirs in mine."""
    if any(len(set(each.keys)) < len(each.keys) for each in (base, mine, theirs)):
        return None
    before = ""
    for key in dict.fromkeys((*theirs.keys, *base.keys)):
        old, own, other = (each.raw(key) if key in each else None for each in (base, mine, theirs))
        if other not in (old, own):
            if own == old:
                text = other
            elif old is None or own is None or other is None or (text := _merged(old, own, other)) is None:
                return None
            if text is None:
                mine.remove(key)
            else:
                mine.set(key, text, after=before)
        before = key if key in mine else before
    return str(mine)
