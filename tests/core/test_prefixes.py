"""Earlier states of a chain in its file, against the plain definition."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from chainviz.core.documents.detection.sequences import beginnings, earlier_states, final_states

chains = st.lists(st.lists(st.sampled_from("ab"), max_size=5).map(tuple), max_size=12)


def longest_with(chain: tuple[str, ...], chains: list[tuple[str, ...]], place: int) -> int:
    fitting = [number for number, each in enumerate(chains) if each[: len(chain)] == chain]
    return max(fitting, key=lambda number: (len(chains[number]), -number)) if chain else place


@given(chains)
def test_each_chain_is_folded_under_the_longest_one_that_begins_with_it(chains: list[tuple[str, ...]]) -> None:
    finals = final_states([list(beginnings(chain)) for chain in chains])

    assert finals == [longest_with(chain, chains, place) for place, chain in enumerate(chains)]
    assert all(finals[final] == final for final in finals), "a final state is nobody's earlier state"


@given(chains)
def test_versions_grow_and_every_content_is_one_of_them(chains: list[tuple[str, ...]]) -> None:
    finals = final_states([list(beginnings(chain)) for chain in chains])
    states = earlier_states(finals, [len(chain) for chain in chains])

    for place, final in enumerate(finals):
        versions = [chains[each] for each in (*states[final], final)]
        assert chains[place] in versions
        assert all(new[: len(old)] == old and len(new) > len(old) for old, new in pairwise(versions))
    assert all(not own for place, own in enumerate(states) if finals[place] != place)


@given(chains, st.data())
def test_a_chain_that_cannot_be_read_is_no_version(chains: list[tuple[str, ...]], data: st.DataObject) -> None:
    """Such a chain has no beginnings and no length."""
    unread = data.draw(st.sets(st.integers(0, max(0, len(chains) - 1))))
    keys = [[] if place in unread else list(beginnings(chain)) for place, chain in enumerate(chains)]
    finals = final_states(keys)
    states = earlier_states(finals, [None if place in unread else len(chain) for place, chain in enumerate(chains)])

    assert all(finals[place] == place and not states[place] for place in unread if place < len(chains))
    assert not unread.intersection(each for own in states for each in own)
