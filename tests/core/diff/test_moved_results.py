"""A result that is unchanged in another pair moved: it is shown once, where it is now."""

from __future__ import annotations

from chainviz.core.chain.messages import Message
from chainviz.core.diff.text import render
from tests.core.diff.test_chains import ai, compare, h, t

LATE = [h("go"), ai("", "1"), ai("still waiting"), t("1", "found it"), h("thanks"), ai("bye")]
IN_PLACE = [h("go"), ai("", "1"), t("1", "found it"), ai("still waiting"), h("thanks"), ai("bye")]


def test_a_late_result_that_was_put_behind_its_call() -> None:
    diff = compare(LATE, IN_PLACE)
    assert [(group.kind, str(group.new.first)) for group in diff.changes] == [("changed", "s1.p1")]
    assert diff.moved == {2: 3} and diff.moved_to == {3: 2}
    [left] = [group for group in diff.groups if group.is_departure]
    assert (str(left.old.first), str(left.new.first), str(left.other)) == ("s1.p2", "s1.p2", "s1.p1")
    lines = list(render(diff))
    assert lines[1] == "changes: 1 changed"
    assert "    tool message moved from s1.p2" in lines and not any("found it" in line for line in lines)


def test_a_result_alone_that_found_its_call() -> None:
    """Behind a human message a result is a pair of its own, which is gone."""
    diff = compare([h("go"), ai("", "1"), h("well?"), t("1")], [h("go"), ai("", "1"), t("1"), h("well?")])
    assert diff.moved == {2: 3}
    assert [group.kind for group in diff.changes] == ["changed"]


def test_the_other_way_round_it_is_a_move_too() -> None:
    diff = compare([h("go"), ai("", "1"), t("1"), h("well?")], [h("go"), ai("", "1"), h("well?"), t("1")])
    assert [group.kind for group in diff.changes] == ["moved"]
    assert str(diff.changes[0].other) == "s1.p1"


def test_a_row_that_changed_otherwise_too_stays_a_change() -> None:
    other = [h("go"), ai("", "1"), t("1", "found it"), ai("not waiting"), h("thanks"), ai("bye")]
    diff = compare(LATE, other)
    assert [group.kind for group in diff.changes] == ["changed", "changed"]
    assert diff.moved == {2: 3}
    assert "    tool message moved away" in list(render(diff))


def test_another_result_is_no_move() -> None:
    changed: list[Message] = [*IN_PLACE[:2], t("1", "found more"), *IN_PLACE[3:]]
    diff = compare(LATE, changed)
    assert not diff.moved and [group.kind for group in diff.changes] == ["changed", "changed"]
