"""Values are skipped without decoding them: the end is where a JSON decoder finds it."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from chainviz.core.documents.json.scan import Window, skip_value
from chainviz.core.documents.source import open_source

TEXTS = st.text(alphabet='"\\a[]{},:\n', max_size=12)
VALUES = st.recursive(TEXTS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3), max_leaves=12)


@given(st.lists(VALUES, max_size=3), TEXTS)
def test_value_ends_where_a_decoder_ends_it(value: list[object], behind: str) -> None:
    text = json.dumps(value)
    with open_source((text + behind).encode()) as source:
        assert skip_value(Window(source, 0, source.size), 1) == len(text)
