"""Compare two chains. The result is a list of groups that covers both; each group says how its rows (header messages, pairs) changed.

Groups are built from keys and shapes. Bodies are read only for changed rows, and texts are compared on demand.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise

from chainviz.core.chain.chain import Chain
from chainviz.core.chain.messages import HUMAN, Message, Part, ToolCall
from chainviz.core.diff.align import Equal, Gap, align
from chainviz.core.diff.group_table import GroupTable
from chainviz.core.diff.groups import (
    FirstDifference,
    Group,
    Kind,
    RowGap,
    Side,
    find_moved_results,
    find_moves,
    first_difference,
    groups_of,
    hidden_calls,
    with_ids_of,
)
from chainviz.core.diff.matching import Reading, Rule
from chainviz.core.diff.messages import MessageDiff, compare_apart, compare_joined, compare_messages
from chainviz.core.diff.rows import Measure, Rows, ShapeRows

__all__ = ["ChainDiff", "FirstDifference", "Group", "Keys", "Kind", "Side", "diff_chains"]

COMPARISONS = {
    "merged": compare_joined, "split": compare_joined, "summarised": compare_apart, "expanded": compare_apart,
}  # fmt: skip
"""The comparison for each kind of group. All other kinds are compared message by message."""


@dataclass(frozen=True)
class ChainDiff:
    groups: GroupTable
    """The groups in order. Their old sides cover the whole old chain, their new sides the whole new one."""
    before: Measure
    after: Measure
    notes: tuple[str, ...] = ()
    """Sentences about parts that were too large for an exact comparison."""
    moved: Mapping[int, int] = field(default_factory=dict)
    """For each unchanged tool result that moved to another pair, its old index by its new one."""
    ids_matter: bool = True
    """False for two runs, whose calls are compared without their ids."""
    _old: Chain = field(repr=False, kw_only=True)
    _new: Chain = field(repr=False, kw_only=True)

    @property
    def changes(self) -> Sequence[Group]:
        return self.groups.changes

    @property
    def counts(self) -> dict[Kind, int]:
        """The number of changes of each kind; a moved row counts once, at its new place."""
        return self.groups.counts

    @cached_property
    def moved_to(self) -> Mapping[int, int]:
        """The inverse of `moved`: the new index of each moved result by its old one."""
        return {before: after for after, before in self.moved.items()}

    @cached_property
    def first(self) -> FirstDifference | None:
        """Return the first difference, or None if the chains are equal."""
        return first_difference(self.groups)

    @cached_property
    def little_in_common(self) -> str:
        """A sentence that says why the two chains have little in common; "" if they have more."""
        return little_in_common(self.groups, (self.before, self._old), (self.after, self._new))

    @property
    def is_empty(self) -> bool:
        return not self.changes

    def messages(self, group: Group) -> tuple[MessageDiff, ...]:
        """Read and compare the messages of a group."""
        old = self._old.slice(group.old.start, group.old.stop)
        new = self._new.slice(group.new.start, group.new.stop)
        old = old if self.ids_matter else with_ids_of(new, old)
        compare = COMPARISONS.get(group.kind, compare_messages)
        return compare(old, new, group.old.start, group.new.start)

    def hidden_calls(self, group: Group, changed: Iterable[MessageDiff]) -> Mapping[str, ToolCall]:
        """Return the calls on the group's new side by id, without those that `changed` shows."""
        return hidden_calls(self._new.slice(group.new.start, group.new.stop), changed)


Keys = Callable[[Chain, int, int], Sequence[Hashable]]
"""A function that returns a key for each of the messages `start:stop`. Messages with equal keys are equal."""


def diff_chains(
    old: Chain,
    new: Chain,
    equal: Iterable[tuple[int, int, int]] = (),
    *,
    rows: Callable[[Chain], Rows] = lambda chain: ShapeRows(chain.shapes()),
    keys: Keys | None = None,
    rules: Sequence[Rule] = (),
) -> ChainDiff:
    """Compare two chains.

    `equal` lists ranges (old start, new start, length) that are known to be equal, in order; only the other messages are read.
    `rows` returns the rows of a version and `keys` the keys of its messages; the store passes its outline and digests.
    `rules` match changed rows; the default treats the chains as versions of one chain.
    """
    comparison = _Comparison(old, new, rows(old), rows(new), keys or _MessageKeys())
    steps = list(comparison.steps(equal))
    groups = list(comparison.groups(steps, rules))
    moved: dict[int, int] = {}
    if not rules:
        groups, moved = find_moved_results(groups, (step for step in steps if isinstance(step, RowGap)))
    whole_old, whole_new = len(comparison.old_rows), len(comparison.new_rows)
    return ChainDiff(
        GroupTable.of(groups),
        comparison.old_rows.measure(0, whole_old),
        comparison.new_rows.measure(0, whole_new),
        tuple(comparison.notes),
        moved,
        _old=old,
        _new=new,
    )


class _MessageKeys:
    """Numbers messages by content. A message object that both chains share is read once."""

    def __init__(self) -> None:
        self._known: dict[int, int] = {}
        self._numbers: dict[Message, int] = {}
        self._alive: list[Sequence[Message]] = []

    def __call__(self, chain: Chain, start: int, stop: int) -> list[int]:
        messages = chain.slice(start, stop)
        self._alive.append(messages)  # an id() is only unique while its object lives
        return [self._number(message) for message in messages]

    def _number(self, message: Message) -> int:
        known = self._known.get(id(message))
        if known is None:
            known = self._known[id(message)] = self._numbers.setdefault(message, len(self._numbers))
        return known


class _Comparison:
    def __init__(self, old: Chain, new: Chain, old_rows: Rows, new_rows: Rows, keys: Keys) -> None:
        self.old, self.new = old, new
        self.old_rows, self.new_rows = old_rows, new_rows
        self.keys = keys
        self.notes: list[str] = []

    # which rows are equal

    def steps(self, equal: Iterable[tuple[int, int, int]]) -> Iterator[Equal | RowGap]:
        """Yield the equal ranges, in whole rows, and the gaps between them."""
        old = new = 0
        known = (stretch for stretch in map(self._whole_rows, equal) if stretch)
        for stretch in (*known, Equal(len(self.old_rows), len(self.new_rows), 0)):
            yield from self._between(Gap(old, stretch.old, new, stretch.new))
            if stretch.length:
                yield stretch
            old, new = stretch.old + stretch.length, stretch.new + stretch.length

    def _whole_rows(self, stretch: tuple[int, int, int]) -> Equal | None:
        """Return the range without rows at its ends that are only partly in it, because those are not equal."""
        old, new, length = stretch
        if not length:
            return None
        first, last = self._common_starts(old, new, length), self._common_ends(old, new, length)
        return Equal(old + first, new + first, last - first) if last > first else None

    def _common_starts(self, old: int, new: int, length: int) -> int:
        (a_start, a_stop), (b_start, b_stop) = self.old_rows.span(old), self.new_rows.span(new)
        if a_start == old and b_start == new:
            return 0
        return max(a_stop - old if a_start < old else 0, b_stop - new if b_start < new else 0)

    def _common_ends(self, old: int, new: int, length: int) -> int:
        (a_start, a_stop), (b_start, b_stop) = self.old_rows.span(old + length - 1), self.new_rows.span(new + length - 1)
        if a_stop == old + length and b_stop == new + length:
            return length
        return min(a_start - old if a_stop > old + length else length, b_start - new if b_stop > new + length else length)

    def _between(self, gap: Gap) -> Iterator[Equal | RowGap]:
        old_starts, old_keys = _row_keys(self.old_rows, self.keys, self.old, gap.old_start, gap.old_stop)
        new_starts, new_keys = _row_keys(self.new_rows, self.keys, self.new, gap.new_start, gap.new_stop)
        alignment = align(old_keys, new_keys)
        if alignment.coarse:
            self.notes.append(
                f"{len(old_keys):,} and {len(new_keys):,} rows with little in common were compared in blocks; "
                "some unchanged ones may be shown as changed."
            )
        for step in alignment.steps():
            if isinstance(step, Equal):
                start = old_starts[step.old]
                yield Equal(start, new_starts[step.new], old_starts[step.old + step.length] - start)
            else:
                a, b, c, d = step
                old, new = (self.old_rows.rows(old_starts[a], old_starts[b]), self.new_rows.rows(new_starts[c], new_starts[d]))
                yield RowGap(old, new, old_keys[a:b], new_keys[c:d], old_starts[a], new_starts[c])

    # how the other rows changed

    def groups(self, steps: list[Equal | RowGap], rules: Sequence[Rule]) -> Iterator[Group]:
        gaps = [step for step in steps if isinstance(step, RowGap)]
        moves = find_moves(gaps)
        reading = Reading(self.old.slice, self.new.slice, rules=rules)
        for step in _whole_runs(steps):
            if isinstance(step, Equal):
                yield self._same(step)
            else:
                yield from groups_of(step, moves, reading)
        if reading.gave_up:
            self.notes.append("So much changed in one place that rows were matched there by calls and places only, not by their words.")

    def _same(self, step: Equal) -> Group:
        old, new, length = step
        return Group("same", _run(self.old_rows, old, old + length), _run(self.new_rows, new, new + length))


def _row_keys(rows: Rows, keys: Keys, chain: Chain, start: int, stop: int) -> tuple[list[int], list[Hashable]]:
    """Return the start of each row of `start:stop` (and the end of the last one), and the keys of its messages."""
    starts = [*rows.starts(start, stop), stop]
    found = keys(chain, start, stop) if start < stop else ()
    return starts, [tuple(found[a - start : b - start]) for a, b in pairwise(starts)]


def _whole_runs(steps: list[Equal | RowGap]) -> Iterator[Equal | RowGap]:
    """Join equal ranges that touch on both sides."""
    run: Equal | None = None
    for step in steps:
        if isinstance(step, Equal):
            touches = run and run.old + run.length == step.old and run.new + run.length == step.new
            if run and touches:
                run = run._replace(length=run.length + step.length)
                continue
            if run:
                yield run
            run = step
            continue
        if run:
            yield run
        run = None
        yield step
    if run:
        yield run


def _run(rows: Rows, start: int, stop: int) -> Side:
    return Side(start, stop, rows.measure(start, stop), rows.place(start).path, rows.place(stop - 1).path)


LITTLE = 10
"""Two chains have little in common if fewer than one in this many pairs align."""


def little_in_common(groups: GroupTable, old: tuple[Measure, Chain], new: tuple[Measure, Chain]) -> str:
    """Return a sentence if the chains have little in common: few pairs of the shorter chain align, and the first requests differ.
    Otherwise return ""."""
    if old[0].pairs <= new[0].pairs:
        letter, pairs, aligned = "A", old[0].pairs, old[0].pairs - groups.pairs_alone("removed")
    else:
        letter, pairs, aligned = "B", new[0].pairs, new[0].pairs - groups.pairs_alone("added")
    if LITTLE * aligned >= pairs or _first_request(old[1]) == _first_request(new[1]):
        return ""
    noun = "pair" if pairs == 1 else "pairs"
    return f"{aligned:,} of {pairs:,} {noun} of {letter} {'aligns' if pairs == 1 else 'align'}; the first requests differ."


def _first_request(messages: Chain) -> Sequence[Part]:
    """Return the parts of the first human message; empty if there is none."""
    first = next((message.parts for message in messages.stream(0, len(messages)) if message.role == HUMAN), ())
    return [replace(part, origin=-1) for part in first]
