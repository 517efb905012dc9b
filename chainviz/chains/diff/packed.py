"""The groups of a comparison as JSON: places and sizes, no content."""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Mapping
from typing import Any

from chainviz.core.diff.chains import ChainDiff
from chainviz.core.diff.group_table import GroupTable
from chainviz.core.diff.rows import Measure

LAYOUT = 2
"""Of the packed result of a job; another number is not read."""
Groups = tuple[GroupTable, Measure, Measure, tuple[str, ...], Mapping[int, int]]
"""Groups, both whole chains, notes, moved results: what makes a ChainDiff."""


def groups_in(diff: ChainDiff) -> Groups:
    return diff.groups, diff.before, diff.after, diff.notes, diff.moved


def pack_groups(found: Groups) -> list[Any]:
    groups, before, after, notes, moved = found
    return [b64encode(groups.pack()).decode("ascii"), before, after, notes, list(moved.items())]


def unpack_groups(packed: list[Any]) -> Groups:
    groups, before, after, notes, moved = packed
    return GroupTable.unpack(b64decode(groups)), Measure(*before), Measure(*after), tuple(notes), dict(moved)
