"""Estimated sizes of requests with summaries and with redaction."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from chainviz.core.chain.messages import Message
from chainviz.core.operations.compact.simulation import PLACEHOLDER, SUMMARY, RedactionEstimate, SummaryEstimate
from tests.core.operations.compact.made import of_letters, strict_chains, text_of_size
from tests.core.pictures import h, tool


def test_older_sections_become_one_summary_each() -> None:
    estimate = SummaryEstimate([h("q" * 10), text_of_size(5_000), text_of_size(3_000), h("q" * 10), text_of_size(7_000)])
    assert estimate.size(3) == 8_010
    assert estimate.size(4) == 10 + SUMMARY + 10
    assert estimate.size(5) == 10 + SUMMARY + 10 + 7_000
    assert [estimate.count(place) for place in (3, 4, 5)] == [3, 3, 4]
    assert [estimate.whole_from(place) for place in (3, 4, 5)] == [0, 3, 3]


def test_results_of_complete_turns_become_placeholders() -> None:
    result = tool("c", "r" * 9_000)
    estimate = RedactionEstimate([h("q"), result, text_of_size(20), h("q"), result])
    whole = 1 + result.size
    assert estimate.size(2) == whole
    assert estimate.size(3) == 1 + PLACEHOLDER + 20
    assert estimate.size(5) == 1 + PLACEHOLDER + 20 + whole
    assert [estimate.whole_from(place) for place in (2, 3, 5)] == [0, 3, 3]


@given(strict_chains(), st.data())
def test_an_estimate_is_never_more_than_the_whole(messages: list[Message], data: st.DataObject) -> None:
    place = data.draw(st.integers(0, len(messages)))
    whole = sum(message.size for message in messages[:place])
    for estimate in (SummaryEstimate(messages), RedactionEstimate(messages)):
        assert 0 <= estimate.size(place) <= whole
        assert 0 <= estimate.whole_from(place) <= place
        assert estimate.count(place) <= place


def test_nothing_sends_nothing() -> None:
    assert SummaryEstimate([]).size(0) == RedactionEstimate([]).size(0) == 0
    assert SummaryEstimate(of_letters("s")).size(1) == 10
