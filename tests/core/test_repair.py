"""Repair: it converges in one run, loses nothing unless told so, and every fix can be declined."""

from __future__ import annotations

import copy
import re
from collections import Counter
from collections.abc import Iterator, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chainviz.core.chain.build import FALLBACK_RESPONSE_CONTENT
from chainviz.core.chain.chain import MemoryChain, apply_splices
from chainviz.core.chain.messages import Message, Shape, Text, ToolCall, ToolResult
from chainviz.core.chain.problems import content_problems, tree_problems
from chainviz.core.chain.tree import SUMMARIZATION_TOOL, parse
from chainviz.core.errors import OptionsError, Refused
from chainviz.core.operations.contract import Context
from chainviz.core.operations.repair import CHOICES, OPERATION, RepairOptions, propose, repaired
from chainviz.core.operations.repair.passes.turns import OPENING
from chainviz.core.reference import parsed_by_reference
from chainviz.store.content.message_shapes import shape_of
from tests.core.pictures import ai, call, h, odd, result, s, tool
from tests.core.strategies import chains
from tests.examples import examples


def errors(messages: tuple[Message, ...]) -> list[str]:
    return [p.rule for p in tree_problems(parse(messages)) if p.severity == "error"]


@examples(500)
@given(chains)
def test_one_run_is_enough_and_the_input_stays_as_it_was(messages: list[Message]) -> None:
    before = copy.deepcopy(messages)
    once = repaired(messages)
    assert messages == before
    assert not any(fix.accepted for fix in propose(MemoryChain(once)))
    assert repaired(once) == once
    assert errors(once) == []


@examples(300)
@given(chains)
def test_with_every_fix_accepted_the_chain_is_strict_and_valid(messages: list[Message]) -> None:
    after = repaired(messages, RepairOptions(only=tuple(CHOICES)))
    assert not list(tree_problems(parse(after)))
    assert all(pair.is_valid for _, pair in parse(after).pairs())


@examples(300)
@given(chains, st.data())
def test_any_choice_is_carried_out(messages: list[Message], draw: st.DataObject) -> None:
    fixes = propose(MemoryChain(tuple(messages)))
    chosen = {fix.id: draw.draw(st.sampled_from(fix.choices)) for fix in fixes}
    options = RepairOptions(choose=tuple(f"{id}={choice}" for id, choice in chosen.items()), only=tuple(CHOICES))
    for fix in propose(MemoryChain(tuple(messages)), options):
        assert fix.choice == chosen.get(fix.id, fix.choice) or chosen[fix.id] not in fix.choices
    again = RepairOptions(only=tuple(CHOICES))
    after = repaired(repaired(messages, options), again)
    assert not list(tree_problems(parse(after)))


@examples(300)
@given(chains)
def test_no_text_is_lost(messages: list[Message]) -> None:
    """Everything a person could read is still there; identical copies of a result are the only thing dropped."""
    after = "\0".join(said(message) for message in repaired(messages))
    for message in messages:
        for part in message.parts:
            if isinstance(part, Text):
                assert part.text in after
            elif isinstance(part, ToolResult):
                assert part.content in after


def said(message: Message) -> str:
    return "\0".join(
        part.text if isinstance(part, Text) else part.content if isinstance(part, ToolResult) else "" for part in message.parts
    )


@given(chains)
def test_declining_everything_changes_nothing(messages: list[Message]) -> None:
    chain = MemoryChain(tuple(messages))
    skip = tuple(fix.id for fix in propose(chain))
    outcome = OPERATION.run(chain, RepairOptions(skip=(*skip, *CHOICES)), Context())
    assert outcome.changes == ()


@given(chains)
def test_ids_of_fixes_are_unique(messages: list[Message]) -> None:
    ids = [fix.id for fix in propose(MemoryChain(tuple(messages)))]
    assert len(set(ids)) == len(ids)


FALLBACK = result("a", FALLBACK_RESPONSE_CONTENT)


@pytest.mark.parametrize(
    ("before", "after", "ids"),
    [
        ([h("a"), h("b"), ai("x")], [Message("human", (Text("a"), Text("b"))), ai("x")], ["merge-human@s1.h.m1"]),
        ([h(), ai(call("a")), h()], [h(), ai(call("a")), tool(FALLBACK), h()], ["answer-call@s1.p1.m0.c0:a"]),
        (
            [h(), ai(call("a")), h("wait"), tool("a"), ai("x")],
            [h(), ai(call("a")), tool("a"), h("wait"), ai("x")],
            ["move-result@s2.p1.m1.c0:a"],
        ),
        (
            [h(), ai(call("a")), ai(call("b")), tool("b", "a")],
            [h(), ai(call("a")), tool("a"), ai(call("b")), tool("b")],
            ["move-result@s1.p2.m1.c1:a"],
        ),
        ([h(), tool("a"), ai(call("a"))], [h(), ai(call("a")), tool("a")], ["move-result@s1.p1.m1.c0:a"]),
        ([h(), ai(call("a")), tool("a"), tool("a")], [h(), ai(call("a")), tool("a")], ["drop-copy@s1.p1.m2.c0:a"]),
        (
            [h(), ai(call("a")), tool("a"), tool(result("a", "else"))],
            [h(), ai(call("a")), tool(result("a", "found\n\n[One more result of search of this call]\nelse"))],
            ["join-results@s1.p1.m2.c0:a"],
        ),
        (
            [h(), ai(call("a")), tool("a"), tool("b")],
            [h(), ai(call("a"), call("b")), tool("a"), tool("b")],
            ["add-call@s1.p1.m2.c0:b"],
        ),
        (
            [h(), ai("x"), tool("b")],
            [h(), ai("x"), h("[Result of the call of search (b), which is not in this chain]\nfound")],
            ["result-to-text@s1.p1.m1.c0:b"],
        ),
        (
            [h(), ai(call("a", "f"), call("a", "g")), tool("a"), tool("a")],
            [h(), ai(call("a", "f"), call("a_2", "g")), tool("a"), tool("a_2")],
            ["rename-calls@s1.p1.m0.c1:a"],
        ),
        (
            [h("q"), ai("x"), s("rule"), ai("y")],
            [h("q"), ai("x"), Message("human", (Text("[System message]"), Text("rule"))), ai("y")],
            ["note-system@s2.h.m0"],
        ),
        ([s("a"), s("b"), h()], [Message("system", (Text("a"), Text("b"))), h()], ["system-to-start@s1.h.m1"]),
        (
            [h(), ai("x"), odd("function", "f"), ai("y")],
            [h(), ai("x"), Message("human", (Text("[Message of the role “function”]"), Text("f"))), ai("y")],
            ["note-role@s1.p1.m1"],
        ),
        (
            [h(), ai(call("a", arguments="{'x'}")), tool("a")],
            [h(), ai("[The arguments of the call search were not valid JSON: {'x'}]", call("a")), tool("a")],
            ["mend-arguments@s1.p1.m0.c0:a"],
        ),
    ],
    ids=lambda value: value[0].split("@")[0] if value and isinstance(value[0], str) else "",
)  # fmt: skip
def test_each_fix(before: list[Message], after: list[Message], ids: list[str]) -> None:
    assert [fix.id for fix in propose(MemoryChain(tuple(before)))] == ids
    assert repaired(before) == tuple(after)


@pytest.mark.parametrize(
    ("calls", "results", "answered"),
    [
        (["call_1a"], [" call_1a"], ["call_1a"]),
        (["toolu_1a"], ["call-1a"], ["toolu_1a"]),
        (["call_1a|fc_9"], ["call_1a"], ["call_1a|fc_9"]),
        (["functions.search:0", "functions.search:1"], ["search:1", "functions_search_0"], ["functions.search:1", "functions.search:0"]),
        (["call_1"], [("functions.read:1", ""), ("functions.search:0", "")], ["functions.read:1", "call_1"]),
        (["call_1", "call_2"], [("functions.search:0", "")], ["functions.search:0"]),
        (["call_1", "call_2", "call_3"], ["call_2", "x", "y"], ["call_2", "call_1", "call_3"]),
        (["call_1"], [("x", "")], ["call_1"]),
        (["call_1"], [("x", "read")], ["x"]),
    ],
)  # fmt: skip
def test_a_result_gets_the_id_of_the_call_that_it_answers(
    calls: list[str], results: list[str | tuple[str, str]], answered: list[str]
) -> None:
    """By the id without its prefix and punctuation, by the function's name, or because nothing else is left."""
    named = [(each, "search") if isinstance(each, str) else each for each in results]
    before = [h(), ai(*map(call, calls)), *(tool(result(id, f"r{place}", name)) for place, (id, name) in enumerate(named)), h("and?")]
    after = repaired(before)
    assert [ref.id for message in after for ref in message.results][: len(named)] == answered
    assert [ref.content for message in after for ref in message.parts if isinstance(ref, ToolResult)][: len(named)] == [
        f"r{place}" for place in range(len(named))
    ]
    assert not list(tree_problems(parse(after)))


def test_ids_of_nine_letters_are_given_on_demand_and_differ() -> None:
    before = [h(), ai(call("call_1"), call("abcdefgh9"), call("call_2")), tool("call_2", "abcdefgh9", "call_1"), h()]
    assert repaired(before) == tuple(before)
    after = repaired(before, RepairOptions(only=("shorten-id",)))
    ids = [each.id for each in after[1].calls]
    assert ids[1] == "abcdefgh9" and len({*ids}) == 3
    assert all(re.fullmatch("[a-zA-Z0-9]{9}", id) for id in ids)
    assert [each.id for each in after[2].results] == ids[::-1]


def test_only_a_screenshot_answers_a_computer_call() -> None:
    click = ToolCall("c1", "computer", '{"type": "click"}', type="computer")
    (fix,) = propose(MemoryChain((h(), Message("ai", (click,)), h())))
    assert fix.choices == ("call-to-text",)
    mixed = repaired([h(), Message("ai", (click, ToolCall("a", "search", "{}"))), h()])
    assert [ref.id for message in mixed for ref in message.results] == ["a"]


@pytest.mark.parametrize("end", [[ai(call("a"))], [ai(call("a")), odd("exit")], [ai("x"), odd("exit")]])
def test_the_end_of_a_run_is_left_alone(end: list[Message]) -> None:
    chain = (h(), *end)
    assert repaired(chain) == chain
    asked = repaired(chain, RepairOptions(only=("answer-call", "note-role")))
    assert not errors(asked)


@pytest.mark.parametrize(("before", "after"), [
    ([ai("hello"), h()], [h(OPENING), ai("hello"), h()]),
    ([s(), ai("hello"), h()], [s(), h(OPENING), ai("hello"), h()]),
])  # fmt: skip
def test_the_beginning_of_a_run_is_left_alone(before: list[Message], after: list[Message]) -> None:
    assert [fix.id for fix in propose(MemoryChain(tuple(before)))] == ["insert-opening@s1.p1.m0"]
    assert repaired(before) == tuple(before)
    assert repaired(before, RepairOptions(only=("insert-opening",))) == tuple(after)


def test_a_moved_message_keeps_its_source_and_is_the_same_object() -> None:
    late = tool("a")
    assert repaired([h(), ai(call("a")), h(), late, ai("x")])[2] is late


def test_an_id_reused_in_a_later_turn_is_no_reason_to_move_anything() -> None:
    chain = (h(), ai(call("a", "f")), tool("a"), h(), ai(call("a", "g")), tool("a"))
    assert [(fix.id, fix.accepted) for fix in propose(MemoryChain(chain))] == [("rename-calls@s2.p1.m0.c0:a", False)]
    assert repaired(chain, RepairOptions(only=("rename-calls",))) == (*chain[:4], ai(call("a_2", "g")), tool("a_2"))


def test_results_are_packed_only_where_a_format_can_hold_them() -> None:
    chain = (h(), ai(call("a", SUMMARIZATION_TOOL), call("b")), tool("a"), tool("b"))
    options = RepairOptions(only=("pack-results",))
    names = [[fix.name for fix in propose(MemoryChain(chain, format), options)] for format in ("langchaingo", "openai_chat")]
    assert names == [["pack-results"], []]


def test_free_form_arguments_are_left_alone() -> None:
    free = ToolCall("c", "python", "print(1)", "custom")
    chain = (h(), ai(free), tool("c"), ai("ok"))
    assert repaired(chain) == chain
    assert not list(content_problems(parse(chain).sections[0], 1, 0))


def test_another_choice_can_be_made_for_a_rule_or_a_single_fix() -> None:
    chain = [h(), ai("x"), tool("b")]
    assert repaired(chain, RepairOptions(choose=("orphan-result=drop-result",))) == (h(), ai("x"))
    by_id = RepairOptions(choose=("result-to-text@s1.p1.m1.c0:b=add-call",))
    assert repaired(chain, by_id) == (h(), ai("x", call("b")), tool("b"))
    with pytest.raises(OptionsError, match="is not a choice"):
        repaired(chain, RepairOptions(choose=("result-to-text@s1.p1.m1.c0:b=no-such",)))


def test_the_report_shows_what_was_left() -> None:
    chain = MemoryChain((h("a"), h("b"), ai(call("c"))))
    outcome = OPERATION.run(chain, RepairOptions(only=("merge-human",), skip=("no-such",)), Context())
    assert [(row.path, row.action) for row in outcome.report] == [("s1.h.m1", "merge-human"), ("s1.p1.m0.c0", "left: answer-call")]
    assert outcome.warnings == ("There is no fix “no-such” to make in this chain.",)


def test_a_local_repair_is_a_local_change() -> None:
    many = (h(), *(message for i in range(50) for message in (ai(call(f"c{i}")), tool(f"c{i}"))))
    broken = (*many[:40], *many[41:])
    outcome = OPERATION.run(MemoryChain(broken), RepairOptions(), Context())
    assert [(change.start, change.removed, len(change.messages)) for change in outcome.changes] == [(40, 0, 1)]


@given(chains)
def test_pentagi_preset_is_the_reference(messages: list[Message]) -> None:
    chain = MemoryChain(tuple(messages))
    try:
        expected = parsed_by_reference(messages, force=True)
    except Refused as refused:
        with pytest.raises(Refused, match="^" + re.escape(str(refused))):
            OPERATION.run(chain, RepairOptions(preset="pentagi"), Context())
        return
    outcome = OPERATION.run(chain, RepairOptions(preset="pentagi"), Context())
    assert apply_splices(messages, outcome.changes) == expected


def test_every_fix_named_by_a_problem_exists() -> None:
    chain = [odd("x"), ai(call("a"), call("a")), h(), h(), s(), tool("q"), ai("y"), tool("a"), tool("a")]
    for problem in tree_problems(parse(chain)):
        assert set(problem.fixes) <= set(CHOICES)


class Counted(MemoryChain):
    """A chain whose shapes say as little as those of a stored chain, and that counts what is read of it."""

    def __init__(self, messages: tuple[Message, ...]) -> None:
        super().__init__(messages)
        object.__setattr__(self, "read", Counter())

    def shapes(self) -> Sequence[Shape]:
        return [shape_of(message) for message in self.messages]

    def __getitem__(self, index: int) -> Message:
        return self.slice(index, index + 1)[0]

    def slice(self, start: int, stop: int) -> Sequence[Message]:
        self.read.update(range(start, min(stop, len(self))))  # type: ignore[attr-defined]
        return self.messages[start:stop]

    def stream(self, start: int, stop: int) -> Iterator[Message]:
        return iter(self.slice(start, stop))


def test_each_message_is_read_once_and_again_only_near_what_is_odd() -> None:
    plain = tuple(message for i in range(200) for message in (h(), ai(call(f"c{i}")), tool(f"c{i}")))
    chain = Counted(plain)
    assert not propose(chain)
    assert chain.read == Counter(dict.fromkeys(range(600), 1))
    chain = Counted((*plain[:300], h(""), *plain[301:]))
    assert [fix.rule for fix in propose(chain)] == ["empty-content"]
    assert [place for place, times in chain.read.items() if times > 1] == [300]
    chain = Counted(plain)
    assert not propose(chain, RepairOptions(content=False))
    assert not chain.read


@examples(300)
@given(chains)
def test_a_stored_chain_is_mended_as_one_in_memory(messages: list[Message]) -> None:
    everything = RepairOptions(only=tuple(CHOICES))
    stored, whole = Counted(tuple(messages)), MemoryChain(tuple(messages))
    assert propose(stored, everything) == propose(whole, everything)
    changes = [OPERATION.run(chain, everything, Context()).changes for chain in (stored, whole)]
    assert apply_splices(messages, changes[0]) == apply_splices(messages, changes[1])
