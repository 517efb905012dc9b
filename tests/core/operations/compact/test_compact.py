"""The operation on chains: what it promises for every chain and every strategy, its report and its warnings."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from chainviz.core.chain.chain import MemoryChain, apply_splices
from chainviz.core.chain.messages import SYSTEM, Message, Shape
from chainviz.core.chain.paths import parse_path
from chainviz.core.chain.tree import parse, span
from chainviz.core.errors import Refused
from chainviz.core.load import load_file
from chainviz.core.operations import OPERATIONS
from chainviz.core.operations.compact import Compact, CompactOptions, request_for
from chainviz.core.operations.contract import Context, Outcome
from chainviz.core.operations.summarize import SUMMARIZE
from tests.core.operations.compact.made import LEAVES, STRATEGIES, of_letters, strict_chains
from tests.core.pictures import ai, call, h, s, tool
from tests.core.reference import is_strict
from tests.core.strategies import chains
from tests.examples import examples
from tests.shared_folder import SAMPLES

COMPACT = Compact(SUMMARIZE)
OPTIONS = st.builds(
    lambda strategy, reduction, boundary: CompactOptions(
        strategy=strategy, reduction=reduction, if_no_user_boundary=boundary
    ),
    STRATEGIES, st.sampled_from(["to_target", "one_third"]), st.sampled_from(["keep_last_turn", "remove_all"]),
)  # fmt: skip


def run(messages: Sequence[Message], options: CompactOptions) -> tuple[tuple[Message, ...], Outcome]:
    outcome = COMPACT.run(MemoryChain(tuple(messages)), options, Context())
    return apply_splices(messages, outcome.changes), outcome


def bodies(messages: Sequence[Message]) -> list[tuple[Message, ...]]:
    return [pair.messages for _, pair in parse(messages).pairs()]


def leading(messages: Sequence[Message]) -> list[Message]:
    first = next((place for place, message in enumerate(messages) if message.role != SYSTEM), len(messages))
    return list(messages[:first])


@given(chains | strict_chains(), OPTIONS)
@examples(300)
def test_pairs_stay_whole_and_leading_systems_stay(messages: list[Message], options: CompactOptions) -> None:
    """So no result loses its call: every body pair that is left is one of the last pairs there were."""
    after, outcome = run(messages, options)
    left = bodies(after)
    assert left == bodies(messages)[len(bodies(messages)) - len(left) :]
    head = leading(messages)
    assert list(after[: len(head)]) == head
    assert after == (*head, *messages[len(messages) - len(after) + len(head) :])
    if outcome.changes and len(after) > len(head):
        assert after[len(head)].role == "human"
    if options.if_no_user_boundary == "keep_last_turn":
        assert bool(outcome.changes) <= any(message.role == "human" for message in after)


@given(strict_chains(), OPTIONS)
@examples(300)
def test_a_strict_chain_stays_strict(messages: list[Message], options: CompactOptions) -> None:
    assert is_strict(parse(messages))
    assert is_strict(parse(run(messages, options)[0]))


@given(chains | strict_chains(), LEAVES, st.sampled_from(["keep_last_turn", "remove_all"]))
@examples(300)
def test_with_the_same_limit_again_nothing_changes(messages: list[Message], limit: Any, boundary: Any) -> None:
    """Down to a target: one third is removed again and again, as the reference does after each call."""
    options = CompactOptions(strategy=limit, if_no_user_boundary=boundary)
    after, _ = run(messages, options)
    again, outcome = run(after, options)
    assert again == after
    assert outcome.changes == ()


@given(chains | strict_chains(), st.lists(LEAVES, min_size=2, max_size=3))
@examples(300)
def test_a_composite_comes_to_rest(messages: list[Message], limits: list[Any]) -> None:
    """One compactor acts in a run, so there are at most as many runs as limits until nothing changes."""
    options = CompactOptions(strategy={"type": "composite", "compactors": limits})
    for _ in limits:
        messages = list(run(messages, options)[0])
    assert run(messages, options)[1].changes == ()


@given(chains | strict_chains(), OPTIONS)
@examples(300)
def test_the_report_is_exact(messages: list[Message], options: CompactOptions) -> None:
    after, outcome = run(messages, options)
    trace = [row for row in outcome.report if not row.path]
    changed = [row for row in outcome.report if row.path]
    before, left = (sum(message.size for message in some) for some in (messages, after))
    assert sum(row.bytes_before - row.bytes_after for row in changed) == before - left
    assert len(changed) == len(outcome.changes) <= 1
    assert all(row.reason.endswith(".") and row.action for row in trace)
    for row in changed:
        tree = parse(messages)
        places = span(tree, parse_path(row.path)), span(tree, parse_path(row.until or row.path))
        (splice,) = outcome.changes
        assert (places[0].start, places[1].stop) == (splice.start, splice.start + splice.removed)
    assert any(row.action == "changed" for row in trace) == bool(outcome.changes)
    if not outcome.changes and trace:
        assert outcome.warnings[0].startswith("Nothing changes. ")


LIMITS_SHOWN: list[tuple[str, dict[str, Any], str, list[str]]] = [
    ("suaua", {"max_messages": 2}, "sua", ["The first request is removed"]),
    ("suaua", {"max_messages": 1, "if_no_user_boundary": "remove_all"}, "s", ["Everything is removed"]),
    ("uasua", {"max_messages": 2}, "ua", ["Removed: 1 stored system message. The last one is directly before", "The first"]),
    ("uasasauaua", {"max_messages": 4}, "uaua", ["Removed: 2 stored system messages.", "The first"]),
    ("aaua", {"max_messages": 2}, "ua", []),
    ("ua", {"max_messages": 5}, "ua", ["Nothing changes. message_limit: 2 messages, limit 5."]),
    ("uauaua", {"max_tokens": 9, "prompt_tokens": 60}, "ua", ["The first request is removed"]),
    ("uauaua", {"max_tokens": 90, "prompt_tokens": 60, "max_messages": 2}, "ua", ["The first request is removed"]),
    ("uauaua", {"max_tokens": 50, "target_tokens": 60, "prompt_tokens": 55}, "uauaua",
     ["Nothing changes. token_limit: 55 prompt tokens (given), limit 50.", "The target of 60 is not below"]),
]  # fmt: skip


@pytest.mark.parametrize(("letters", "options", "left", "warnings"), LIMITS_SHOWN)
def test_limits_and_their_warnings(letters: str, options: dict[str, Any], left: str, warnings: list[str]) -> None:
    after, outcome = run(of_letters(letters), CompactOptions(**options))
    assert list(after) == of_letters(left)
    assert len(outcome.warnings) == len(warnings)
    assert all(said.startswith(words) for said, words in zip(outcome.warnings, warnings, strict=True))


def test_the_trace_names_every_compactor_by_its_place() -> None:
    never = {"type": "split", "trigger": {"type": "composite_trigger", "triggers": [
        {"type": "turns_at_least", "n": 9}, {"type": "count_at_least", "n": 4}, {"type": "always"},
    ]}, "strategy": {"type": "message_limit", "max_messages": 100}}  # fmt: skip
    strategy = {"type": "composite", "compactors": [
        never, {"type": "token_limit", "max_tokens": 10}, {"type": "message_limit", "max_messages": 2},
    ]}  # fmt: skip
    _, outcome = run(of_letters("uauaua"), CompactOptions(strategy=strategy))
    told = [(row.action, row.reason.partition(": ")[0]) for row in outcome.report if not row.path]
    assert told == [
        ("not_triggered", "compactors[0].trigger.triggers[0]"),
        ("triggered", "compactors[0].trigger.triggers[1]"),
        ("not_run", "compactors[0].trigger.triggers[2]"),
        ("no_change", "compactors[0].strategy"),
        ("changed", "compactors[1]"),
        ("not_run", "compactors[2]"),
    ]
    assert "13 prompt tokens (estimated), limit 10." in outcome.report[4].reason


def test_recorded_usage_counts_before_the_estimate() -> None:
    chain = load_file(SAMPLES / "claude_code" / "ok_session.jsonl")[0]
    given_ = MemoryChain(chain.messages, chain.format)
    usage = request_for(given_).usage
    assert usage is not None and usage.source == "recorded"
    over = COMPACT.run(given_, CompactOptions(max_tokens=usage.prompt_tokens - 1), Context())
    assert f"{usage.prompt_tokens:,} prompt tokens, limit " in over.report[0].reason
    assert not COMPACT.run(given_, CompactOptions(max_tokens=usage.prompt_tokens), Context()).changes


def long_talk() -> list[Message]:
    old = [h("find it"), *[m for n in range(6) for m in (ai(call(f"c{n}")), tool(f"c{n}"))], ai("found " * 200)]
    return [s("rules"), *old, h("and now?"), ai("later")]


def test_summarize_is_a_strategy_that_the_registry_passes_in() -> None:
    messages = long_talk()
    trigger = {"type": "bytes_at_least", "n": 100}
    folding = {"type": "split", "trigger": trigger, "strategy": {"type": "summarize", "keep_qa_sections": 1}}
    compact = next(each for each in OPERATIONS if each.name == "compact")
    outcome = compact.run(MemoryChain(tuple(messages)), CompactOptions(strategy=folding), Context())
    alone = SUMMARIZE.run(MemoryChain(tuple(messages[1:])), SUMMARIZE.Options(keep_qa_sections=1), Context())
    assert apply_splices(messages, outcome.changes)[1:] == apply_splices(messages[1:], alone.changes)
    assert is_strict(parse(apply_splices(messages, outcome.changes)))
    row = next(row for row in outcome.report if row.path)
    assert (row.action, row.path) == ("rewritten", "s1.p1.m0")
    assert row.bytes_after < row.bytes_before
    few = {**folding, "trigger": {"type": "bytes_at_least", "n": 10**9}}
    assert not COMPACT.run(MemoryChain(tuple(messages)), CompactOptions(strategy=few), Context()).changes


def test_summarize_without_its_operation_changes_nothing_and_says_why() -> None:
    outcome = Compact().run(MemoryChain(tuple(long_talk())), CompactOptions(strategy={"type": "summarize"}), Context())
    assert not outcome.changes
    assert "a summary needs the messages" in outcome.warnings[0]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({}, "Choose when to compact: a message limit, a token limit or a strategy"),
        ({"strategy": {"type": "summarize", "preset": "tiny"}}, "summarize: The option preset is invalid: "),
        ({"strategy": {"type": "summarize", "size": 3}}, "summarize: The option size is invalid: "),
    ],
)
def test_what_cannot_be_done_is_refused(options: dict[str, Any], words: str) -> None:
    with pytest.raises(Refused, match=words):
        run(long_talk(), CompactOptions(**options))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"strategy": "{"}, "not JSON"),
        ({"strategy": {"type": "split"}}, "needs “trigger”"),
        ({"max_messages": -1}, "greater than or equal to 0"),
        ({"reduction": "half"}, "to_target"),
        ({"window": 3}, "not permitted"),
    ],
)
def test_options_that_are_none_are_refused(options: dict[str, Any], words: str) -> None:
    with pytest.raises(ValidationError, match=words):
        CompactOptions.model_validate(options)


def test_a_strategy_replaces_the_limits_beside_it() -> None:
    strategy = {"type": "message_limit", "max_messages": 4}
    after, _ = run(of_letters("uauaua"), CompactOptions(strategy=json.dumps(strategy), max_messages=2))
    assert len(after) == 4


class Counting(MemoryChain):
    """Counts the bodies that are read."""

    bodies = 0

    def __getitem__(self, index: int) -> Message:
        type(self).bodies += 1
        return super().__getitem__(index)

    def slice(self, start: int, stop: int) -> Sequence[Message]:
        type(self).bodies += stop - start
        return super().slice(start, stop)

    def shapes(self) -> Sequence[Shape]:
        return self.messages


def test_only_the_last_answer_is_read() -> None:
    chain = Counting(tuple(of_letters("ua" * 500)))
    outcome = COMPACT.run(chain, CompactOptions(max_messages=10, max_tokens=100), Context())
    assert outcome.changes
    assert Counting.bodies == 1
