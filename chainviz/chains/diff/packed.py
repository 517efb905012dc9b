"""The groups of a comparison as JSON: places and sizes, no content."""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Mapping
from typing import Any

from chainviz.core.diff.chains import ChainDiff
from chainviz.core.diff.group_table import GroupTable
from chainviz.core.diff.rows import Measure

LAYOUT = 3
"""Of the packed result of a job; another number is not read."""
Groups = tuple[GroupTable, Measure, Measure, tuple[str, ...], Mapping[int, int], bool]
"""Groups, both whole chains, notes, moved results, whether ids matter: what makes a ChainDiff."""


def groups_in(diff: ChainDiff) -> Groups:
    return diff.groups, diff.before, diff.after, diff.notes, diff.moved, diff.ids_matter


def pack_groups(found: Groups) -> list[Any]:
    groups, before, after, notes, moved, ids_matter = found
    return [b64encode(groups.pack()).decode("ascii"), before, after, notes, list(moved.items()), ids_matter]


def unpack_groups(packed: list[Any]) -> Groups:
    groups, before, after, notes, moved, ids_matter = packed
    table = GroupTable.unpack(b64decode(groups))
    return table, Measure(*before), Measure(*after), tuple(notes), dict(moved), ids_matter
