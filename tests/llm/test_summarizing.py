"""A model at work on a whole chain: its texts come in, and where it fails the chain stays as it was."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest

from chainviz.core.chain.chain import MemoryChain, apply_splices
from chainviz.core.chain.messages import Message
from chainviz.core.errors import Refused
from chainviz.core.operations.contract import Context
from chainviz.core.operations.summarize import SUMMARIZE, SummarizeOptions, SummaryRequest, Unchanged
from chainviz.core.operations.summarize.operation import summarized
from chainviz.llm import write_all
from tests.core.pictures import ai, h
from tests.llm.asking import writer
from tests.llm.fake_server import Exchange, says, serving

MESSAGES: tuple[Message, ...] = tuple(
    message for number in range(5) for message in (h(f"question {number}"), ai("long answer " * 300), ai("more " * 300))
)
CHAIN = MemoryChain(MESSAGES)
OPTIONS = SummarizeOptions()


def test_what_the_model_wrote_stands_in_the_chain() -> None:
    with serving(says("Written by a model.")) as server:
        outcome = SUMMARIZE.run(CHAIN, OPTIONS, Context(writer=writer(server.url)))
    assert outcome.changes
    assert all("Written by a model." in repr(change.messages) for change in outcome.changes)


def test_a_model_that_fails_is_told_with_its_cause() -> None:
    with (
        serving(lambda exchange: exchange.answer(400, '{"error": {"message": "out of cake"}}')) as server,
        pytest.raises(Refused, match="out of cake"),
    ):
        SUMMARIZE.run(CHAIN, OPTIONS, Context(writer=writer(server.url)))


def test_a_piece_that_fails_stays_as_it_was_and_says_why() -> None:
    def play(exchange: Exchange) -> None:
        says("fine")(exchange) if exchange.number > 1 else exchange.answer(400, '{"error": {"message": "out of cake"}}')

    with serving(play) as server:
        outcome = SUMMARIZE.run(CHAIN, OPTIONS, Context(writer=writer(server.url)))
    after = apply_splices(MESSAGES, outcome.changes)
    assert sum("out of cake" in warning for warning in outcome.warnings) == 1
    assert len(MESSAGES) > len(after)
    assert set(MESSAGES[:3]) <= set(after)


def test_pieces_written_at_the_same_time_are_executed_together() -> None:
    def play(exchange: Exchange) -> None:
        says(f"text {exchange.number}")(exchange) if exchange.number != 2 else exchange.answer(401, "{}")

    with serving(play) as server:

        def ask(requests: Sequence[SummaryRequest]) -> dict[str, str | Unchanged]:
            written = write_all(requests, writer(server.url), concurrency=4)
            return {each.request.key: each.outcome for each in written}

        outcome = summarized(CHAIN, OPTIONS, ask, random.Random(0))
    assert len(outcome.changes) == len(server.seen) - 1
    assert sum("refused the key" in warning for warning in outcome.warnings) == 1
