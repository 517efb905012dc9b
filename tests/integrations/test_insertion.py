"""A value added to JSON text: it is there, everything else is as it was, and cutting it gives the old text."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chainviz.core.errors import Refused
from chainviz.integrations.changes import insertion

KEYS = st.sampled_from(["hooks", "SessionStart", "a", 'quo"ted', "{"])
VALUES = st.recursive(
    st.none() | st.integers() | st.text(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=8
)
SETTINGS = st.dictionaries(KEYS, VALUES | st.dictionaries(KEYS, VALUES | st.lists(VALUES)))


@given(SETTINGS, st.sampled_from([None, 1, 2, "\t"]))
def test_value_is_added_and_nothing_else_changes(settings: dict[str, Any], indent: Any) -> None:
    text = json.dumps(settings, indent=indent)
    before = settings.get("hooks", {})
    added = {"x": [1, "é"]}
    try:
        found = insertion(text, ("hooks", "SessionStart"), [added])
    except Refused:
        assert not isinstance(before, dict) or not isinstance(before.get("SessionStart", []), list)
        return
    after = json.loads(found.into(text))
    assert after["hooks"]["SessionStart"] == [added, *before.get("SessionStart", [])]
    assert found.into(text).replace(found.text, "", 1) == text or found.into(text).count(found.text) > 1
    assert {**after["hooks"], "SessionStart": None} == {**before, "SessionStart": None}
    assert {**after, "hooks": None} == {**settings, "hooks": None}


def test_comments_and_trailing_commas_stay() -> None:
    text = '{\n    // mine\n    "mcp": {"other": {"url": "http://x/*y*/"},}, /* {"mcp": 1} */\n}\n'
    found = insertion(text, ("mcp", "chainviz"), {"a": 1})
    assert found.into(text).startswith('{\n    // mine\n    "mcp": {\n        "chainviz": {')
    assert found.into(text).replace(found.text, "") == text


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("[]", "The file does not contain a JSON object."),
        ('{"mcp": {"chainviz": {}}}', "mcp.chainviz is already set."),
        ('{"mcp": 3}', "mcp.chainviz is neither an object nor a list."),
        ('{"a": 1', "The file is not valid JSON: it ends too early."),
        ('{"a" 1}', "The file is not valid JSON."),
    ],
)
def test_a_file_that_cannot_take_it_is_refused(text: str, sentence: str) -> None:
    with pytest.raises(Refused, match=sentence[:20]) as refused:
        insertion(text, ("mcp", "chainviz"), {})
    assert str(refused.value) == sentence
