"""A strategy as JSON: read, printed, and every error with its place."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given

from chainviz.core.errors import OptionsError
from chainviz.core.operations.compact import COMPACTORS, as_value, parse_strategy, print_strategy
from tests.cases import cases
from tests.core.operations.compact.made import REGISTRY, STRATEGIES

LIMIT = {"type": "message_limit", "max_messages": 3}
ALWAYS = {"type": "always"}


def split(trigger: Any = ALWAYS, strategy: Any = LIMIT) -> dict[str, Any]:
    return {"type": "split", "trigger": trigger, "strategy": strategy}


def composite(*compactors: Any) -> dict[str, Any]:
    return {"type": "composite", "compactors": list(compactors)}


@pytest.mark.parametrize("case", cases("compaction/compaction.json"), ids=lambda case: case["id"])
def test_every_strategy_of_the_cases_is_read_and_printed(case: dict[str, Any]) -> None:
    read = parse_strategy(json.dumps(case["compactor"]), REGISTRY)
    assert parse_strategy(print_strategy(read), REGISTRY) == read == parse_strategy(case["compactor"], REGISTRY)


@given(STRATEGIES)
def test_what_is_printed_is_read_again(value: dict[str, Any]) -> None:
    read = parse_strategy(value)
    assert parse_strategy(print_strategy(read, indent=2)) == read
    assert as_value(parse_strategy(as_value(read))) == as_value(read)


def test_defaults_are_not_printed_and_unknown_members_of_summarize_are_its_options() -> None:
    token = {"type": "token_limit", "max_tokens": 9, "target_tokens": 0}
    assert as_value(parse_strategy(token)) == {"type": "token_limit", "max_tokens": 9}
    third = {**token, "target_tokens": 4, "reduction": "one_third"}
    assert as_value(parse_strategy(third)) == third
    folding = {"type": "summarize", "preset": "assistant", "last_sec_bytes": 500}
    assert as_value(parse_strategy(split(strategy=folding))) == split(strategy=folding)


def test_types_are_told_apart_and_labelled() -> None:
    names = [each.type for each in COMPACTORS]
    assert len(set(names)) == len(names)
    assert all(each.label and each.__doc__ for each in COMPACTORS)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ("{", "not JSON: Expecting property name enclosed in double quotes at line 1, column 2"),
        ("[" * 100_000, "nested too deeply"),
        ("[]", "The strategy must be an object"),
        ("null", "The strategy must be an object"),
        ({}, "The strategy: there is no type for a compactor; choose message_limit, token_limit,"),
        ({"type": ["split"]}, "there is no type “['split']”"),
        ({"type": "shrink"}, "there is no type “shrink” for a compactor"),
        ({"type": "count_at_least", "n": 3}, "there is no type “count_at_least” for a compactor"),
        ({"type": "message_limit"}, "The strategy: message_limit needs “max_messages”"),
        ({**LIMIT, "max_message": 3}, "message_limit has no “max_message”; it has max_messages"),
        ({"type": "message_limit", "max_messages": True}, "max_messages must be a whole number"),
        ({"type": "message_limit", "max_messages": "3"}, "max_messages must be a whole number"),
        ({"type": "token_limit", "max_tokens": 3, "reduction": "half"}, "reduction must be to_target or one_third"),
        ({"type": "composite", "compactors": LIMIT}, "compactors must be a list"),
        (composite(LIMIT, 7), "compactors[1] must be an object with a type"),
        (composite(LIMIT, split(trigger={"type": "soon"})), "compactors[1].trigger: there is no type “soon” for a trigger"),
        (composite(split(strategy=ALWAYS)), "compactors[0].strategy: there is no type “always” for a compactor"),
        (split(trigger={"type": "always", "n": 1}), "trigger: always has no “n”; it takes no members"),
        (split(trigger={"type": "composite_trigger", "triggers": [ALWAYS, {"type": "tokens_over"}]}),
         "trigger.triggers[1]: tokens_over needs “n”"),
        ({"type": "split", "trigger": ALWAYS}, "The strategy: split needs “strategy”"),
    ],
)  # fmt: skip
def test_an_error_names_its_place(given: Any, words: str) -> None:
    with pytest.raises(OptionsError) as refused:
        parse_strategy(given)
    assert words in str(refused.value)
    assert str(refused.value).endswith(".") and "\n" not in str(refused.value)


def test_a_tree_of_a_thousand_levels_is_refused() -> None:
    value: dict[str, Any] = LIMIT
    for _ in range(1000):
        value = split(strategy=value)
    with pytest.raises(OptionsError, match="nested too deeply"):
        parse_strategy(value)


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ({"type": "message_limit", "max_messages": 0}, ["A message limit of 0 is off."]),
        ({"type": "token_limit", "max_tokens": -1}, ["A token limit of -1 is off."]),
        ({"type": "token_limit", "max_tokens": 10, "target_tokens": 10}, ["The target of 10 is not below the limit of 10"]),
        (composite(), ["A composite without steps"]),
        (split({"type": "composite_trigger", "triggers": []}, {"type": "token_limit", "max_tokens": 0}),
         ["A trigger without other triggers never fires.", "A token limit of 0 is off."]),
        (split({"type": "count_at_least", "n": 40}, {"type": "message_limit", "max_messages": 100}),
         ["The split removes nothing from 40 to 100 messages"]),
        (composite(split(), LIMIT, {"type": "token_limit", "max_tokens": 10}), []),
    ],
)  # fmt: skip
def test_rules_that_can_never_act_are_told(value: dict[str, Any], words: list[str]) -> None:
    told = list(parse_strategy(value).cautions())
    assert len(told) == len(words)
    assert all(sentence.startswith(start) for sentence, start in zip(told, words, strict=True))
