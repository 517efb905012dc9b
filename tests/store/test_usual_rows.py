"""Rows of the same form are checked once. Each has the problems that it would have if it was checked on its own."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import pairwise
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chainviz.core.chain.messages import Message
from chainviz.core.documents.units import Unit
from chainviz.core.formats import get_format
from chainviz.core.formats.contract import Format
from chainviz.core.providers.contract import UNUSUAL
from chainviz.core.providers.request import Request
from chainviz.store.outline.rows import Row, cut_rows
from chainviz.store.outline.rules import problem_rules
from chainviz.store.outline.rules.problem_rules import Neighbours, check_rows
from tests.core.formats.chains import sample_chains
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


BLOCKS = st.one_of(
    st.fixed_dictionaries({"type": st.just("text"), "text": CONTENTS}, optional={"odd": CONTENTS}),
    st.fixed_dictionaries({"type": st.just("thinking"), "thinking": CONTENTS}, optional={"signature": CONTENTS}),
    st.fixed_dictionaries(
        {"type": st.just("tool_use"), "id": IDS, "name": IDS, "input": st.sampled_from([{}, {"a": "\ud800"}, 7])},
        optional={"caller": st.just({"type": "code_execution_20250825"})},
    ),
    st.fixed_dictionaries(
        {"type": st.just("tool_result"), "tool_use_id": IDS, "content": CONTENTS | st.just([{"type": "tool_reference", "tool_name": "f"}])},
        optional={"is_error": st.booleans()},
    ),
    st.sampled_from([{"type": "compaction"}, {"type": "server_tool_use", "id": "srvtoolu_1", "name": "f", "input": {}}]),
)
TURNS = st.fixed_dictionaries(
    {"role": st.sampled_from(["user", "assistant", "system"]), "content": st.lists(BLOCKS, max_size=3)}, optional={"odd": CONTENTS}
)
ANSWERED: list[dict[str, Any]] = [
    {"role": "assistant", "content": [{"type": "tool_use", "id": "call_1", "name": "f", "input": {}}]},
    {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "call_1", "content": "b"}]},
]


def messages_of(values: list[dict[str, Any]], format: Format) -> list[Message]:
    units = [Unit(i, "", text := json.dumps(value), json.loads(text), -1) for i, value in enumerate(values)]
    return [each for each in format.read(units) if isinstance(each, Message)]


def rows_of(messages: Sequence[Message], format: str) -> list[Row]:
    """Return the rows, after a comparison with rows that are checked one by one."""
    cut, request = list(cut_rows(messages)), Request("claude-opus-4-1", ("messages",), ("g",))
    rows = check_rows(cut, Neighbours(format=format, request=request), lambda row, call: False)
    with pytest.MonkeyPatch.context() as context:
        context.setattr(problem_rules, "_unusual_in", lambda format: (lambda message: (UNUSUAL,),))
        assert check_rows(cut, Neighbours(format=format, request=request), lambda row, call: False) == rows
    return rows


@given(st.lists(MESSAGES, min_size=2, max_size=12))
@examples(60)
def test_row_has_the_problems_of_its_own(values: list[dict[str, Any]]) -> None:
    rows_of(messages_of([{"role": "user", "content": "go"}, *USUAL, *values, *values], CHAT), CHAT.name)


@pytest.mark.parametrize("name", ["anthropic", "claude_code"])
@given(st.lists(TURNS, min_size=2, max_size=12))
@examples(60)
def test_row_of_blocks_has_the_problems_of_its_own(name: str, turns: list[dict[str, Any]]) -> None:
    turns = [{"role": "user", "content": "go"}, *ANSWERED, *turns, *turns, *ANSWERED]
    lines = [{"type": turn["role"], "uuid": str(i), "message": turn} for i, turn in enumerate(turns)]
    assert rows_of(messages_of(turns if name == "anthropic" else lines, get_format(name)), name)


def test_rows_of_all_formats_have_the_problems_of_their_own() -> None:
    for _, _, chain in sample_chains():
        rows_of((*chain.messages, *chain.messages), chain.format)


def test_usual_rows_of_all_formats_are_checked_once() -> None:
    """As many rows are checked as there are forms, however long the chain is."""
    for name, values in (("openai_chat", USUAL), ("anthropic", ANSWERED)):
        messages = messages_of([{"role": "user", "content": "go"}, *values * 100, {"role": "user", "content": "end"}], get_format(name))
        with patch.object(problem_rules, "excerpt_of", wraps=problem_rules.excerpt_of) as checked:
            rows = check_rows(list(cut_rows(messages)), Neighbours(format=name), lambda row, call: False)
        assert (len(rows), checked.call_count <= 5) == (102, True), name


def test_problems_of_the_last_of_many_rows_are_kept() -> None:
    values = [{"role": "user", "content": "go"}, *USUAL * 200, {"role": "user", "content": "end"}]
    rows = rows_of(messages_of(values, CHAT), CHAT.name)
    assert {len(row.problems) for row in rows[2:-1]} == {1}
    assert all(one.problems == other.problems for one, other in pairwise(rows[2:-1]))
