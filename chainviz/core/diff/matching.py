"""Match the changed rows of the old version with those of the new one, by a list of rules, strongest first.

Each rule gets a gap (the old and new rows between two matches) and returns matches that increase on both sides. The rows between
them go to the next rule, so matches never cross, and every row is in at most one.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Literal, NamedTuple

from chainviz.core.chain.messages import Message, Text, ToolCall, ToolResult
from chainviz.core.diff.align import align
from chainviz.core.diff.lines import best_pairs
from chainviz.core.diff.rows import Row

MatchKind = Literal["changed", "merged", "split", "summarised", "expanded"]

MOST_LIKENESSES = 20_000
"""The most comparisons of rows by their words in one diff. After that, only ids and order decide."""
MOST_ROWS = 60
"""The most rows on each side of a gap that are compared by their words."""
JOINT = 16
"""The longest separator between two merged texts, in bytes."""
MOST_MERGED = 50
MOST_CELLS = 2_500
"""The largest gap, as old × new rows, that is searched for merged rows."""
MOST_REQUESTS = 2_000
"""The most pairs on one side whose arguments are compared. In larger gaps, only the tools are."""
WORDS_READ = 4_000
LEAST_LIKE = 0.3


class Match(NamedTuple):
    """Rows `old_start:old_stop` became rows `new_start:new_stop`, as indexes in the lists of the gap."""

    old_start: int
    old_stop: int
    new_start: int
    new_stop: int
    kind: MatchKind = "changed"


@dataclass
class Reading:
    """Reads the bodies of rows and counts the comparisons of one diff."""

    read_old: Callable[[int, int], Sequence[Message]]
    read_new: Callable[[int, int], Sequence[Message]]
    likenesses_left: int = MOST_LIKENESSES
    gave_up: bool = False
    rules: Sequence[Rule] = ()
    """The rules that match rows; the default is RULES."""
    words: dict[tuple[bool, int], Counter[str]] = field(default_factory=dict)

    def old(self, row: Row) -> Sequence[Message]:
        return self.read_old(row.start, row.stop)

    def new(self, row: Row) -> Sequence[Message]:
        return self.read_new(row.start, row.stop)

    def words_of(self, row: Row, *, is_new: bool) -> Counter[str]:
        key = is_new, row.start
        if key not in self.words:
            self.words[key] = _words(self.new(row) if is_new else self.old(row))
        return self.words[key]


Rule = Callable[[Sequence[Row], Sequence[Row], Reading], list[Match]]


def match_rows(old: Sequence[Row], new: Sequence[Row], reading: Reading) -> list[Match]:
    return _apply(reading.rules or RULES, old, new, reading)


def _apply(rules: Sequence[Rule], old: Sequence[Row], new: Sequence[Row], reading: Reading) -> list[Match]:
    if not rules or not old or not new:
        return []
    found: list[Match] = []
    i = k = 0
    for match in [*rules[0](old, new, reading), Match(len(old), len(old), len(new), len(new))]:
        between = _apply(rules[1:], old[i : match.old_start], new[k : match.new_start], reading)
        found += [Match(a + i, b + i, c + k, d + k, kind) for a, b, c, d, kind in between]
        if match.old_start < len(old):
            found.append(match)
        i, k = match.old_stop, match.new_stop
    return found


def _same_pairs(old: Sequence[Row], new: Sequence[Row], reading: Reading) -> list[Match]:
    """Match pair by pair if both sides have the same number of pairs with the same calls in the same order. In that case nothing was
    merged or split, so no content is read."""

    def calls(rows: Sequence[Row]) -> list[tuple[str, ...]]:
        return [row.call_ids if row.is_pair else () for row in rows]

    made = calls(old)
    return _one_by_one(len(old)) if all(made) and made == calls(new) else []


def _one_by_one(count: int) -> list[Match]:
    return [Match(i, i + 1, i, i + 1) for i in range(count)]


def _merges(old: Sequence[Row], new: Sequence[Row], reading: Reading) -> list[Match]:
    """Match consecutive rows whose joined contents are the content of one new row."""
    runs = _joined_runs(old, new, reading.old, reading.new)
    return [Match(start, stop, k, k + 1, "merged") for start, stop, k in runs]


def _splits(old: Sequence[Row], new: Sequence[Row], reading: Reading) -> list[Match]:
    runs = _joined_runs(new, old, reading.new, reading.old)
    return [Match(k, k + 1, start, stop, "split") for start, stop, k in runs]


def _joined_runs(
    many: Sequence[Row], few: Sequence[Row], read_many: Callable[[Row], Sequence[Message]], read_few: Callable[[Row], Sequence[Message]]
) -> list[tuple[int, int, int]]:
    """Return each (start, stop, k) for which the rows `many[start:stop]` have the content of `few[k]`. Most are ruled out by size,
    without reading."""
    runs: list[tuple[int, int, int]] = []
    if len(many) * len(few) > MOST_CELLS:
        return runs
    sizes = [row.size for row in many]
    start = 0
    for k, one in enumerate(few):
        found = next(
            (
                (first, stop, k)
                for first in range(start, len(many) - 1)
                for stop in _stops_of_size(many, sizes, first, one)
                if _ids(many[first:stop]) == _ids([one])
                and _essence([read_many(row) for row in many[first:stop]]) == _essence([read_few(one)])
            ),
            None,
        )
        if found:
            runs.append(found)
            start = found[1]
    return runs


def _stops_of_size(many: Sequence[Row], sizes: Sequence[int], first: int, one: Row) -> Iterator[int]:
    """Yield the end of each run of two or more rows of one kind, from `first` on, that has about the size of `one`."""
    total, size = sizes[first], one.size
    if total > size or many[first].kind != one.kind:
        return
    for i in range(first + 1, min(first + MOST_MERGED, len(many))):
        if total > size or many[i].start != many[i - 1].stop or many[i].kind != one.kind:
            return
        total += sizes[i]
        if abs(size - total) <= JOINT * (i - first):
            yield i + 1


def _ids(rows: Sequence[Row]) -> list[str]:
    """Return the ids of all calls and results, sorted, so that the split into messages does not matter."""
    shapes = [shape for row in rows for shape in row.shapes]
    calls = [call.id for shape in shapes for call in shape.calls]
    return sorted([*calls, *(result.id for shape in shapes for result in shape.results)])


def _essence(rows: Sequence[Sequence[Message]]) -> tuple[str, tuple[object, ...]]:
    """Return the content of rows independently of the split into messages and parts: the words in order, then all other parts."""
    messages = [row[0] for row in rows] + [message for row in rows for message in row[1:]]
    texts = [part.text for message in messages for part in message.parts if isinstance(part, Text)]
    others = [part for message in messages for part in message.parts if not isinstance(part, Text)]
    return "".join("".join(texts).split()), tuple(others)


def _same_calls(old: Sequence[Row], new: Sequence[Row], reading: Reading) -> list[Match]:
    """Match pairs with the same call ids; then those that share at least one id."""

    def keys(rows: Sequence[Row], side: str, of_row: Callable[[Row], Hashable]) -> list[Hashable]:
        return [of_row(row) if row.call_ids else (side, i) for i, row in enumerate(rows)]

    def by(of_row: Callable[[Row], Hashable]) -> Rule:
        def rule(old: Sequence[Row], new: Sequence[Row], reading: Reading) -> list[Match]:
            return _aligned(keys(old, "old", of_row), keys(new, "new", of_row))

        return rule

    return _apply([by(lambda row: row.call_ids), by(lambda row: row.call_ids[0])], old, new, reading)


def _same_requests(old: Sequence[Row], new: Sequence[Row], reading: Reading) -> list[Match]:
    """Match pairs that call the same tools with the same arguments, in the order of both runs."""
    if max(len(old), len(new)) > MOST_REQUESTS:
        return []
    asked = [_requests(old, reading.read_old, "old"), _requests(new, reading.read_new, "new")]
    return _aligned(*asked)


def _requests(rows: Sequence[Row], read: Callable[[int, int], Sequence[Message]], side: str) -> list[Hashable]:
    found: list[Hashable] = []
    for i, row in enumerate(rows):
        parts = read(row.start, row.start + 1)[0].parts if row.call_ids else ()
        calls = tuple((part.name, part.arguments) for part in parts if isinstance(part, ToolCall))
        found.append(calls or (side, i))
    return found


def _same_tools(old: Sequence[Row], new: Sequence[Row], reading: Reading) -> list[Match]:
    """Match pairs that call the same tools, with any arguments."""

    def tools(rows: Sequence[Row], side: str) -> list[Hashable]:
        named = [tuple(call.name for call in row.shapes[0].calls) if row.is_pair else () for row in rows]
        return [names or (side, i) for i, names in enumerate(named)]

    return _aligned(tools(old, "old"), tools(new, "new"))


def _aligned(old: Sequence[Hashable], new: Sequence[Hashable]) -> list[Match]:
    steps = align(old, new).equal
    return [Match(s.old + i, s.old + i + 1, s.new + i, s.new + i + 1) for s in steps for i in range(s.length)]


def _same_kinds(old: Sequence[Row], new: Sequence[Row], reading: Reading) -> list[Match]:
    """Match one row to one row of the same kind, as an edit of it."""
    if len(old) != 1 or len(new) != 1 or old[0].kind != new[0].kind or old[0].is_summary != new[0].is_summary:
        return []
    return [Match(0, 1, 0, 1)]


def _like(old: Sequence[Row], new: Sequence[Row], reading: Reading) -> list[Match]:
    """Match rows of one kind that begin with the same message or share many words."""
    cells = len(old) * len(new)
    if max(len(old), len(new)) > MOST_ROWS or cells > reading.likenesses_left:
        reading.gave_up = True
        return []
    reading.likenesses_left -= cells
    scores = [[_likeness(a, b, reading) for b in new] for a in old]
    return [Match(i, i + 1, k, k + 1) for i, k in best_pairs(scores, LEAST_LIKE)]


def _likeness(old: Row, new: Row, reading: Reading) -> float:
    if old.kind != new.kind or old.is_summary != new.is_summary:
        return 0.0
    if reading.old(old)[0] == reading.new(new)[0]:
        return 1.0
    a, b = reading.words_of(old, is_new=False), reading.words_of(new, is_new=True)
    longest = max(a.total(), b.total())
    return (a & b).total() / longest if longest else 1.0


_WORD = re.compile(r"\w+")


def _words(messages: Sequence[Message]) -> Counter[str]:
    """Count the words at the beginning of a row."""
    texts: list[str] = []
    for message in messages:
        for part in message.parts:
            match part:
                case Text():
                    texts.append(part.text[:WORDS_READ])
                case ToolCall():
                    texts.append(f"{part.name} {part.arguments[:WORDS_READ]}")
                case ToolResult():
                    texts.append(f"{part.name} {part.content[:WORDS_READ]}")
    return Counter(_WORD.findall(" ".join(texts)[:WORDS_READ]))


def _summaries(old: Sequence[Row], new: Sequence[Row], reading: Reading) -> list[Match]:
    """Match a summary with all rows that it replaced."""
    found = _summary_places(new, old)
    return [Match(0, len(old), found, found + 1, "summarised")] if found >= 0 else []


def _expansions(old: Sequence[Row], new: Sequence[Row], reading: Reading) -> list[Match]:
    found = _summary_places(old, new)
    return [Match(found, found + 1, 0, len(new), "expanded")] if found >= 0 else []


def _summary_places(rows: Sequence[Row], replaced: Sequence[Row]) -> int:
    """Return the index of the only summary in `rows`, if `replaced` are consecutive rows that include a pair; otherwise -1."""
    places = [i for i, row in enumerate(rows) if row.is_summary]
    neighbours = all(a.stop == b.start for a, b in pairwise(replaced))
    if len(places) != 1 or not neighbours or not any(row.is_pair for row in replaced):
        return -1
    return -1 if len(replaced) == 1 and replaced[0].is_summary else places[0]


def _same_places(old: Sequence[Row], new: Sequence[Row], reading: Reading) -> list[Match]:
    """Match row by row if both sides have the same number of rows, of the same kinds in the same order."""
    if [row.kind for row in old] != [row.kind for row in new]:
        return []
    return _one_by_one(len(old))


def _headers(old: Sequence[Row], new: Sequence[Row], reading: Reading) -> list[Match]:
    """Match header messages if both sides have the same number of them with the same roles."""
    olds = [(i, row.kind) for i, row in enumerate(old) if not row.is_pair]
    news = [(i, row.kind) for i, row in enumerate(new) if not row.is_pair]
    if [kind for _, kind in olds] != [kind for _, kind in news]:
        return []
    return [Match(i, i + 1, k, k + 1) for (i, _), (k, _) in zip(olds, news, strict=True)]


RULES: tuple[Rule, ...] = (
    _same_pairs, _merges, _splits, _same_calls, _same_kinds, _headers, _same_kinds, _like, _summaries, _expansions,
    _same_places,
)  # fmt: skip

RUN_RULES: tuple[Rule, ...] = (
    _headers, _same_requests, _same_tools, _same_kinds, _like, _summaries, _expansions, _same_places,
)  # fmt: skip
"""The rules for two runs of one task, whose ids are unrelated."""
