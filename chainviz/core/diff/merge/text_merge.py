"""Three-way merge of JSON text, value by value: where a side added or took away members, the whole text is one conflict, for
commas cannot be merged one by one."""

from __future__ import annotations

import re
from dataclasses import dataclass

from chainviz.core.diff.merge.three_way import Choice
from chainviz.core.diff.merge.word_merge import merge_words

_TOKEN = re.compile(r'"(?:[^"\\]++|\\.)*+"|\s++|[\w.+-]++|.', re.DOTALL)


@dataclass(frozen=True, slots=True)
class TextMerge:
    mine: str
    """The changes of both sides, mine where they conflict."""
    theirs: str
    both: str | None
    """The changes of both sides, word by word where they conflict; None where they touch the same words."""

    @property
    def has_conflicts(self) -> bool:
        return self.mine != self.theirs

    def text(self, choice: Choice) -> str:
        """Raises ValueError where both cannot be kept."""
        found = {"mine": self.mine, "theirs": self.theirs, "both": self.both}[choice]
        if found is None:
            raise ValueError("both is not offered for this conflict")
        return found


def merge_texts(base: str, mine: str, theirs: str) -> TextMerge:
    if base in (mine, theirs):
        changed = theirs if mine == base else mine
        return TextMerge(changed, changed, changed)
    sides = [_TOKEN.findall(text) for text in (base, mine, theirs)]
    if len({tuple(each if each in "{}[]:," else "" for each in side) for side in sides}) > 1:
        return TextMerge(mine, theirs, mine if mine == theirs else None)
    rows = [_merged(*row) for row in zip(*sides, strict=True)]
    both = [each for _, _, each in rows if each is not None]
    return TextMerge(
        "".join(each for each, _, _ in rows),
        "".join(each for _, each, _ in rows),
        "".join(both) if len(both) == len(rows) else None,
    )


def _merged(old: str, mine: str, theirs: str) -> tuple[str, str, str | None]:
    """A value where mine wins, where theirs wins, and with the changes of both."""
    if mine == theirs or old in (mine, theirs):
        changed = theirs if mine == old else mine
        return changed, changed, changed
    are_strings = all(each.startswith('"') for each in (old, mine, theirs))
    return mine, theirs, merge_words(old, mine, theirs) if are_strings else None
