"""Where our default differs from the reference on purpose: one test for each row of the table of deviations.md, in its order."""

from __future__ import annotations

import copy
import random

import pytest

from chainviz.core.chain.arguments import fix_json, sanitize
from chainviz.core.chain.build import add_tool_response
from chainviz.core.chain.chain import MemoryChain
from chainviz.core.chain.messages import Message, Text, ToolCall
from chainviz.core.chain.problems import tree_problems
from chainviz.core.chain.tool_ids import parse_template, renamings
from chainviz.core.chain.tree import ChainAST, parse
from chainviz.core.errors import OptionsError, Refused
from chainviz.core.operations.repair import CHOICES, RepairOptions, propose, repaired
from chainviz.core.reference import parsed_by_reference
from tests.core.pictures import ai, call, h, odd, result, s, tool
from tests.core.reference import is_strict, normalized_by_reference


def by_reference(*messages: Message) -> tuple[Message, ...]:
    return parsed_by_reference(messages, force=True)


def test_parsing_is_total() -> None:
    broken = [tool("a"), s(), s(), odd("x"), ai(call("a"))]
    assert parse(broken).messages == tuple(broken)
    with pytest.raises(Refused):
        by_reference(*broken)


def test_all_problems_are_told_each_with_its_place() -> None:
    found = list(tree_problems(parse([h(), h(), ai(call("a")), h(), ai("x"), tool("b")])))
    assert [(p.rule, p.message) for p in found] == [("double-human", 1), ("pending-call", 2), ("orphan-result", 5)]


def test_sizes_stay_exact() -> None:
    tree = parse(repaired([h(), ai(call("a", "f"))], RepairOptions(only=("answer-call",))))
    assert tree.size == sum(part.size for m in tree.messages for part in m.parts)
    smaller = add_tool_response(tree, "a", "f", "")
    assert smaller.size < tree.size and smaller.size == sum(m.size for m in smaller.messages)


def test_a_result_that_repeats_does_not_keep_repair_from_converging() -> None:
    chain = (h(), ai(call("a"), call("b")), tool("a"), tool("a"), tool("b"), tool(result("a", "other")))
    assert not is_strict(parse(by_reference(*chain)))
    assert is_strict(parse(repaired(chain)))
    assert "other" in repr(repaired(chain))


def test_calls_that_share_an_id_get_their_own() -> None:
    chain = (h(), ai(call("a"), call("a")), tool("a"), tool("a"))
    assert len(by_reference(*chain)[1].calls) == 3
    assert [c.id for c in repaired(chain)[1].calls] == ["a", "a_2"]


def test_a_late_result_moves_back_to_its_call() -> None:
    chain = (h(), ai(call("a")), ai("x"), tool(result("a", "precious")))
    assert "precious" not in repr(by_reference(*chain))
    assert repaired(chain) == (chain[0], chain[1], chain[3], chain[2])


def test_a_result_without_any_call_stays_readable() -> None:
    chain = (h(), ai("x"), tool(result("a", "precious")))
    assert "precious" not in repr(by_reference(*chain))
    assert "precious" in repr(repaired(chain))


def test_nothing_is_reordered_when_the_first_human_message_is_late() -> None:
    chain = (s(), ai("hello"), h())
    assert by_reference(*chain) == (s(), h(), ai("hello"))
    assert repaired(chain) == chain
    after = repaired(chain, RepairOptions(only=("insert-opening",)))
    assert [m for m in after if m in chain] == list(chain) and is_strict(parse(after))


@pytest.mark.parametrize("chain", [[ai("x"), h()], [tool("a"), h()], [h(), ai("x"), s(), h()], [s(), s(), h()], [odd("f"), h()]])
def test_what_the_reference_cannot_repair_is_repaired(chain: list[Message]) -> None:
    with pytest.raises(Refused):
        by_reference(*chain)
    assert is_strict(parse(repaired(chain, RepairOptions(only=tuple(CHOICES)))))


def test_a_run_that_ends_with_a_call_gets_no_invented_result() -> None:
    chain = (h(), ai(call("a")))
    assert len(by_reference(*chain)) == 3
    assert repaired(chain) == chain
    assert [(fix.rule, fix.accepted) for fix in propose(MemoryChain(chain))] == [("terminal-call", False)]


def test_added_calls_and_results_are_whole_and_in_order() -> None:
    chain = (h(), ai(call("z"), call("b")), tool("y"))
    theirs, ours = by_reference(*chain), repaired(chain)
    assert [m.results[0].id for m in theirs[2:]] == ["y", "b", "z"]
    assert [m.results[0].id for m in ours[2:]] == ["y", "z", "b"]
    assert [part.type for m in (theirs[1], ours[1]) for part in m.parts[2:] if isinstance(part, ToolCall)] == ["", "function"]


def test_calls_without_a_function_are_kept() -> None:
    odd_call = ToolCall("n", "", "", has_function=False)
    chain = (h(), ai(odd_call, call("a")), tool("a"))
    assert odd_call not in by_reference(*chain)[1].parts
    assert repaired(chain) == chain


def test_new_ids_never_collide_or_cross_over() -> None:
    chain = (h(), ai(call("a", "f"), call("a", "f")), tool("a"), tool("a"))
    template = parse_template("{f}:{r:1:d}")
    theirs = normalized_by_reference(chain, template, random.Random(1))
    assert theirs[2].results[0].id == theirs[3].results[0].id
    ours = list(renamings(parse(chain), template, random.Random(1)))
    assert len({each.new for each in ours}) == 2 and [each.message for each in ours] == [1, 2, 1, 3]


def test_templates_that_cannot_work_are_refused() -> None:
    for template in ("{r:1001:x}", "{r:99999999999999999999:x}", "{r:5:z}"):
        with pytest.raises(OptionsError):
            parse_template(template)


def test_arguments_are_mended_before_they_are_replaced_and_never_lost() -> None:
    assert (sanitize('{"a": "b'), fix_json('{"a": "b').text) == ("{}", '{"a": "b"}')
    after = repaired([h(), ai(call("a", arguments="rm -r x")), tool("a")])
    assert any(isinstance(part, Text) and "rm -r x" in part.text for part in after[1].parts)


def test_nothing_given_is_ever_changed() -> None:
    chain = [h(), h(), ai(ToolCall("n", "", "", has_function=False), call("a")), tool("b")]
    before = copy.deepcopy(chain)
    repaired(chain)
    by_reference(*chain)
    tree: ChainAST[Message] = parse(chain)
    list(renamings(tree, parse_template("x{r:4:d}"), random.Random(0)))
    assert chain == before
