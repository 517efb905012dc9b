"""Prompts that a model can take: what is too large is split without losing a word, and the estimate knows it."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from chainviz.core.chain.chain import MemoryChain
from chainviz.core.chain.messages import AI, HUMAN, Message, Text, ToolCall, ToolResult, byte_size
from chainviz.core.operations.summarize import SummarizeOptions, SummaryRequest
from chainviz.core.operations.summarize.folding import plan
from chainviz.core.operations.summarize.writers.context_window import estimated_usage, prompt_room, split_request
from tests.core.pictures import ai, call, h, result, tool
from tests.core.strategies import chains
from tests.examples import examples

WINDOW = 4_000


def request_of(messages: Sequence[Message], **options: object) -> SummaryRequest:
    planned = plan(MemoryChain(tuple(messages)), SummarizeOptions.model_validate({"context_window": WINDOW, **options}))
    return planned.request(planned.pieces[0])


def texts(messages: Sequence[Message]) -> str:
    found = []
    for message in messages:
        for part in message.parts:
            match part:
                case Text(text=text) | ToolResult(content=text) | ToolCall(arguments=text):
                    found.append(text)
    return "".join(found)


def work(count: int, size: int) -> list[Message]:
    pairs = [(ai(call(f"c{n}")), tool(result(f"c{n}", f"{n} " * (size // 2)))) for n in range(count)]
    return [h("Look at all of it."), *(message for pair in pairs for message in pair), ai("Seen."), h("And now?"), ai("Now.")]


def test_what_fits_is_one_request() -> None:
    asked = request_of(work(2, 300))
    assert split_request(asked, WINDOW) == (asked,)
    large = request_of(work(40, 4_000))
    assert split_request(large, 0) == (large,)


@pytest.mark.parametrize("shape", [(60, 900), (3, 40_000), (1, 90_000)])
def test_parts_fit_the_window_and_hold_everything_in_order(shape: tuple[int, int]) -> None:
    asked = request_of(work(*shape)).with_hint("Keep the numbers.")
    parts = split_request(asked, WINDOW)
    assert len(parts) > 2
    room = prompt_room(WINDOW, asked.target_bytes)
    assert all(byte_size(part.prompt) <= room for part in parts)
    assert texts([message for part in parts for message in part.messages]) == texts(asked.messages)
    assert all("Keep the numbers." in part.prompt and "Look at all of it." in part.prompt for part in parts)
    assert f"part 2 of {len(parts)}" in parts[1].prompt
    assert sum(part.target_bytes for part in parts) <= max(asked.target_bytes, 200 * len(parts))
    assert {part.key for part in parts} == {asked.key}


def test_a_long_question_is_shortened_beside_the_parts_that_answer_it() -> None:
    asked = request_of([h("why " * 30_000), *work(30, 2_000)[1:]])
    parts = split_request(asked, WINDOW)
    assert all(byte_size(part.prompt) <= prompt_room(WINDOW, asked.target_bytes) for part in parts)
    assert all("why why" in part.prompt for part in parts)


def test_questions_that_are_joined_are_split_too() -> None:
    messages = [message for n in range(30) for message in (h(f"Question {n}. " + "so " * 600), ai("Yes. " * 40))]
    planned = plan(
        MemoryChain(tuple(messages)),
        SummarizeOptions.model_validate({"use_qa": True, "summ_human_in_qa": True, "max_qa_sections": 3, "context_window": WINDOW}),
    )
    asked = planned.request(next(piece for piece in planned.pieces if piece.rule == "qa-human"))
    parts = split_request(asked, WINDOW)
    assert len(parts) > 2
    assert all(part.case == 3 and not part.messages for part in parts)
    assert texts([message for part in parts for message in part.humans]) == texts(asked.humans)


@given(chains, st.sampled_from([4_000, 9_000]))
@examples(60)
def test_any_request_is_split_without_loss(messages: list[Message], window: int) -> None:
    folded = tuple(message for message in messages if message.role not in (HUMAN, "system"))
    long = tuple(Message(AI, (Text("x" * 7_000), *message.parts)) if message.role == AI else message for message in folded)
    asked = SummaryRequest("key", 2, "Sum up.", (), long, 400)
    parts = split_request(asked, window)
    assert texts([message for part in parts for message in part.messages]) == texts(long)


def test_a_window_has_room_for_the_instructions() -> None:
    with pytest.raises(ValidationError, match="at least 4,000"):
        SummarizeOptions.model_validate({"context_window": 500})


@pytest.mark.parametrize("window", [0, 4_000, 32_000])
def test_the_estimate_is_near_what_is_sent(window: int) -> None:
    planned = plan(MemoryChain(tuple(work(60, 2_000))), SummarizeOptions.model_validate({"context_window": window}))
    sent = [part for piece in planned.pieces for part in split_request(planned.request(piece), window)]
    usage = estimated_usage(planned, window)
    assert abs(usage.calls - len(sent)) <= 1 + len(sent) // 3
    tokens = sum(byte_size(part.prompt) for part in sent) / 4
    assert 0.8 * tokens <= usage.input <= 1.25 * tokens
