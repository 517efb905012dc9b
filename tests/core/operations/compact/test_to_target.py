"""`to_target`: what the cases of the reference cannot show. One byte of a message is worth the share it has of what was sent."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chainviz.core.chain.messages import Message
from chainviz.core.operations.compact import Settings
from chainviz.core.state.call import CompactionRequest, Usage, Window
from tests.core.operations.compact.made import compact, kept, of_letters, strict_chains, text_of_size
from tests.core.pictures import h

TABLE: list[tuple[str, str, int, int, int, list[int], str]] = [
    # letters of 10 bytes each: messages, prompt tokens, limit, target, what is kept, what the reason says
    ("target of 75% by default", "uauaua", 600, 500, 0, [4, 5], "the target of 375"),
    ("reached exactly", "uauaua", 600, 500, 400, [2, 3, 4, 5], "the estimate is 400 tokens, within the target of 400"),
    ("one token short", "uauaua", 600, 500, 399, [4, 5], "the estimate is 300 tokens, within the target of 399"),
    ("moves on to a human message", "uaauaa", 600, 500, 450, [3, 4, 5], "the cut moves by 1 message."),
    ("far over keeps two", "uauaua", 60_000, 500, 100, [4, 5], "still over the target of 100"),
    ("far over, the last is a human message", "uauau", 50_000, 500, 100, [4], "still over the target"),
    ("barely over removes little", "uauauauaua", 1001, 1000, 999, [2, 3, 4, 5, 6, 7, 8, 9], "Without the first 1 message "),
    ("one turn stays whole", "uctcta", 600, 500, 100, [0, 1, 2, 3, 4, 5], "there is only one turn: nothing is removed"),
    ("the last turn stays whole", "uauctcta", 900, 500, 100, [2, 3, 4, 5, 6, 7], "the last turn is kept"),
    ("no human message", "aaaa", 600, 500, 100, [0, 1, 2, 3], "no message is a human message: nothing is removed"),
    ("two messages", "ua", 600, 500, 100, [0, 1], "2 messages or fewer are never removed"),
    ("not over", "uauaua", 500, 500, 100, [0, 1, 2, 3, 4, 5], "500 prompt tokens, limit 500"),
    ("a target over the prompt", "uauaua", 600, 500, 700, [0, 1, 2, 3, 4, 5], "already within the target of 700"),
    ("off", "uauaua", 600, 0, 100, [0, 1, 2, 3, 4, 5], "A limit of 0 is off"),
]  # fmt: skip


def limit(max_tokens: int, target: int) -> dict[str, Any]:
    return {"type": "token_limit", "max_tokens": max_tokens, "target_tokens": target}


@pytest.mark.parametrize(("letters", "prompt", "most", "target", "left", "words"), [row[1:] for row in TABLE],
                         ids=[row[0] for row in TABLE])  # fmt: skip
def test_down_to_the_target(letters: str, prompt: int, most: int, target: int, left: list[int], words: str) -> None:
    messages = of_letters(letters)
    usage = Usage(prompt, sum(message.size for message in messages))
    found = compact(limit(most, target), CompactionRequest(Window.of(messages), usage=usage))
    assert kept(found) == left
    assert words in found.trial.reason


def test_leading_system_messages_have_their_share() -> None:
    """Half of what was sent cannot be removed, so twice as much of the rest must go."""
    messages = of_letters("uauauaua")
    sent = 2 * sum(message.size for message in messages)
    usage = Usage(1600, sent)
    found = compact(limit(1500, 1400), CompactionRequest(Window.of(messages), usage=usage))
    assert kept(found) == [2, 3, 4, 5, 6, 7]
    found = compact(limit(1500, 1000), CompactionRequest(Window.of(messages), usage=usage))
    assert kept(found) == [6, 7]


def test_large_messages_weigh_more() -> None:
    messages = [h("q"), text_of_size(9_000), h("q"), text_of_size(10), h("q"), text_of_size(10)]
    usage = Usage(3000, sum(message.size for message in messages))
    found = compact(limit(2000, 1000), CompactionRequest(Window.of(messages), usage=usage))
    assert kept(found) == [2, 3, 4, 5]


def test_nothing_that_was_sent_has_a_size() -> None:
    found = compact(limit(2, 1), CompactionRequest(Window.of([h(""), h(""), h("")]), usage=Usage(9, 0)))
    assert kept(found) == [1, 2]


@given(strict_chains(), st.integers(1, 100_000), st.integers(1, 5000), st.integers(1, 5000))
def test_it_removes_no_more_than_the_target_asks_for(messages: list[Message], prompt: int, most: int, target: int) -> None:
    sent = sum(message.size for message in messages)
    given_ = CompactionRequest(Window.of(messages), usage=Usage(prompt, sent))
    found = compact(limit(most, target), given_, Settings("remove_all"))
    cut = found.boundary
    if cut is None:
        assert prompt <= max(most, target) or len(messages) <= 2
        return

    def estimate(removed: int) -> float:
        return prompt - prompt * sum(message.size for message in messages[:removed]) / sent if sent else prompt

    assert 1 <= cut.wanted <= max(1, len(messages) - 2)
    assert cut.wanted == len(messages) - 2 or estimate(cut.wanted) <= target
    assert cut.wanted == 1 or estimate(cut.wanted - 1) > target
    assert all(message.role != "human" for message in messages[cut.wanted : cut.cut])
