"""Every rule, and strict as the reference decides it."""

from __future__ import annotations

import pytest
from hypothesis import given

from chainviz.core.chain.messages import Message
from chainviz.core.chain.problems import _pair_problems, strict_error, tree_problems
from chainviz.core.chain.tree import parse
from tests.core.cases import cases, read_messages
from tests.core.pictures import ai, call, h, odd, s, tool
from tests.core.strategies import chains

SUMMARY = "execute_task_and_return_summary"


@pytest.mark.parametrize(
    ("messages", "found"),
    [
        ([], []),
        ([s()], []),
        ([s(), h(), ai("yes")], []),
        ([s(), ai("hello")], []),
        ([ai("hello")], ["first-message info s1.p1.m0"]),
        ([h(), h()], ["double-human error s1.h.m1"]),
        ([s(), s(), h()], ["mid-system error s1.h.m1"]),
        ([h(), ai("x"), s(), h()], ["mid-system error s2.h.m0"]),
        ([s(), ai("x"), h()], ["missing-human info s1.p1.m0"]),
        ([h(), tool("a")], ["orphan-result error s1.p1.m1.c0"]),
        ([h(), ai("x"), tool("a")], ["orphan-result error s1.p1.m1.c0"]),
        ([h(), ai("x"), tool()], ["orphan-result error s1.p1.m1"]),
        ([h(), ai("x"), odd("exit")], ["unknown-role info s1.p1.m1"]),
        ([h(), ai("x"), odd("exit"), odd("log"), h()], ["unknown-role error s1.p1.m1", "unknown-role error s1.p1.m2"]),
        ([h(), ai(call("a")), odd("log"), tool("a"), odd("exit")], ["unknown-role error s1.p1.m1", "unknown-role info s1.p1.m3"]),
        ([h(), ai("x", call("a")), h()], ["pending-call error s1.p1.m0.c1"]),
        ([h(), ai(call("a"))], ["terminal-call info s1.p1.m0.c0"]),
        ([h(), ai(call("a"), call("b")), tool("a")], ["pending-call error s1.p1.m0.c1"]),
        ([h(), ai(call("a"), call("b")), tool("b")], ["pending-call error s1.p1.m0.c0"]),
        ([h(), ai(call("a", "submit")), h()], ["pending-call error s1.p1.m0.c0"]),
        ([h(), ai(call("a")), odd("exit")], ["unknown-role info s1.p1.m1", "terminal-call info s1.p1.m0.c0"]),
        ([h(), ai(call("a")), tool("b"), tool("a")], ["unmatched-result error s1.p1.m1.c0"]),
        ([h(), ai(call("a")), tool("a"), tool("a")], ["duplicate-result error s1.p1.m2.c0"]),
        ([h(), ai(call("a"), call("a")), tool("a")], ["shared-call-id warning s1.p1.m0.c1"]),
        ([h(), ai(call("a"), call("a")), tool("a"), tool("a")], ["shared-call-id error s1.p1.m0.c1"]),
        (
            [h(), ai(call("a", SUMMARY), call("b")), tool("a"), tool("b")],
            ["summary-results warning s1.p1.m0"],
        ),
    ],
)  # fmt: skip
def test_every_rule_has_its_place(messages: list[Message], found: list[str]) -> None:
    assert [f"{p.rule} {p.severity} {p.path}" for p in tree_problems(parse(messages))] == found


def test_a_problem_names_its_place_for_people() -> None:
    problem = next(tree_problems(parse([h(), ai("x", call("c1")), h()])))
    assert problem.text == "A message in pair 1.1 calls search as “c1”, but no result follows."
    assert (problem.message, problem.part) == (1, 1)


@pytest.mark.parametrize(
    ("request_", "expected"),
    [pytest.param(request, expected, id=name) for name, request, expected in cases("ast", "reparse") if not request["force"]],
)
def test_strict_is_the_reference_decision(request_: dict[str, object], expected: dict[str, object]) -> None:
    assert (strict_error(parse(read_messages(request_))) is None) == (expected["error"] is None)


@given(chains)
def test_message_and_part_agree_with_the_path(messages: list[Message]) -> None:
    for problem in tree_problems(parse(messages)):
        assert 0 <= problem.message < len(messages)
        assert problem.part is None or problem.part < len(messages[problem.message].parts)
        assert problem.path.part == problem.part


@given(chains)
def test_a_stretch_of_sections_has_the_same_problems_as_the_whole(messages: list[Message]) -> None:
    tree = parse(messages)
    apart = []
    index = 0
    for number, section in enumerate(tree.sections, 1):
        stretch = type(tree)((section,))
        follows = number < len(tree.sections)
        apart += tree_problems(stretch, first_section=number, first_message=index, follows=follows)
        index += len(section)
    assert apart == list(tree_problems(tree))


@given(chains)
def test_the_quick_answer_for_plain_pairs_is_the_long_one(messages: list[Message]) -> None:
    for path, pair in parse(messages).pairs():
        if pair.is_plain:
            assert pair.is_valid and not (pair.tool_calls.pending or pair.tool_calls.unmatched)
            assert list(_pair_problems(pair, path, 0, True)) == []


@given(chains)
def test_a_strict_chain_has_only_valid_pairs_but_for_seed_rule_seven(messages: list[Message]) -> None:
    tree = parse(messages)
    if strict_error(tree) is None:
        warned = {str(problem.path) for problem in tree_problems(tree)}
        assert all(pair.is_valid or f"{path}.m0" in warned for path, pair in tree.pairs())


def test_a_sentence_that_quotes_a_very_long_id_is_cut_in_its_middle() -> None:
    (problem,) = tree_problems(parse([h(), ai("x", call("a" * 50_000)), h(), ai("done")]))
    assert len(problem.text) == 1_000
    assert problem.text.startswith("A message in pair 1.1 calls ") and problem.text.endswith("but no result follows.")
