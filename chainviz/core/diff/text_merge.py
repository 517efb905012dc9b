"""Three-way merge of JSON text, value by value: where a side added or took away members, the whole text is one conflict, for
commas cannot be merged one by one."""

from __future__ import annotations

import re
from dataclasses import dataclass

from chainviz.core.diff.three_way import Choice

_TOKEN = re.compile(r'"(?:[^"\\]++|\\.)*+"|\s++|[\w.+-]++|.', re.DOTALL)


@dataclass(frozen=True, slots=True)
class TextMerge:
    mine: str
    """The changes of both sides, mine where they conflict."""
    theirs: str
    has_conflicts: bool = False

    def text(self, choice: Choice) -> str:
        return self.theirs if choice == "theirs" else self.mine


def merge_texts(base: str, mine: str, theirs: str) -> TextMerge:
    if base in (mine, theirs):
        changed = theirs if mine == base else mine
        return TextMerge(changed, changed)
    sides = [_TOKEN.findall(text) for text in (base, mine, theirs)]
    if len({tuple(each if each in "{}[]:," else "" for each in side) for side in sides}) > 1:
        return TextMerge(mine, theirs, mine != theirs)
    merged = ((b if a == old else a, a if b == old else b) for old, a, b in zip(*sides, strict=True))
    chosen_mine, chosen_theirs = ("".join(side) for side in zip(*merged, strict=True))
    return TextMerge(chosen_mine, chosen_theirs, chosen_mine != chosen_theirs)
