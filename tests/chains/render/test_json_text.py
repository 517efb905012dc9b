"""JSON is laid out without changing a single token."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chainviz.chains.render.json_text import DEEPEST, lay_out, paint

VALUES = st.recursive(
    st.none() | st.booleans() | st.floats(allow_nan=False) | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
).filter(lambda value: isinstance(value, (dict, list)))


def test_layout() -> None:
    assert lay_out('{"a":1.0e5,"b":[],"c":{"x":[1,true]}}') == (
        '{\n  "a": 1.0e5,\n  "b": [],\n  "c": {\n    "x": [\n      1,\n      true\n    ]\n  }\n}'
    )


@given(VALUES, st.sampled_from([None, 2]))
def test_laid_out_json_means_the_same(value: object, indent: int | None) -> None:
    text = lay_out(json.dumps(value, indent=indent))
    assert text is not None
    assert json.loads(text.replace("↵\n", "\\n")) == value or "↵" in json.dumps(value, ensure_ascii=False)


def test_numbers_and_double_keys_stay_as_they_are_spelled() -> None:
    text = lay_out('{"a": 1E400, "a": 12345678901234567890.10}')
    assert text == '{\n  "a": 1E400,\n  "a": 12345678901234567890.10\n}'


def test_line_breaks_in_strings_break_the_line() -> None:
    assert lay_out('["a\\nb\\\\nc"]') == '[\n  "a↵\nb\\\\nc"\n]'


@pytest.mark.parametrize("text", ["", "plain", "12", '"text"', "{broken", "[" * 100_000, '{"a": tru}'])
def test_anything_else_is_left_alone(text: str) -> None:
    assert lay_out(text) is None


def test_colours_are_spans_around_escaped_tokens() -> None:
    html = paint('{"<b>": "</script>", "n": 1, "t": null}')
    assert '<span class="json-key">&quot;&lt;b&gt;&quot;</span>:' in html
    assert '<span class="json-string">&quot;&lt;/script&gt;&quot;</span>' in html
    assert '<span class="json-literal">null</span>' in html
    assert "<b>" not in html


def test_many_tokens_are_not_coloured() -> None:
    assert "<span" not in paint(json.dumps(list(range(1000))))


def test_deep_json_stays_in_its_column() -> None:
    deep = "[" * 3 * DEEPEST + "1" + "]" * 3 * DEEPEST
    laid_out = lay_out(deep)
    assert laid_out is not None and "".join(laid_out.split()) == deep
    assert max(len(line) for line in laid_out.splitlines()) == 2 * DEEPEST + 1
