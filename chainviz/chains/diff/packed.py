"""The groups of a comparison as JSON: places and sizes, no content."""

from __future__ import annotations

from typing import Any

from chainviz.core.chain.paths import Path
from chainviz.core.diff.chains import Group, Side
from chainviz.core.diff.rows import Measure

Groups = tuple[tuple[Group, ...], Measure, Measure, tuple[str, ...]]
"""Groups, both whole chains, notes."""


def pack_groups(found: Groups) -> list[Any]:
    groups, before, after, notes = found
    packed = [[each.kind, _side(each.old), _side(each.new), _path(each.other)] for each in groups]
    return [packed, before, after, notes]


def unpack_groups(packed: list[Any]) -> Groups:
    groups, before, after, notes = packed
    found = tuple([Group(kind, _side_of(old), _side_of(new), _path_of(other)) for kind, old, new, other in groups])
    return found, Measure(*before), Measure(*after), tuple(notes)


def _side(side: Side) -> list[Any]:
    return [side.start, side.stop, side.measure, _path(side.first), _path(side.last)]


def _side_of(packed: list[Any]) -> Side:
    start, stop, measure, first, last = packed
    return Side(start, stop, Measure(*measure), _path_of(first), _path_of(last))


def _path(path: Path | None) -> list[int | None] | None:
    return None if path is None else [path.section, path.pair, path.message, path.part]


def _path_of(packed: list[Any] | None) -> Path | None:
    return None if packed is None else Path(*packed)
