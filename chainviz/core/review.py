"""Anchors: what a comment is about, and where it is after the chain changed; a range of a text is found again in the new text."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from chainviz.core.chain.chain import Chain
from chainviz.core.chain.messages import Message, Opaque, Part, Text, Thinking, ToolCall, ToolResult
from chainviz.core.chain.paths import Path
from chainviz.core.diff.align import Equal, align
from chainviz.core.diff.lines import common_head, common_tail

MOST_CHARACTERS = 200_000
"""The words of longer changed ranges are not compared."""
_WORDS = re.compile(r"\w+|\s+|[^\w\s]")


@dataclass(frozen=True, slots=True)
class TextRange:
    """Characters `start : end` of a text."""

    start: int
    end: int

    def of(self, text: str) -> str:
        return text[self.start : self.end]

    def moved(self, by: int) -> TextRange:
        return TextRange(self.start + by, self.end + by)


def words_pattern(text: str) -> re.Pattern[str] | None:
    """Find the words of a text whatever stands between them: a page shows them without the signs of Markdown.

    Returns None if the text has no words.
    """
    words = re.findall(r"[^\W_]+", text)
    return re.compile(r"[\W_]+".join(words)) if words else None


def range_after(old: str, new: str, range: TextRange) -> TextRange | None:
    """Return the position of the range's text in `new`, or None if it was changed or removed."""
    head = common_head(old, new)
    if range.end <= head:
        return range
    tail = common_tail(old, new, min(len(old), len(new)) - head)
    if range.start >= len(old) - tail:
        return range.moved(len(new) - len(old))
    return _in_equal_words(old, new, range) or _only_place(old, new, range)


def _in_equal_words(old: str, new: str, range: TextRange) -> TextRange | None:
    if max(len(old), len(new)) > MOST_CHARACTERS:
        return None
    words, others = _WORDS.findall(old), _WORDS.findall(new)
    at, there = _starts(words), _starts(others)
    for step in align(words, others).steps():
        if isinstance(step, Equal) and at[step.old] <= range.start and range.end <= at[step.old + step.length]:
            return range.moved(there[step.new] - at[step.old])
    return None


def _starts(words: list[str]) -> list[int]:
    starts = [0]
    for word in words:
        starts.append(starts[-1] + len(word))
    return starts


def _only_place(old: str, new: str, range: TextRange) -> TextRange | None:
    """Return the range of a text that moved: it occurs once before and once after."""
    quote = range.of(old)
    if not quote or old.count(quote) != 1 or new.count(quote) != 1:
        return None
    start = new.index(quote)
    return TextRange(start, start + len(quote))


State = Literal["carried", "outdated", "removed", "folded"]
"""Unchanged, even if moved; changed; removed; replaced by a summary."""


@dataclass(frozen=True, slots=True)
class Anchor:
    """The whole chain (no path), a section, pair, message or part, or a range of a part's text."""

    path: Path | None = None
    range: TextRange | None = None


@dataclass(frozen=True, slots=True)
class Successor:
    """A message of the changed chain that takes the place of an old one."""

    index: int
    is_same: bool = False
    """True if it is the message itself, so that nothing is compared."""
    is_summary: bool = False


@dataclass(frozen=True, slots=True)
class Standing:
    state: State
    index: int | None = None
    """The first message that the anchor is about now, or None for the whole chain and for removed nodes."""
    part: int | None = None
    range: TextRange | None = None


WHOLE_CHAIN = Standing("carried")
REMOVED = Standing("removed")


def part_text(part: Part) -> str:
    """Return the text of a part in which a range can be marked; empty for pictures and files."""
    match part:
        case Text() | Opaque():
            return part.text
        case ToolCall():
            return part.arguments
        case ToolResult() | Thinking():
            return part.content
    return ""


def follow(anchor: Anchor, old: Chain, new: Chain, successors: Sequence[Sequence[Successor]]) -> Standing:
    """Follow an anchor. `successors` contains those of each message under the anchor's path, in order."""
    if anchor.path is None:
        return WHOLE_CHAIN
    every = [successor for each in successors for successor in each]
    if not every:
        return REMOVED
    if anchor.path.part is not None and every[0].is_same:
        return Standing("carried", every[0].index, anchor.path.part, anchor.range)
    if anchor.path.part is not None:
        return _part(anchor, _messages(old, anchor.path)[0], new, every)
    kept = [each for each in every if not each.is_summary]
    if not kept:
        return Standing("folded", every[0].index)
    is_same = _follow_each_other(successors) and _are_same(old, anchor.path, new, successors)
    return Standing("carried" if is_same else "outdated", kept[0].index)


def _messages(chain: Chain, path: Path) -> Sequence[Message]:
    span = chain.span(Path(path.section, path.pair, path.message))
    return chain.slice(span.start, span.stop)


def _follow_each_other(successors: Sequence[Sequence[Successor]]) -> bool:
    """Return True if each message has one successor, in the same order with nothing between them."""
    if any(len(each) != 1 for each in successors):
        return False
    return all(after[0].index == before[0].index + 1 for before, after in pairwise(successors))


def _are_same(old: Chain, path: Path, new: Chain, successors: Sequence[Sequence[Successor]]) -> bool:
    start = old.span(path).start
    changed = [(start + place, each[0].index) for place, each in enumerate(successors) if not each[0].is_same]
    return all(old[before] == new[after] for before, after in changed)


def _part(anchor: Anchor, old: Message, new: Chain, successors: Sequence[Successor]) -> Standing:
    assert anchor.path is not None
    place = anchor.path.part or 0
    part = old.parts[place] if place < len(old.parts) else None
    for index, number, found in _parts(new, successors, place):
        if found == part:
            return Standing("carried", index, number, anchor.range)
    if anchor.range is not None and part is not None:
        texts = [each for each in successors if not each.is_summary]
        for index, number, found in _parts(new, texts, place):
            moved = range_after(part_text(part), part_text(found), anchor.range)
            if moved is not None:
                return Standing("carried", index, number, moved)
    first = successors[0]
    if first.is_summary:
        return Standing("folded", first.index)
    parts = new[first.index].parts
    return Standing("outdated", first.index, place if place < len(parts) else None)


def _parts(chain: Chain, successors: Sequence[Successor], place: int) -> Iterator[tuple[int, int, Part]]:
    """Yield message, number and part, that at the same place of its message first."""
    for successor in successors:
        parts = chain[successor.index].parts
        for number in sorted(range(len(parts)), key=lambda number: number != place):
            yield successor.index, number, parts[number]
