"""Groups as columns: the same groups come back, packed or not, and what is picked is what a look at each would pick."""

from __future__ import annotations

from collections import Counter

from hypothesis import given

from chainviz.core.chain.messages import Message
from chainviz.core.diff.group_table import GroupTable
from tests.core.diff.test_chains import chains, compare


@given(chains, chains)
def test_groups_come_back_as_they_were(old: list[Message], new: list[Message]) -> None:
    table = compare(old, new).groups
    groups = list(table)
    assert GroupTable.of(groups) == table == GroupTable.unpack(table.pack())
    assert list(table.changes) == [group for group in groups if group.is_change]
    assert list(table.visible) == [group for group in groups if not (group.is_departure and group.new.is_empty)]
    assert table.counts == Counter(group.kind for group in groups if group.is_change)
    assert (list(table[1:]), list(table.visible[:2])) == (groups[1:], list(table.visible)[:2])
    for group in groups:
        if group.kind == "same":
            assert table.same_at(group.new.start) == group
    assert table.same_at(10**6) is None
