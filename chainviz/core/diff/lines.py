"""Compare two texts line by line, and changed lines word by word. The rows are the same for the split and the unified view."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, NamedTuple

from rapidfuzz import fuzz

from chainviz.core.chain.messages import byte_size
from chainviz.core.diff.align import Alignment, Equal, Gap, align

# Changed lines are compared word by word. Long lines are compared and shown only around their differences.


_WORDS = re.compile(r"\w+|\s+|[^\w\s]")
_INSIDE = re.compile(r"\w\w")
MOST_CHARACTERS = 20_000
"""The longest difference, in characters, that is compared word by word. Longer ones are marked as a whole."""
LONG_LINE, KEPT_AROUND = 2_000, 200
LEAST_ALIKE = 0.2
"""The least share of common text for a comparison word by word. Lines below it are marked as a whole, which is easier to read."""


CR = "\r"


class Span(NamedTuple):
    text: str
    marked: bool
    skipped: int = 0
    """The number of characters left out; if it is not 0, `text` is empty."""


Spans = tuple[Span, ...]


def plain(line: str, *, marked: bool = False) -> Spans:
    """Return a line as one span, marked or not, without the CR of its line end."""
    line = line.removesuffix(CR)
    return _shortened([Span(line, marked)], len(line))


def mark_words(old: str, new: str) -> tuple[Spans, Spans]:
    """Return both lines in spans, with the differences marked. A CR at the end of only one line is a difference."""
    if old.endswith(CR) and new.endswith(CR):
        old, new = old[:-1], new[:-1]
    head = common_head(old, new)
    tail = common_tail(old, new, min(len(old), len(new)) - head)
    head, tail = _to_word_border(old, new, head, tail)
    old_middle, new_middle = old[head : len(old) - tail], new[head : len(new) - tail]
    if max(len(old_middle), len(new_middle)) > MOST_CHARACTERS:
        old_spans, new_spans = [Span(old_middle, True)], [Span(new_middle, True)]
    else:
        old_spans, new_spans = _by_words(old_middle, new_middle)
    ends = Span(old[:head], False), Span(old[len(old) - tail :], False)
    whole_old, whole_new = [ends[0], *old_spans, ends[1]], [ends[0], *new_spans, ends[1]]
    if _alike(whole_old, whole_new) < LEAST_ALIKE:
        return plain(old, marked=True), plain(new, marked=True)
    return _shortened(whole_old, len(old)), _shortened(whole_new, len(new))


def common_head(old: str, new: str) -> int:
    """Return the length of the common beginning. Bisects, because comparing slices is faster than comparing characters."""
    low, high = 0, min(len(old), len(new))
    while low < high:
        middle = (low + high + 1) // 2
        if old[low:middle] == new[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def common_tail(old: str, new: str, most: int) -> int:
    """Return the length of the common end, at most `most` characters."""
    low, high = 0, most
    while low < high:
        middle = (low + high + 1) // 2
        if old[len(old) - middle : len(old) - low] == new[len(new) - middle : len(new) - low]:
            low = middle
        else:
            high = middle - 1
    return low


def _to_word_border(old: str, new: str, head: int, tail: int) -> tuple[int, int]:
    """Return the lengths of the common beginning and end, shortened so that no word of up to 50 characters is cut."""

    def inside_word(text: str, place: int) -> bool:
        return 0 < place < len(text) and bool(_INSIDE.fullmatch(text[place - 1 : place + 1]))

    for _ in range(50):
        if not (head and (inside_word(old, head) or inside_word(new, head))):
            break
        head -= 1
    for _ in range(50):
        if not (tail and (inside_word(old, len(old) - tail) or inside_word(new, len(new) - tail))):
            break
        tail -= 1
    return head, tail


def _by_words(old: str, new: str) -> tuple[list[Span], list[Span]]:
    a, b = _WORDS.findall(old), _WORDS.findall(new)
    old_spans: list[Span] = []
    new_spans: list[Span] = []
    steps = list(align(a, b).steps())
    for i, step in enumerate(steps):
        if isinstance(step, Equal):
            text = "".join(a[step.old : step.old + step.length])
            # a single space between two changed words is marked too, which is easier to read
            marked = text == " " and 0 < i < len(steps) - 1
            old_spans.append(Span(text, marked))
            new_spans.append(Span(text, marked))
        else:
            old_spans.append(Span("".join(a[step.old_start : step.old_stop]), True))
            new_spans.append(Span("".join(b[step.new_start : step.new_stop]), True))
    return old_spans, new_spans


def _alike(old: list[Span], new: list[Span]) -> float:
    longest = max(sum(len(span.text.strip()) for span in spans) for spans in (old, new))
    same = sum(len(span.text.strip()) for span in old if not span.marked)
    return same / longest if longest else 1.0


def _shortened(spans: list[Span], length: int) -> Spans:
    """Join neighbouring spans of one kind. In a long line, keep only the ends of each span."""
    joined: list[Span] = []
    for span in spans:
        if not span.text:
            continue
        if joined and joined[-1].marked == span.marked:
            joined[-1] = Span(joined[-1].text + span.text, span.marked)
        else:
            joined.append(span)
    if length <= LONG_LINE:
        return tuple(joined)
    return tuple(part for span in joined for part in _ends(span))


def _ends(span: Span) -> Spans:
    keep = LONG_LINE // 2 if span.marked else KEPT_AROUND
    if len(span.text) <= 2 * keep + 1:
        return (span,)
    skipped = Span("", span.marked, len(span.text) - 2 * keep)
    return Span(span.text[:keep], span.marked), skipped, Span(span.text[-keep:], span.marked)


CONTEXT = 3
MOST_PAIRINGS = 2_500
"""The largest changed block, as old × new lines, whose lines are paired by similarity. Lines of larger blocks are paired in order."""
COMPARED = 300
"""The number of characters of a line that are compared for similarity."""
LEAST_LIKE = 50.0


class DiffRow(NamedTuple):
    kind: Literal["same", "changed", "added", "removed"]
    old_no: int | None
    """Line number, from 1; None if the old text does not have the line."""
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
    """The comparison of two texts. Rows are computed on demand, so a page can take the first few hundred of a huge text."""

    old: str
    new: str
    pretty: bool = False
    """The texts are JSON formatted in lines, not in the spelling of the source."""

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
        """A sentence if the texts were too long for an exact comparison; otherwise ""."""
        if not self._alignment.coarse:
            return ""
        return (
            f"The texts have {len(self.old_lines):,} and {len(self.new_lines):,} lines and little in common; "
            "they were compared in blocks, so some unchanged lines may be shown as changed."
        )

    @property
    def counts(self) -> tuple[int, int]:
        """The number of removed and of added lines. A changed line counts as both."""
        gaps = self._alignment.gaps()
        return sum(g.old_stop - g.old_start for g in gaps), sum(g.new_stop - g.new_start for g in gaps)

    def rows(self, context: int | None = CONTEXT) -> Iterator[DiffRow | Fold]:
        """Yield the rows in order. Unchanged lines further than `context` from a change are folded; None folds nothing."""
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
    """Yield pairs of changed lines: the most similar ones in order, and the lines between them one by one."""
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
    """Return the pairs (row, column), increasing on both sides, with the greatest total score. Scores below `least` never pair."""
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
