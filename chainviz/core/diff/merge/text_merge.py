"""Three-way merge of JSON text, value by value: where a side added, took away or renamed members, the whole text is one conflict,
for commas cannot be merged one by one, and a value must not be taken for the one that stood in its place."""

from __future__ import annotations

import re

from chainviz.core.diff.merge.merged import Merged, settled
from chainviz.core.diff.merge.word_merge import merge_words

_TOKEN = re.compile(r'"(?:[^"\\]++|\\.)*+"(?:\s*+:)?|\s++|[\w.+-]++|.', re.DOTALL)


def merge_texts(base: str, mine: str, theirs: str) -> Merged[str]:
    """`both`: the changes of both sides, word by word where they conflict; None where they touch the same words."""
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
