"""Rows agree with the tree, whatever the roles."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from chainviz.core.chain.messages import Message, Text
from chainviz.core.chain.tree import parse, span
from chainviz.core.diff.rows import Measure, ShapeRows

roles = st.lists(st.sampled_from(["system", "human", "ai", "tool", "other"]), max_size=20)


@given(roles)
def test_rows_are_the_header_messages_and_pairs_of_the_tree(roles: list[str]) -> None:
    messages = [Message(role, (Text("x" * i),)) for i, role in enumerate(roles)]
    rows = ShapeRows(messages)
    tree = parse(messages)
    found = rows.rows(0, len(messages))
    assert [row.start for row in found] == [0, *(row.stop for row in found)][: len(found)]
    assert sum(row.stop - row.start for row in found) == len(messages)
    assert rows.starts(0, len(messages)) == [row.start for row in found]
    for row in found:
        assert span(tree, row.path) == range(row.start, row.stop)
        assert rows.rows(row.stop - 1, row.stop) == [row]
    assert sum(row.is_pair for row in found) == sum(len(section.body) for section in tree.sections)
    assert rows.measure(0, len(messages)) == Measure(len(messages), sum(1 for _ in tree.pairs()), tree.size)


@given(roles)
def test_measures_of_rows_add_up(roles: list[str]) -> None:
    rows = ShapeRows([Message(role, (Text("x" * i),)) for i, role in enumerate(roles)])
    total = Measure()
    for row in rows.rows(0, len(rows)):
        total += rows.measure(row.start, row.stop)
        assert rows.measure(row.start, row.stop) == Measure(row.stop - row.start, row.is_pair, row.size)
    assert total == rows.measure(0, len(rows))
