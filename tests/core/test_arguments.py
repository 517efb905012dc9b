"""Arguments become JSON by the smallest change, and nothing is lost without saying so."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chainviz.core.chain.arguments import fix_json, is_json, is_json_object, sanitize


@pytest.mark.parametrize(
    ("text", "mended", "how"),
    [
        ('{"a": 1.0}', '{"a": 1.0}', "valid"),
        ("[1]", "[1]", "valid"),
        ("", "{}", "empty"),
        (" \n", "{}", "empty"),
        ('{"a": "x\ny"}', '{"a": "x\\ny"}', "escaped"),
        ('{"a": "\x01"}', '{"a": "\\u0001"}', "escaped"),
        ('{"a": "x', '{"a": "x"}', "closed"),
        ('{"a": "x\\', '{"a": "x"}', "closed"),
        ('{"a": "x\\u00', '{"a": "x"}', "closed"),
        ('{"a": "l1\nl2', '{"a": "l1\\nl2"}', "closed"),
        ('{"a": [1, {"b": tr', '{"a": [1, {"b": true}]}', "closed"),
        ('{"a": 1,', '{"a": 1}', "closed"),
        ('{"a": 1.', '{"a": 1}', "closed"),
        ('{"a"', '{"a":null}', "closed"),
        ('{"a":', '{"a":null}', "closed"),
        ("{", "{}", "closed"),
        ("ls -la", "{}", "replaced"),
        ('{"a": NaN}', "{}", "replaced"),
        ('{"a"]}', "{}", "replaced"),
        ("{'a': 1}", "{}", "replaced"),
    ],
)
def test_mending(text: str, mended: str, how: str) -> None:
    assert (fix_json(text).text, fix_json(text).how) == (mended, how)


@given(st.text())
def test_the_result_is_always_json_and_mending_is_idempotent(text: str) -> None:
    once = fix_json(text)
    assert is_json(once.text)
    assert fix_json(once.text).text == once.text
    assert is_json(sanitize(text))


values = st.recursive(st.none() | st.booleans() | st.integers() | st.text(max_size=6), st.lists, max_leaves=5)
objects = st.dictionaries(st.text(max_size=4), values, min_size=1)


def test_a_key_cut_after_an_escaped_backslash_is_closed() -> None:
    assert fix_json(r'{"a\\').text == r'{"a\\":null}'


@given(objects, st.data())
def test_an_object_cut_anywhere_is_closed_again(value: dict[str, object], draw: st.DataObject) -> None:
    text = json.dumps(value)
    cut = text[: draw.draw(st.integers(1, len(text) - 1))]
    assert fix_json(cut).how == "closed"
    assert is_json_object(fix_json(cut).text)


def test_huge_numbers_and_deep_nesting_do_not_crash() -> None:
    assert is_json("1" * 10_000) and is_json('{"a": 1e400}')
    assert fix_json("[" * 100_000).how in ("closed", "replaced")
