"""Times as transcripts record them, in every spelling, and never those that a message talks about."""

from __future__ import annotations

import json
from typing import Any

import pytest

from chainviz.core.chain.messages import Fragment, Message, Text
from chainviz.core.usage.times import Times, times_in, times_of

NOON = 1_741_176_000_000
"""2025-03-05 12:00 UTC."""


@pytest.mark.parametrize(
    ("value", "began"),
    [
        ("2025-03-05T12:00:00Z", NOON),
        ("2025-03-05T13:00:00.000+01:00", NOON),
        ("2025-03-05 12:00:00", NOON),
        (NOON / 1000, NOON),
        (NOON, NOON),
        (NOON * 1000, NOON),
        (str(NOON * 1_000_000), NOON),
        ("2025-03-05", 0),
        ("noon, or later", 0),
        (5.95, 0),
        (True, 0),
        (None, 0),
        ("9" * 400, 0),
        (1e300, 0),
    ],
)
def test_spellings(value: Any, began: int) -> None:
    assert times_in({"timestamp": value}).began == began


def test_the_object_itself_counts_before_those_in_it_and_content_never() -> None:
    late = "2025-03-05T13:00:00Z"
    assert times_in({"extra": {"timestamp": late}, "created_at": NOON}) == Times(NOON, NOON)
    assert times_in({"extra": {"timestamp": NOON}}) == Times(NOON, NOON)
    assert times_in({"input": {"timestamp": late}, "arguments": {"date": late}, "content": [{"timestamp": late}]}) == Times()
    assert times_in({"startTime": NOON, "endTime": late}) == Times(NOON, NOON + 3_600_000)


def test_a_message_of_several_units_lasts_from_the_first_to_the_last() -> None:
    def line(number: int, time: Any) -> Fragment:
        return Fragment(number, "", json.dumps({"type": "assistant", "timestamp": time}))

    message = Message("ai", (Text("x"),), source=(line(0, NOON + 5_000), line(1, NOON), Fragment(2, "", '"timestamp" {')))
    assert times_of(message) == Times(NOON, NOON + 5_000)
    assert times_of(message).seconds == 5
