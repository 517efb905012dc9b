"""Compares two texts line by line, then word by word inside lines that changed. Rows serve the split and the unified view."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, NamedTuple

from rapidfuzz import fuzz

from chainviz.core.chain.messages import byte_size
from chainviz.core.diff.align import Alignment, Equal, Gap, align
from chainviz.core.diff.words import Spans, mark_words, plain

CONTEXT = 3
MOST_PAIRINGS = 2_500
"""Changed blocks of up to 50 × 50 lines are paired by likeness, bigger ones in order."""
COMPARED = 300
"""Characters of a line that decide its likeness."""
LEAST_LIKE = 50.0


class DiffRow(NamedTuple):
    kind: Literal["same", "changed", "added", "removed"]
    old_no: int | None
    """Line number, from 1; None where the old text has no such line."""
    new_no: int | None
    old: Spans
    new: Spans


class Fold(NamedTuple):
    """Unchanged lines that are left out."""

    old_no: int
    new_no: int
    lines: int
    size: int


@dataclass(frozen=True)
class TextDiff:
    """Two texts; rows are made when asked for, so a page takes the first few hundred of a huge one."""

    old: str
    new: str
    pretty: bool = False
    """The texts are JSON written out in lines, not as the source spells them."""

    @cached_property
    def old_lines(self) -> list[str]:
        return self.old.split("\n") if self.old else []

    @cached_property
    def new_lines(self) -> list[str]:
        return self.new.split("\n") if self.new else []

    @cached_property
    def _alignment(self) -> Alignment:
        return align(self.old_lines, self.new_lines)

    @property
    def note(self) -> str:
        """A sentence where the comparison is coarser than it could be, else empty."""
        if not self._alignment.coarse:
            return ""
        return (
            f"The texts have {len(self.old_lines):,} and {len(self.new_lines):,} lines and little in common; "
            "they were compared in blocks, so some unchanged lines may be shown as changed."
        )

    @property
    def counts(self) -> tuple[int, int]:
        """Lines removed and lines added; a changed line counts in both."""
        gaps = self._alignment.gaps()
        return sum(g.old_stop - g.old_start for g in gaps), sum(g.new_stop - g.new_start for g in gaps)

    def rows(self, context: int | None = CONTEXT) -> Iterator[DiffRow | Fold]:
        """Rows in order. Unchanged lines further than `context` from a change are folded; None folds nothing."""
        steps = list(self._alignment.steps())
        for i, step in enumerate(steps):
            if isinstance(step, Gap):
                yield from self._changed(step)
            else:
                yield from self._same(step, context, first=i == 0, last=i == len(steps) - 1)

    def _same(self, step: Equal, context: int | None, *, first: bool, last: bool) -> Iterator[DiffRow | Fold]:
        before = 0 if first else context or 0
        after = 0 if last else context or 0
        hidden = step.length - before - after
        if context is None or hidden <= 1:
            before, hidden = step.length, 0
            after = 0
        for i in range(before):
            yield self._same_row(step, i)
        if hidden:
            lines = self.old_lines[step.old + before : step.old + before + hidden]
            size = sum([byte_size(line) + 1 for line in lines])
            yield Fold(step.old + before + 1, step.new + before + 1, hidden, size)
        for i in range(step.length - after, step.length):
            yield self._same_row(step, i)

    def _same_row(self, step: Equal, i: int) -> DiffRow:
        spans = plain(self.old_lines[step.old + i])
        return DiffRow("same", step.old + i + 1, step.new + i + 1, spans, spans)

    def _changed(self, gap: Gap) -> Iterator[DiffRow]:
        for old, new in _paired(self.old_lines, self.new_lines, gap):
            if new is None:
                assert old is not None
                yield DiffRow("removed", old + 1, None, plain(self.old_lines[old], marked=True), ())
            elif old is None:
                yield DiffRow("added", None, new + 1, (), plain(self.new_lines[new], marked=True))
            else:
                yield DiffRow("changed", old + 1, new + 1, *mark_words(self.old_lines[old], self.new_lines[new]))


def _paired(old: list[str], new: list[str], gap: Gap) -> Iterator[tuple[int | None, int | None]]:
    """Pairs of changed lines: the most alike in order, and between those one after the other."""
    i, k = gap.old_start, gap.new_start
    for old_match, new_match in [*_alike_lines(old, new, gap), (gap.old_stop, gap.new_stop)]:
        while i < old_match or k < new_match:
            left, right = i if i < old_match else None, k if k < new_match else None
            yield left, right
            i, k = i + (left is not None), k + (right is not None)
        if old_match < gap.old_stop:
            yield old_match, new_match
        i, k = old_match + 1, new_match + 1


def _alike_lines(old: list[str], new: list[str], gap: Gap) -> list[tuple[int, int]]:
    height, width = gap.old_stop - gap.old_start, gap.new_stop - gap.new_start
    if height * width > MOST_PAIRINGS or height * width == 1:
        return []
    olds = [line[:COMPARED] for line in old[gap.old_start : gap.old_stop]]
    news = [line[:COMPARED] for line in new[gap.new_start : gap.new_stop]]
    scores = [[fuzz.ratio(a, b) for b in news] for a in olds]
    return [(gap.old_start + i, gap.new_start + k) for i, k in best_pairs(scores, LEAST_LIKE)]


def best_pairs(scores: list[list[float]], least: float) -> list[tuple[int, int]]:
    """The pairs (row, column), rising on both sides, whose scores add up to most; scores below `least` do not pair."""
    height, width = len(scores), len(scores[0]) if scores else 0
    best = [[0.0] * (width + 1) for _ in range(height + 1)]
    for i in range(height - 1, -1, -1):
        for k in range(width - 1, -1, -1):
            paired = scores[i][k] + best[i + 1][k + 1] if scores[i][k] >= least else 0.0
            best[i][k] = max(paired, best[i + 1][k], best[i][k + 1])
    pairs: list[tuple[int, int]] = []
    i = k = 0
    while i < height and k < width:
        if scores[i][k] >= least and best[i][k] == scores[i][k] + best[i + 1][k + 1]:
            pairs.append((i, k))
            i, k = i + 1, k + 1
        elif best[i][k] == best[i + 1][k]:
            i += 1
        else:
            k += 1
    return pairs
