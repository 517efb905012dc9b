"""Rows of the same form are checked once. Each has the problems that it would have if it was checked on its own."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chainviz.core.chain.messages import Fragment
from chainviz.core.formats import get_format
from chainviz.store.outline.rows import Row, cut_rows
from chainviz.store.outline.rules import problem_rules
from chainviz.store.outline.rules.problem_rules import Neighbours, check_rows
from tests.examples import examples

CHAT = get_format("openai_chat")
CONTENTS = st.sampled_from(["words", "", " ", "ö", "\ud800", None, 7, [], [{"type": "text", "text": "a"}], [{"type": "strange"}]])
IDS = st.sampled_from(["call_1", "", "call 2", "x" * 70, None, 3])
FUNCTIONS = st.fixed_dictionaries(
    {"name": st.sampled_from(["ls", "", "l s", None]), "arguments": st.sampled_from(["{}", "[]", "{", "", '{"a": "\\ud800"}', {}])}
)
CALLS = st.fixed_dictionaries({"id": IDS, "type": st.sampled_from(["function", "custom", None]), "function": FUNCTIONS})
ROLES = st.sampled_from(["system", "user", "assistant", "assistant", "tool", "tool", "function"])
EXTRA = {"tool_call_id": IDS, "tool_calls": st.lists(CALLS, max_size=2), "name": IDS, "reasoning_content": CONTENTS, "odd": CONTENTS}
MESSAGES = st.fixed_dictionaries({"role": ROLES, "content": CONTENTS}, optional=EXTRA)
CALL = {"id": "call_1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
USUAL: list[dict[str, Any]] = [
    {"role": "assistant", "content": "a", "tool_calls": [CALL]},
    {"role": "tool", "tool_call_id": "call_1", "content": "b"},
]


def rows_of(values: list[dict[str, Any]]) -> list[Row]:
    fragments = [Fragment(i, "", json.dumps(value)) for i, value in enumerate(values)]
    read = [CHAT.message("", (fragment,)) for fragment in fragments]
    cut = list(cut_rows(read))
    return check_rows(cut, Neighbours(format=CHAT.name), lambda row, call: False)


@given(st.lists(MESSAGES, min_size=2, max_size=12))
@examples(60)
def test_row_has_the_problems_of_its_own(values: list[dict[str, Any]]) -> None:
    values = [{"role": "user", "content": "go"}, *USUAL, *values, *values]
    found = rows_of(values)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(problem_rules, "_usual_form", lambda format: None)
        assert rows_of(values) == found


def test_problems_of_the_last_of_many_rows_are_kept() -> None:
    rows = rows_of([{"role": "user", "content": "go"}, *USUAL * 200, {"role": "user", "content": "end"}])
    assert {len(row.problems) for row in rows[2:-1]} == {1}
    assert all(one.problems == other.problems for one, other in pairwise(rows[2:-1]))
