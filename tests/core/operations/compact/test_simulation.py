"""Every turn of a chain again: against a slow and plain way of doing the same, and what a page needs of it."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chainviz.core.chain.chain import MemoryChain
from chainviz.core.chain.messages import Message
from chainviz.core.operations.compact import Settings, Strategy, parse_strategy
from chainviz.core.operations.compact.simulation import EVERY, Line, Lost, RedactionEstimate, simulate, turns_of
from chainviz.core.operations.contract import Context
from chainviz.core.state.call import CompactionFailed, CompactionRequest, Usage, Window
from tests.core.operations.compact.made import REGISTRY, STRATEGIES, of_letters, strict_chains
from tests.core.pictures import ai, h
from tests.core.strategies import chains
from tests.examples import examples


def strategy(value: dict[str, Any], **settings: Any) -> Strategy:
    return Strategy(parse_strategy(value, REGISTRY), Settings(**settings))


LIMIT = strategy({"type": "message_limit", "max_messages": 4})
NONE = Line("No compaction")


@pytest.mark.parametrize(
    ("letters", "ends"),
    [
        ("", []), ("u", []), ("ua", [1]), ("uct", []), ("ucta", [3]), ("uctctaua", [5, 7]), ("suaa", [2, 3]),
        ("uauu", [1]), ("uoa", [2]),
    ],
)  # fmt: skip
def test_a_turn_ends_at_an_answer_without_calls(letters: str, ends: list[int]) -> None:
    turns = list(turns_of(of_letters(letters)))
    assert [turn.end for turn in turns] == ends
    assert [turn.start for turn in turns] == [0, *(end + 1 for end in ends)][: len(ends)]


def plainly(messages: Sequence[Message], line: Strategy) -> tuple[list[int], list[tuple[int, int]]]:
    """Sizes of the requests, and (turn, messages removed): with lists, from the beginning each time."""
    first = next((place for place, message in enumerate(messages) if message.role != "system"), len(messages))
    leading, stored = list(messages[:first]), []
    sizes, fired = [], []
    place = first
    turns = [place for place, message in enumerate(messages) if message.role == "ai" and not message.calls]
    for number, end in enumerate(turns):
        request = [*leading, *stored, *messages[place:end]]
        sizes.append(sum(message.size for message in request))
        stored += messages[place : end + 1]
        place = end + 1
        usage = Usage(-(-sizes[-1] // 4), sizes[-1], "estimated")
        compacted = line(CompactionRequest(Window.of(stored), leading, usage))
        if compacted.removed:
            fired.append((number, compacted.removed))
            stored = stored[compacted.removed :]
    return sizes, fired


@given(chains | strict_chains(), STRATEGIES, st.sampled_from(["keep_last_turn", "remove_all"]))
@examples(300)
def test_it_is_what_the_plain_way_gives(messages: list[Message], value: dict[str, Any], boundary: Any) -> None:
    line = strategy(value, if_no_user_boundary=boundary)
    found = simulate(MemoryChain(tuple(messages)), [NONE, Line("A", line)])
    whole, one = found.lines
    sizes, fired = plainly(messages, line)
    assert list(one.sizes) == sizes
    assert [(firing.turn, firing.removed) for firing in one.firings] == fired
    sums = [0, *accumulate(message.size for message in messages)]
    assert list(whole.sizes) == [sums[turn.end] for turn in found.turns]
    assert whole.firings == ()
    assert len(one.starts) == len(found.turns) == len(one.tokens())
    for turn in range(len(found.turns)):
        lost = found.lost(one, turn)
        removed = [firing for firing in one.firings if firing.turn < turn]
        assert lost.messages == sum(firing.removed for firing in removed)
        assert lost.size == sum(firing.removed_bytes for firing in removed) == whole.sizes[turn] - one.sizes[turn]


def test_what_is_lost_by_a_turn() -> None:
    messages = of_letters("suctauasuaua")
    found = simulate(MemoryChain(tuple(messages)), [NONE, Line("A", LIMIT)])
    line = found.lines[1]
    assert [(firing.turn, firing.removed) for firing in line.firings] == [(1, 4), (2, 3)]
    assert (found.leading, line.starts) == (1, (1, 1, 5, 8))
    assert found.whole_turns(line) == (0, 0, 1, 2)
    assert line.counts == (4, 6, 5, 4)
    assert found.lost(line, 1) == Lost(0, 0, 0, 0, 0)
    removed = messages[1:8]
    assert found.lost(line, 3) == Lost(2, 7, 1, 1, sum(message.size for message in removed))
    assert line.firings[1].trial.reason.startswith("5 messages, limit 4.")


def test_a_line_may_be_estimated_by_somebody_who_knows() -> None:
    messages = of_letters("uauaua")
    asked: list[int] = []

    class Known(RedactionEstimate):
        def size(self, place: int) -> int:
            asked.append(place)
            return 10 * place // 2

    simulation = simulate(MemoryChain(tuple(messages)), [Line("Redact", estimate=Known(messages))])
    (found,) = simulation.lines
    assert (found.counts, simulation.whole_turns(found)) == ((1, 3, 5), (0, 1, 2))
    assert asked == [1, 3, 5]
    assert (found.sizes, found.tokens(2), found.firings) == ((5, 15, 25), (3, 8, 13), ())


def test_summaries_are_not_written_in_a_simulation() -> None:
    folding = strategy({"type": "split", "trigger": {"type": "always"}, "strategy": {"type": "summarize"}})
    (found,) = simulate(MemoryChain(tuple(of_letters("uaua"))), [Line("S", folding)]).lines
    assert found.firings == ()


def test_progress_rises_and_a_cancelled_run_keeps_the_lines_that_are_done() -> None:
    chain = MemoryChain((h(), *[ai("x")] * (3 * EVERY)))
    lines = [NONE, Line("A", LIMIT), Line("B", LIMIT)]
    told: list[tuple[float, str]] = []
    whole = simulate(chain, lines, Context(progress=lambda done, text: told.append((done, text))))
    assert whole.is_complete and len(whole.lines) == 3
    shares = [share for share, _ in told]
    assert shares == sorted(shares) and shares[0] >= 0 and shares[-1] < 1
    assert len(told) == 9
    assert told[4] == (pytest.approx((1 + 1 / 3) / 3), f"A: turn {EVERY:,} of {3 * EVERY:,}")
    looks = iter([False] * 4 + [True] * 9)
    part = simulate(chain, lines, Context(cancelled=lambda: next(looks)))
    assert not part.is_complete
    assert part.lines == whole.lines[:1]


def test_each_turn_asks_the_strategy_once() -> None:
    """And gives it a view, not a copy: what a request holds of a long chain is shared."""
    asked: list[CompactionRequest] = []

    class Watched(Strategy):
        def __call__(self, request: CompactionRequest) -> Any:
            asked.append(request)
            return super().__call__(request)

    simulate(MemoryChain(tuple(of_letters("ua" * 400))), [Line("A", Watched(LIMIT.root))])
    assert len(asked) == 400
    assert len({id(request.messages.index) for request in asked}) == 1
    assert max(len(request.messages) for request in asked) == 6


def test_a_compactor_that_fails_ends_the_simulation() -> None:
    with pytest.raises(CompactionFailed, match="boom"):
        simulate(MemoryChain(tuple(of_letters("ua"))), [Line("E", strategy({"type": "error"}))])


def test_a_chain_without_turns_has_no_requests() -> None:
    for letters in ("", "s", "su", "uct"):
        found = simulate(MemoryChain(tuple(of_letters(letters))), [NONE, Line("A", LIMIT)])
        assert found.turns == () and all(line.sizes == () for line in found.lines)
