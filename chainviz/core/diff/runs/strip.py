"""Where two chains differ, from their beginning to their end: runs of groups in a number that fits a strip."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from chainviz.core.diff.groups import Group, Kind

MOST_CELLS = 50
"""Of each chain; both together have at most twice as many."""


@dataclass(frozen=True, slots=True)
class Cell:
    """Neighbouring groups of one kind, or so many small ones that they are drawn together."""

    kind: Kind
    """That of most of its messages: same, moved, added, removed, or changed for all others. Only a cell of one chain is
    added or removed."""
    old: range
    """Messages of the old chain; may be empty."""
    new: range
    first: int
    """The number of its first change, from 1; 0 where nothing changed."""
    changes: int
    group: Group
    """The first of its groups that changed, else its first one."""


def cells_of(groups: Sequence[Group], before: int, after: int) -> list[Cell]:
    """In the order of both chains. `before`, `after`: how many messages they have."""
    runs = _runs(groups, (max(1, before) / MOST_CELLS, max(1, after) / MOST_CELLS))
    cells, number = [], 0
    for run in runs:
        changes = [group for group in run if group.is_change]
        cells.append(_cell(run, changes, number + 1 if changes else 0))
        number += len(changes)
    return cells


def _runs(groups: Sequence[Group], least: tuple[float, float]) -> Iterator[list[Group]]:
    """Neighbours of one kind, and neighbours of any kind until they are wide enough to be seen."""
    run: list[Group] = []
    for group in groups:
        if run and _kind(run[-1]) != _kind(group) and _is_wide(run, least):
            yield run
            run = []
        run.append(group)
    if run:
        yield run


def _is_wide(run: Sequence[Group], least: tuple[float, float]) -> bool:
    old, new = run[-1].old.stop - run[0].old.start, run[-1].new.stop - run[0].new.start
    return old >= least[0] or new >= least[1]


def _cell(run: Sequence[Group], changes: Sequence[Group], first: int) -> Cell:
    weights: Counter[Kind] = Counter()
    for group in run:
        weights[_kind(group)] += max(1, group.old.stop - group.old.start, group.new.stop - group.new.start)
    if changes:  # a difference is seen, however small it is
        del weights["same"]
    old, new = range(run[0].old.start, run[-1].old.stop), range(run[0].new.start, run[-1].new.stop)
    kind = max(weights, key=lambda kind: weights[kind])
    return Cell(
        kind="changed" if kind in ("added", "removed") and old and new else kind,
        old=old,
        new=new,
        first=first,
        changes=len(changes),
        group=(changes or run)[0],
    )


def _kind(group: Group) -> Kind:
    return group.kind if group.kind in ("same", "moved", "added", "removed") else "changed"
