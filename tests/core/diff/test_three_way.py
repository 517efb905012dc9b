"""Three-way merge: what only one side changed comes by itself; what both changed is chosen, and nothing is lost unasked."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from chainviz.core.diff.merge.items import Choice, Entry, Keys, Merged, merge_items
from chainviz.core.diff.merge.messages import Contents
from chainviz.core.diff.merge.three_way import Change, Conflict, Merge, merge


class Numbers:
    """A base of numbers. A row begins at each that can be divided by ten; the others continue the row before."""

    def __init__(self, *numbers: int) -> None:
        self.numbers = numbers

    def __len__(self) -> int:
        return len(self.numbers)

    def slice(self, start: int, stop: int) -> Sequence[int]:
        return self.numbers[start:stop]

    def span(self, place: int) -> tuple[int, int]:
        begins = [i for i, number in enumerate(self.numbers) if i == 0 or number % 10 == 0]
        stops = [*begins[1:], len(self.numbers)]
        return next((a, b) for a, b in zip(begins, stops, strict=True) if a <= place < b)

    def continue_rows(self, items: Sequence[int]) -> Sequence[bool]:
        return [item % 10 != 0 for item in items]

    def keys(self, items: Sequence[int]) -> Sequence[int]:
        return items

    def merged(self, stretch: Contents[int]) -> Merged[tuple[int, ...]] | None:
        """Rows are merged item by item."""
        if not stretch.base.items or not all(self.continue_rows(stretch.base.items[1:])):
            return None
        sides = (stretch.base, stretch.mine, stretch.theirs)
        found = merge_items(*([Entry(each, Keys(each, each % 100, each % 10 == 0)) for each in side.items] for side in sides), joined)
        return replace(found, mine=stretch.mine.items, theirs=stretch.theirs.items) if found.has_conflicts else found

    def may_repeat(self, mine: Sequence[int], theirs: Sequence[int]) -> bool:
        return 666 not in (*mine, *theirs)


def joined(base: int, mine: int, theirs: int) -> Merged[tuple[int, ...]]:
    """Both changes of one digit; those of the units never join."""
    changes = [(side - base) % 1000 for side in (mine, theirs)]
    both = (base + sum(changes),) if sorted(changes) == [100, 200] and base % 20 == 0 else None
    return Merged((mine,), (theirs,), both, has_conflicts=True)


def applied(base: Sequence[int], changes: Iterable[Change[int]]) -> list[int]:
    result: list[int] = []
    place = 0
    for change in changes:
        assert change.start >= place, "out of order"
        result += [*base[place : change.start], *change.items]
        place = change.start + change.removed
    return [*result, *base[place:]]


def merged(base: Numbers, mine: list[Change[int]], theirs: list[Change[int]], *choices: Choice) -> list[int]:
    return applied(base.numbers, merge(base, mine, theirs).changes(choices))


TALK = Numbers(10, 20, 21, 22, 30, 40, 41)
"""Rows: 10 · 20 21 22 · 30 · 40 41."""


def edit(place: int, *items: int) -> Change[int]:
    return Change(place, 1, items)


def insert(place: int, *items: int) -> Change[int]:
    return Change(place, 0, items)


def test_changes_of_different_rows_need_no_choice() -> None:
    assert merged(TALK, [edit(0, 110)], [edit(2, 121), insert(7, 50)]) == [110, 20, 121, 22, 30, 40, 41, 50]


def test_an_insertion_beside_a_changed_row_needs_no_choice() -> None:
    assert merged(TALK, [insert(4, 25)], [Change(4, 1)]) == [10, 20, 21, 22, 25, 40, 41]


def test_what_an_operation_wrote_again_unchanged_is_no_change() -> None:
    """An operation over a whole section writes all of its messages; only those that differ are in question."""
    whole = Change(0, 5, (10, 20, 121, 22, 30))
    assert merged(TALK, [whole], [edit(0, 110), edit(4, 230)]) == [110, 20, 121, 22, 230, 40, 41]


def test_neighbouring_rows_that_were_changed_together_are_chosen_one_by_one() -> None:
    found = merge(TALK, [Change(0, 2, (110, 120))], [edit(0, 210)])
    assert [found.regions[i].stop for each in found.conflicts for i in each.places] == [1]
    assert applied(TALK.numbers, found.changes(["theirs"])) == [210, 120, 21, 22, 30, 40, 41]


def test_the_same_change_on_both_sides_needs_no_choice() -> None:
    assert merged(TALK, [edit(0, 110), edit(4, 130)], [edit(0, 110)]) == [110, 20, 21, 22, 130, 40, 41]


def test_a_row_that_one_side_changed_and_changed_back_is_not_chosen() -> None:
    back, other = [edit(4, 30)], [edit(4, 230)]
    assert merged(TALK, back, other) == merged(TALK, other, back) == [10, 20, 21, 22, 230, 40, 41]


def test_one_row_changed_by_both() -> None:
    mine, theirs = [edit(4, 130)], [edit(4, 230)]
    for choice, row in {"mine": [130], "theirs": [230], "both": [130, 230]}.items():
        assert merged(TALK, mine, theirs, choice) == [10, 20, 21, 22, *row, 40, 41]  # type: ignore[arg-type]


def test_both_changes_of_one_item_are_joined_where_they_can_be() -> None:
    found = merge(TALK, [edit(1, 120)], [edit(1, 220)])
    assert [is_joined(each) for each in found.conflicts] == [True]
    assert applied(TALK.numbers, found.changes(["both"])) == [10, 320, 21, 22, 30, 40, 41]


def test_what_must_not_be_there_twice_is_not_offered() -> None:
    found = merge(TALK, [edit(4, 666)], [edit(4, 230)])
    assert [each.choices for each in found.conflicts] == [("mine", "theirs")]
    added = merge(TALK, [insert(7, 666)], [insert(7, 60)])
    assert [each.choices for each in added.conflicts] == [("mine", "theirs", "both")], "nothing was replaced"


def test_different_items_of_one_row_need_no_choice() -> None:
    found = merge(TALK, [edit(1, 120)], [edit(3, 222)])
    assert not found.conflicts and [found.regions[i].start for each in found.shared for i in each.places] == [1]
    assert applied(TALK.numbers, found.changes([])) == [10, 120, 21, 222, 30, 40, 41]
    assert applied(TALK.numbers, found.changes_of_mine()) == [10, 120, 21, 22, 30, 40, 41]


def test_an_item_removed_from_a_row_and_another_one_changed_need_no_choice() -> None:
    assert merged(TALK, [Change(1, 2, (120,))], [edit(3, 222)]) == [10, 120, 222, 30, 40, 41]


def test_an_item_that_one_side_removed_and_the_other_changed_is_chosen() -> None:
    found = merge(TALK, [Change(1, 2, (120,))], [edit(2, 221)])
    assert applied(TALK.numbers, found.changes(["mine"])) == [10, 120, 22, 30, 40, 41]
    assert applied(TALK.numbers, found.changes(["theirs"])) == [10, 20, 221, 22, 30, 40, 41]


def test_deleted_by_one_and_edited_by_the_other() -> None:
    found = merge(TALK, [Change(4, 1)], [edit(4, 230)])
    assert [each.choices for each in found.conflicts] == [("mine", "theirs")], "both would be theirs"
    assert applied(TALK.numbers, found.changes(["mine"])) == [10, 20, 21, 22, 40, 41]
    assert applied(TALK.numbers, found.changes(["theirs"])) == [10, 20, 21, 22, 230, 40, 41]


def test_both_inserted_after_the_same_row() -> None:
    mine, theirs = [insert(7, 50)], [insert(7, 60)]
    assert merged(TALK, mine, theirs, "both")[-2:] == [50, 60]
    assert merged(TALK, mine, theirs, "mine")[-1] == 50 and merged(TALK, mine, theirs, "theirs")[-1] == 60


def test_inserted_among_rows_that_the_other_removed() -> None:
    found = merge(TALK, [Change(4, 3)], [insert(5, 35)])
    assert len(found.conflicts) == 1
    assert applied(TALK.numbers, found.changes(["theirs"])) == [10, 20, 21, 22, 30, 35, 40, 41]


def test_a_result_that_continues_a_changed_row_is_part_of_it() -> None:
    assert len(merge(TALK, [edit(1, 120)], [insert(4, 23)]).shared) == 1
    assert not merge(TALK, [edit(1, 120)], [insert(4, 25 * 10)]).shared


def test_moved_by_one_and_edited_by_the_other_goes_together() -> None:
    """Chosen alone, the place it left would bring it back while the place it came to keeps it: it would be there twice."""
    found = merge(TALK, [insert(0, 30), Change(4, 1)], [edit(4, 230)])
    assert len(found.conflicts) == 1 and len(found.conflicts[0].places) == 2
    assert applied(TALK.numbers, found.changes(["mine"])) == [30, 10, 20, 21, 22, 40, 41]
    assert applied(TALK.numbers, found.changes(["theirs"])) == [10, 20, 21, 22, 230, 40, 41]
    assert applied(TALK.numbers, found.changes(["both"])) == [230, 10, 20, 21, 22, 40, 41], "edited, in its new place"


def test_an_empty_base() -> None:
    assert merged(Numbers(), [insert(0, 1)], [insert(0, 2)], "both") == [1, 2]


def is_joined(conflict: Conflict[int]) -> bool:
    return conflict.resolution is not None and conflict.offers("both") and conflict.resolution.is_joined


@st.composite
def changes(draw: st.DrawFn, length: int) -> list[Change[int]]:
    found: list[Change[int]] = []
    place = 0
    for _ in range(draw(st.integers(0, 4))):
        start = draw(st.integers(place, length))
        removed = draw(st.integers(0, min(3, length - start)))
        items = draw(st.lists(st.integers(100, 140), max_size=3))
        if (removed or items) and (not found or start > place or removed):
            found.append(Change(start, removed, tuple(items)))
            place = start + removed
    return found


@st.composite
def cases(draw: st.DrawFn) -> tuple[Numbers, list[Change[int]], list[Change[int]]]:
    base = Numbers(*draw(st.lists(st.integers(0, 50), max_size=12)))
    return base, draw(changes(len(base))), draw(changes(len(base)))


def outside(found: Merge[int], side: str) -> list[Change[int]]:
    """Changes of a side in no conflict."""
    disputed = {i for each in found.conflicts for i in each.places}
    return [change for i, each in enumerate(found.regions) if i not in disputed for change in getattr(each, side)]


def sorted_changes(*lists: list[Change[int]]) -> list[Change[int]]:
    unique = {(each.start, each.removed, each.items): each for one in lists for each in one}
    return sorted(unique.values(), key=lambda each: (each.start, each.removed))


@given(cases())
def test_one_side_everywhere_is_that_side_and_what_the_other_changed_elsewhere(
    case: tuple[Numbers, list[Change[int]], list[Change[int]]],
) -> None:
    base, mine, theirs = case
    found = merge(base, mine, theirs)
    count = len(found.conflicts)
    for own, side, other in ((mine, "mine", "theirs"), (theirs, "theirs", "mine")):
        result = applied(base.numbers, found.changes([side] * count))  # type: ignore[list-item]
        if not outside(found, other):
            assert result == applied(base.numbers, own)
        if all(not (each.mine and each.theirs) for i, each in enumerate(found.regions)):
            assert result == applied(base.numbers, sorted_changes(mine, theirs))


@given(cases())
def test_a_side_that_changed_nothing_leaves_the_other_as_it_is(case: tuple[Numbers, list[Change[int]], list[Change[int]]]) -> None:
    base, mine, _ = case
    for found in (merge(base, mine, []), merge(base, [], mine), merge(base, mine, mine)):
        assert not found.conflicts
        assert applied(base.numbers, found.changes([])) == applied(base.numbers, mine)


@given(cases())
def test_exchanged_sides_find_the_same_conflicts(case: tuple[Numbers, list[Change[int]], list[Change[int]]]) -> None:
    base, mine, theirs = case
    one, other = merge(base, mine, theirs), merge(base, theirs, mine)
    assert [each.places for each in one.conflicts] == [each.places for each in other.conflicts]
    a = applied(base.numbers, one.changes(["mine"] * len(one.conflicts)))
    assert a == applied(base.numbers, other.changes(["theirs"] * len(one.conflicts)))


@given(cases())
def test_both_loses_nothing_that_a_side_added(case: tuple[Numbers, list[Change[int]], list[Change[int]]]) -> None:
    base, mine, theirs = case
    found = merge(base, mine, theirs)
    if not all(each.offers("both") for each in found.conflicts):
        return
    result = applied(base.numbers, found.changes(["both"] * len(found.conflicts)))
    for side in (mine, theirs):
        assert {item for each in side for item in each.items} <= set(result)
