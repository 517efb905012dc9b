"""JSON text that two sides changed: different values merge, the same one is chosen, and the result is JSON."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chainviz.core.diff.merge.items import merge_texts, merge_words

BASE = r'{"a":"one \"two\"","b":4,"c":["x","y"]}'
VALUES = st.recursive(
    st.integers(0, 3) | st.sampled_from(("x", 'y "z"', None, True)),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
    max_leaves=6,
)


@pytest.mark.parametrize(
    ("mine", "theirs", "merged"),
    [
        ((r"one \"two\"", "1"), ("4", '"[CARD]"'), r'{"a":"1","b":"[CARD]","c":["x","y"]}'),
        (("4", "5"), ("4", "5"), BASE.replace("4", "5")),
        (('"x",', ""), ("", ""), BASE.replace('"x",', "")),
    ],
)
def test_different_values_merge(mine: tuple[str, str], theirs: tuple[str, str], merged: str) -> None:
    found = merge_texts(BASE, BASE.replace(*mine), BASE.replace(*theirs))
    assert not found.has_conflicts and found.chosen("mine") == found.chosen("theirs") == merged


def test_the_same_value_is_chosen_and_the_rest_merges() -> None:
    mine, theirs = BASE.replace("one", "ONE").replace("4", "5"), BASE.replace("two", "TWO").replace('"x"', '"X"')
    found = merge_texts(BASE, mine, theirs)
    assert found.has_conflicts
    assert found.chosen("mine") == r'{"a":"ONE \"two\"","b":5,"c":["X","y"]}'
    assert found.chosen("theirs") == r'{"a":"one \"TWO\"","b":5,"c":["X","y"]}'
    assert found.chosen("both") == r'{"a":"ONE \"TWO\"","b":5,"c":["X","y"]}'


@pytest.mark.parametrize(
    ("mine", "theirs", "both"),
    [
        ("A two three", "one two C", "A two C"),
        ("A two three", "one B three", "A B three"),
        ("A two three", "A two C", "A two C"),
        ("two three", "one two", "two"),
        ("A two three", "B two three", None),
        ("one X two three", "one Y two three", None),
        ("one", "one two four", None),
    ],
)
def test_words_of_one_value_merge_where_they_differ(mine: str, theirs: str, both: str | None) -> None:
    assert merge_words("one two three", mine, theirs) == merge_words("one two three", theirs, mine) == both


def test_an_escape_is_one_word() -> None:
    assert merge_words(r"a\nb\u0041", r"a\tb\u0041", r"a\nb\u0042") == r"a\tb\u0042"


def test_members_that_went_are_one_conflict() -> None:
    mine, theirs = BASE.replace('"x",', ""), BASE.replace("4", "5")
    found = merge_texts(BASE, mine, theirs)
    assert (found.has_conflicts, found.chosen("mine"), found.chosen("theirs")) == (True, mine, theirs)


@given(VALUES, VALUES, VALUES)
def test_what_was_merged_is_json(base: Any, mine: Any, theirs: Any) -> None:
    found = merge_texts(*map(json.dumps, (base, mine, theirs)))
    for text in filter(None, (found.mine, found.theirs, found.both)):
        json.loads(text)
