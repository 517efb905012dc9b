"""Two runs of one task are aligned by what they ask, call and say; call ids mean nothing there (issue 12)."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

import chainviz
from chainviz.core.chain.chain import MemoryChain
from chainviz.core.chain.messages import Message, Text, ToolCall, ToolResult
from chainviz.core.diff import diff_chains
from chainviz.core.diff.group_table import MOST_CELLS, cells_of
from chainviz.core.diff.runs import LOOKED_AT, ONLY_IDS, RunFacts, are_runs, diff_runs, fact_rows, outcome_of, tool_rows
from chainviz.core.diff.text import render
from tests.cpu import within_cpu_seconds

Step = tuple[str, str, str]
"""Tool, arguments, result."""


def run(name: str, *steps: Step, end: str = "Done.") -> MemoryChain:
    messages = [Message("human", (Text("Fix the retry tests"),))]
    for i, (tool, arguments, result) in enumerate(steps):
        messages.append(Message("ai", (ToolCall(f"{name}{i}", tool, arguments),)))
        messages.append(Message("tool", (ToolResult(f"{name}{i}", tool, result),)))
    return MemoryChain((*messages, Message("ai", (Text(end),))))


GREP, READ, TEST = ("Grep", '{"q": 1}', "41"), ("Read", '{"f": "a"}', "text"), ("Bash", '{"c": "pytest"}', "2 failed")
EDIT = ("Edit", '{"f": "b"}', "saved")


def kinds(one: MemoryChain, other: MemoryChain) -> list[tuple[str, str, str]]:
    found = diff_runs(one, other).groups
    return [(group.kind, str(group.old.first or ""), str(group.new.first or "")) for group in found]


def test_runs_are_told_from_states_of_one_chain() -> None:
    one, other = run("a", GREP), run("b", GREP)
    assert are_runs(one, other) and not are_runs(one, one)
    assert not are_runs(one, MemoryChain((Message("human", (Text("hi"),)),)))


def test_runs_that_share_a_few_ids_are_runs() -> None:
    assert are_runs(run("a", GREP, READ), run("a", READ, TEST)), "the same ids, of other tools"
    assert are_runs(run("a", GREP, READ, TEST), run("a", GREP, TEST, READ))
    assert not are_runs(run("a", GREP, READ, TEST), run("a", GREP, READ))
    assert not are_runs(run("a", GREP, READ, TEST, GREP), run("a", GREP, READ, READ, READ))


def test_equal_steps_are_equal_whatever_their_ids() -> None:
    assert kinds(run("a", GREP, READ), run("b", GREP, READ)) == [("same", "s1.h.m0", "s1.h.m0")]


def test_runs_whose_ids_are_counted_are_runs() -> None:
    """Both make the calls of a1 and a2, under other ids."""
    one, other = run("a", GREP, READ, TEST, READ), run("a", GREP, EDIT, READ, TEST, READ)
    assert are_runs(one, other) and are_runs(other, one)
    assert kinds(one, other) == [("same", "s1.h.m0", "s1.h.m0"), ("added", "", "s1.p2"), ("same", "s1.p2", "s1.p3")]


def test_an_edited_copy_is_no_run() -> None:
    assert not are_runs(run("a", GREP, READ, TEST), run("a", GREP, EDIT, TEST))
    assert not are_runs(run("a", GREP, READ, TEST), run("a", GREP, GREP, TEST)), "an edit may repeat another call"


def test_ids_alone_are_no_difference_and_said() -> None:
    diff = diff_runs(run("a", GREP, READ), run("b", GREP, READ))
    assert diff.is_empty and diff.notes == (ONLY_IDS,)
    fixed = ("Bash", TEST[1], "all passed")
    text = "\n".join(render(diff_runs(run("a", TEST), run("b", fixed))))
    assert "a0" not in text and "tool message changed" in text and "ai message" not in text


def test_an_added_result_stands_beside_its_call() -> None:
    one = run("a", READ)
    without = MemoryChain(one[:2] + one[3:])
    for pending, complete in ((without, one), (without, run("b", READ))):
        lines = list(render((diff_runs if are_runs(pending, complete) else diff_chains)(pending, complete)))
        at = lines.index("    call of Read")
        assert lines[at + 1 : at + 3] == ['          {"f": "a"}', "    tool message added"]


def places(one: MemoryChain, other: MemoryChain) -> tuple[str, str, int] | None:
    first = diff_runs(one, other).first
    return first and (str(first.old or ""), str(first.new or ""), first.change)


def test_the_first_difference_is_a_node_of_each() -> None:
    assert places(run("a", GREP, TEST), run("b", GREP, READ, TEST)) == ("", "s1.p2", 1)
    assert places(run("a", GREP), run("b", GREP)) is None
    steps = [("Read", str(i), str(i)) for i in range(9)]
    one, other = run("a", *steps[:6], end="Yes"), run("b", *steps[6:], end="No")
    assert places(one, other) == ("s1.p1", "s1.p1", 1), "no range where nothing matches"
    assert places(MemoryChain(one[:1]), one) == ("", "s1.p1", 1)


def test_the_first_difference_may_be_a_move() -> None:
    one, other = run("a", GREP, READ, TEST, EDIT), run("b", READ, TEST, GREP, EDIT)
    assert places(one, other) == ("s1.p1", "s1.p3", 1) and places(other, one) == ("s1.p3", "s1.p1", 1)
    changed = run("b", READ, ("Bash", "{}", "no"), EDIT, GREP)
    assert places(one, changed) == ("s1.p1", "s1.p4", 2), "the change that shows it is not the first one"


@given(st.lists(st.integers(0, 3), max_size=8), st.lists(st.integers(0, 3), max_size=8))
def test_nothing_differs_before_the_first_difference(one: list[int], other: list[int]) -> None:
    a, b = (run(name, *(("Read", str(i), str(i)) for i in each)) for name, each in (("a", one), ("b", other)))
    diff = diff_runs(a, b)
    alike = next((i for i, (x, y) in enumerate(zip(one, other, strict=False)) if x != y), min(len(one), len(other)))
    assert (diff.first is None) == (one == other)
    if diff.first is not None:
        pairs = [path.pair for path in (diff.first.old, diff.first.new) if path]
        assert alike + 1 in pairs
        assert 1 <= diff.first.change <= len(diff.changes)


def test_the_same_request_with_another_result_is_one_change() -> None:
    fixed = ("Bash", '{"c": "pytest"}', "all passed")
    assert kinds(run("a", READ, TEST), run("b", GREP, fixed))[1:] == [
        ("changed", "s1.p1", "s1.p1"),  # another step in the same place
        ("changed", "s1.p2", "s1.p2"),
        ("same", "s1.p3", "s1.p3"),
    ]


def test_steps_of_one_run_alone_are_one_group() -> None:
    many = [("Read", f'{{"f": {i}}}', f"content {i}") for i in range(40)]
    (_, removed, _) = diff_runs(run("a", *many), run("b")).groups
    assert (removed.kind, removed.old.measure.pairs) == ("removed", 40)


steps = st.lists(st.sampled_from([GREP, READ, TEST]), max_size=150)


@given(steps, steps)
def test_a_strip_covers_both_chains_and_counts_every_change(one: list[Step], other: list[Step]) -> None:
    diff = diff_runs(run("a", *one), run("b", *other))
    cells = cells_of(diff.groups, diff.before.messages, diff.after.messages)
    assert [i for cell in cells for i in cell.old] == list(range(diff.before.messages))
    assert [i for cell in cells for i in cell.new] == list(range(diff.after.messages))
    assert sum(cell.changes for cell in cells) == len(diff.changes)
    assert [cell.first for cell in cells if cell.changes] == [
        1 + sum(cell.changes for cell in cells[:i]) for i, cell in enumerate(cells) if cell.changes
    ]
    assert len(cells) <= 2 * MOST_CELLS + 2
    assert all((cell.kind == "same") <= (not cell.changes) for cell in cells)


@given(steps, steps)
def test_a_cell_of_both_chains_is_in_neither_alone(one: list[Step], other: list[Step]) -> None:
    diff = diff_runs(run("a", *one), run("b", *other))
    for length in (1, 500, 5_000):  # in long chains, small groups are joined
        cells = cells_of(diff.groups, length, length)
        assert not any(cell.kind in ("added", "removed") and cell.old and cell.new for cell in cells)


def test_facts_stand_side_by_side() -> None:
    one = RunFacts(4, 2, 100, 1, tools={"Read": 2, "Bash": 1})
    other = RunFacts(2, 1, 50, 0, tools={"Grep": 3})
    assert ("Problems", "1", "0") in list(fact_rows(one, other))
    assert {row.name for row in fact_rows(one, other) if not row.differs} == {
        "Accepted by", "Tool calls", "Tool errors", "Model", "Tokens in", "Tokens out", "Cost", "Duration",
    }  # fmt: skip
    assert list(tool_rows(one, other)) == [("Grep", 0, 3), ("Read", 2, 0), ("Bash", 1, 0)]


def test_only_verdicts_that_differ_have_a_row() -> None:
    one = RunFacts(1, 1, 1, 0, verdicts={"A": "accepted", "B": "accepted"}, seconds=200, tool_errors=2)
    other = RunFacts(1, 1, 1, 0, verdicts={"A": "accepted", "B": "4 errors"}, labels=("pass",))
    rows = {row.name: row[1:] for row in fact_rows(one, other)}
    assert rows["Accepted by"] == ("2 of 2 providers", "1 of 2 providers")
    assert rows["B"] == ("accepted", "4 errors") and "A" not in rows
    assert (rows["Tool errors"], rows["Duration"], rows["Labels"]) == (("2", "0"), ("3 min", "not recorded"), ("none", "pass"))


def test_the_outcome_is_the_last_answer() -> None:
    found = outcome_of(run("a", GREP, end="Released.\nNothing else."))
    assert found is not None and (found.message, found.line) == (3, "Released.")
    assert outcome_of(MemoryChain((Message("human", (Text("hi"),)),))) is None


@pytest.mark.parametrize("before", [0, LOOKED_AT - 2, LOOKED_AT - 1, LOOKED_AT, 3 * LOOKED_AT])
def test_the_last_answer_is_found_however_far_it_is_from_the_end(before: int) -> None:
    class Counted(MemoryChain):
        def __getitem__(self, index: int) -> Message:
            read.append(index)
            return super().__getitem__(index)

    read: list[int] = []
    said = (Message("human", (Text("hi"),)), Message("ai", (Text("First."),)), Message("ai", (Text("Last."),)))
    silent = Message("ai", (ToolCall("c1", "find", "{}"),)), Message("ai", (Text(""),)), Message("tool", (ToolResult("c1", "", "x"),))
    found = outcome_of(Counted((*said, *silent, *[silent[2]] * before)))
    assert found == (2, "Last.") and read == [2], "no other message is read"


def test_python_and_print_say_the_same() -> None:
    one, other = (chainviz.load([*_openai(name, word)])[0] for name, word in (("a", "failed"), ("b", "passed")))
    found = chainviz.diff(one, other)
    assert found.are_runs and found.first is not None
    assert found.facts[0].tools == {"test": 1}
    text = str(found)
    assert "first difference: s1.p1 of A, s1.p1 of B" in text and "calls of test" in text and "B ends: passed" in text
    assert "Accepted by" in text and "Tool errors" in text


def test_two_states_of_one_chain_have_facts_too() -> None:
    one = chainviz.load(_openai("a", "failed"))[0]
    found = chainviz.diff(one, chainviz.load(_openai("a", "passed"))[0])
    assert not found.are_runs
    assert "first difference: s1.p1 of A, s1.p1 of B" in str(found) and "B ends: passed" in str(found)


def _openai(name: str, word: str) -> list[dict[str, object]]:
    call = {"id": name, "type": "function", "function": {"name": "test", "arguments": "{}"}}
    return [
        {"role": "user", "content": "Test it"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": name, "content": word},
        {"role": "assistant", "content": word},
    ]


@pytest.mark.parametrize("likeness", [0.0, 0.5])
def test_ten_thousand_messages_are_quick(likeness: float) -> None:
    def made(name: str, length: int) -> MemoryChain:
        chance = random.Random(name)
        tools = ["Bash", "Read", "Edit"]
        steps = [
            (chance.choice(tools), str(i if chance.random() < likeness else chance.random()), str(chance.randrange(3)))
            for i in range(length)
        ]
        return run(name, *steps)

    one, other = made("a", 5_000), made("b", 5_000)
    within_cpu_seconds(5, lambda: diff_runs(one, other))


def test_little_in_common_is_said_where_no_pair_aligns_and_the_requests_differ() -> None:
    def other(request: str, *steps: Step) -> MemoryChain:
        return MemoryChain((Message("human", (Text(request),)), *run("b", *steps, end="Yes.").messages[1:]))

    one = run("a", GREP, READ)
    assert diff_runs(one, other("Book a flight", EDIT)).little_in_common == ("0 of 2 pairs of B align; the first requests differ.")
    assert diff_runs(one, other("Book a flight", GREP)).little_in_common == "", "a pair aligns"
    assert diff_runs(one, other("Fix the retry tests", EDIT)).little_in_common == "", "it is the same task"
    assert diff_runs(one, MemoryChain(())).little_in_common == "", "no pair could align"
