"""Alignment of two sequences: true, complete, and bounded on every input."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chainviz.core.diff import align as module
from chainviz.core.diff.align import Equal, Gap, align
from tests.cpu import within_cpu_seconds

sequences = st.lists(st.integers(0, 6), max_size=40)


def rebuilt(old: list[int], new: list[int]) -> list[int]:
    """`new`, made of old's equal stretches and new's gaps only."""
    result: list[int] = []
    for step in align(old, new).steps():
        match step:
            case Equal(start, _, length):
                result += old[start : start + length]
            case Gap(_, _, start, stop):
                result += new[start:stop]
    return result


@given(sequences, sequences)
def test_applying_the_steps_to_old_gives_new(old: list[int], new: list[int]) -> None:
    assert rebuilt(old, new) == new
    covered = list(align(old, new).steps())
    assert sum(s.length if isinstance(s, Equal) else s.old_stop - s.old_start for s in covered) == len(old)


@given(sequences, sequences)
def test_as_much_is_equal_in_both_directions(old: list[int], new: list[int]) -> None:
    def equal(a: list[int], b: list[int]) -> int:
        return sum(step.length for step in align(a, b).equal)

    assert equal(old, new) == equal(new, old)


@given(sequences, sequences)
def test_sequences_too_long_for_one_comparison_are_still_aligned_truly(old: list[int], new: list[int]) -> None:
    before = module.CELLS, module.BLOCK
    module.CELLS, module.BLOCK = 9, 4
    try:
        assert rebuilt(old, new) == new
    finally:
        module.CELLS, module.BLOCK = before


def test_a_long_chain_with_unique_keys_is_cut_at_them_and_not_coarse() -> None:
    old = list(range(60_000))
    new = [*old[:20_000], -1, *old[20_001:40_000], *old[40_500:]]
    found = align(old, new)
    assert not found.coarse
    assert sum(step.length for step in found.equal) == 60_000 - 501


@pytest.mark.parametrize("kinds", [1, 2, 5, 10**9])
def test_work_is_bounded_whatever_repeats(kinds: int) -> None:
    dice = random.Random(kinds)
    old = [dice.randrange(kinds) for _ in range(30_000)]
    new = [dice.randrange(kinds) for _ in range(29_000)]
    within_cpu_seconds(1, lambda: align(old, new))
