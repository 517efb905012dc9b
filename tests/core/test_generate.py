"""Generated chains are what was asked for, without the reference generators' bugs."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chainviz.core.chain.messages import HUMAN, ToolResult
from chainviz.core.chain.problems import tree_problems
from chainviz.core.chain.tree import parse
from chainviz.core.generate import PREDEFINED, ChainConfig, generate_chain, generate_complex_chain, generate_messages
from tests.core.reference import is_strict

BROKEN = {"with-tool", "with-multiple-tools", "with-consecutive-humans", "with-missing-tool-response", "with-unexpected-tool"}


@pytest.mark.parametrize("name", PREDEFINED)
def test_predefined_chains_are_valid_or_broken_as_their_name_says(name: str) -> None:
    assert is_strict(parse(PREDEFINED[name])) == (name not in BROKEN)


def test_the_seed_example() -> None:
    config = ChainConfig(
        sections=3, body_pairs_per_section=(1, 2, 1), tools_for_body_pairs=(False, True, False),
        tool_calls_per_body_pair=(0, 2, 0),
    )  # fmt: skip
    tree = parse(generate_chain(config))
    assert [len(section.body) for section in tree.sections] == [1, 2, 1]
    assert [len(pair.tool_calls.completed) for _, pair in tree.pairs()] == [0, 0, 2, 0]
    assert is_strict(tree)
    assert [m.role for m in generate_chain()] == ["system", "human", "ai"]


@given(st.integers(0, 4), st.integers(0, 4), st.integers(0, 20))
def test_exactly_the_asked_number_of_results_is_missing(sections: int, calls: int, missing: int) -> None:
    tree = parse(generate_complex_chain(sections, calls, missing))
    found = sum(len(pair.tool_calls.pending) for _, pair in tree.pairs())
    assert found == min(missing, sections * calls)
    assert {problem.rule for problem in tree_problems(tree)} <= {"pending-call"}


def test_every_result_carries_its_tools_name() -> None:
    results = [p for m in generate_complex_chain(2, 4, 0) for p in m.parts if isinstance(p, ToolResult)]
    assert len(results) == 8 and all(result.name for result in results)


@given(st.integers(0, 60), st.integers(0, 99))
def test_a_chain_of_any_length_is_valid_and_repeatable(count: int, seed: int) -> None:
    messages = list(generate_messages(count, random.Random(seed)))
    assert len(messages) == count
    assert is_strict(parse(messages))
    assert messages == list(generate_messages(count, random.Random(seed)))


def test_sizes_are_like_those_of_real_runs() -> None:
    messages = list(generate_messages(2_000, random.Random(1)))
    assert 500 < sum(m.size for m in messages) / len(messages) < 2_500
    assert sum(m.role == HUMAN for m in messages) > 50
