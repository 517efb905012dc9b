"""JSON objects that two sides changed: different members merge, also added and removed ones, and the result is JSON."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chainviz.core.diff.merge.items import merge_json

BASE = '{"a": 1, "b": {"c": "one two"}}'
LEAVES = st.integers(0, 3) | st.sampled_from(("x", 'y "z"', None, True))
OBJECTS = st.recursive(
    LEAVES, lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from("abcd"), inner, max_size=3), max_leaves=6
).filter(lambda value: isinstance(value, dict))


@pytest.mark.parametrize(
    ("mine", "theirs", "both"),
    [
        ('{"a": 2, "b": {"c": "one two"}}', '{"a": 1, "b": {"c": "one two"}, "d": [1]}', '{"a": 2, "b": {"c": "one two"}, "d": [1]}'),
        ('{"b": {"c": "one two"}}', '{"a": 1, "b": {"c": "one 2"}}', '{"b": {"c": "one 2"}}'),
        ('{"a": 1, "b": {"c": "1 two"}, "e": 0}', '{"a": 1, "b": {"c": "one 2", "d": 3}}', '{"a": 1, "b": {"c": "1 2", "d": 3}, "e": 0}'),
        ('{"a":1,"x":{}}', '{"x": {}, "a": 1, "b": {"c": "one two"}}', '{"a":1,"x":{}}'),
        ('{"a": 2, "z": 1}', '{"a": 3}', None),
        ('{"z": 1}', '{"a": 3, "b": {"c": "one two"}}', None),
        ('{"a": 1, "b": 2, "z": 1}', '{"a": 1, "b": {}}', None),
        ('{"z": 1}', '{"z": 2}', None),
    ],
)
def test_members_merge_one_by_one(mine: str, theirs: str, both: str | None) -> None:
    found = merge_json(BASE, mine, theirs)
    assert (found and json.loads(found)) == (both and json.loads(both))


def test_a_value_is_not_taken_for_the_one_that_stood_in_its_place() -> None:
    """One side removes the first member and adds a last one, so that each value stands where another one stood."""
    base, mine, theirs = '{"a": 0, "b": 0, "d": 0}', '{"b": 0, "d": 0, "c": 0}', '{"a": 0, "b": 0, "d": 1}'
    for sides in ((mine, theirs), (theirs, mine)):
        found = merge_json(base, *sides)
        assert found and json.loads(found) == {"b": 0, "c": 0, "d": 1}


@pytest.mark.parametrize(
    ("mine", "theirs", "both"),
    [
        ('[{"id": 1}, {"id": 2, "x": 0}]', '[{"id": 3}, {"id": 2}]', '[{"id": 3}, {"id": 2, "x": 0}]'),
        ('[{"id": 2}, {"id": 3}]', '[{"id": 1}, {"id": 2, "done": 1}]', None),
        ('[{"id": 1}]', '[{"id": 1}, {"id": 2, "done": 1}]', None),
    ],
)
def test_items_merge_where_they_stand(mine: str, theirs: str, both: str | None) -> None:
    assert merge_json('[{"id": 1}, {"id": 2}]', mine, theirs) == both


def test_spelling_stays() -> None:
    base, mine, theirs = '{"a":1.0,\n "b": 2}', '{"a":1.0,\n "b": 3}', '{"a":1.0, "b": 2, "c":"\\u00fc"}'
    assert merge_json(base, mine, theirs) == '{"a":1.0,\n "b": 3,\n "c":"\\u00fc"}'


def test_very_deep_objects_are_not_merged() -> None:
    base, mine, theirs = ('{"a":' * 900 + inner + "}" * 900 for inner in ('{"b":1}', '{"b":2}', '{"c":1,"b":1}'))
    found = merge_json(base, mine, theirs)
    assert found is None or json.loads(found)


@given(OBJECTS, OBJECTS, OBJECTS)
def test_what_was_merged_is_json(base: Any, mine: Any, theirs: Any) -> None:
    found = merge_json(*map(json.dumps, (base, mine, theirs)))
    if found is not None:
        json.loads(found)


@given(OBJECTS, st.data())
def test_changes_of_different_members_are_all_kept_in_either_order(base: dict[str, Any], data: st.DataObject) -> None:
    mine, theirs = dict(base), dict(base)
    for key in "abcd":
        side = data.draw(st.sampled_from((mine, theirs)))
        if data.draw(st.booleans()):
            side[key] = data.draw(LEAVES)
        elif data.draw(st.booleans()):
            side.pop(key, None)
    expected = {key: (mine if mine.get(key, ...) is not base.get(key, ...) else theirs).get(key, ...) for key in "abcd"}
    one, other = (merge_json(json.dumps(base), json.dumps(a), json.dumps(b)) for a, b in ((mine, theirs), (theirs, mine)))
    assert one is not None and other is not None
    assert json.loads(one) == json.loads(other) == {key: value for key, value in expected.items() if value is not ...}
