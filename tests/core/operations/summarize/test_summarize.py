"""The seed's rules and settings as our own folding keeps them."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from chainviz.core.chain.messages import Message, Reasoning, Text, ToolCall, text_of
from chainviz.core.chain.reasoning import FAKE_SIGNATURE
from chainviz.core.chain.tool_ids import parse_template
from chainviz.core.chain.tree import SUMMARIZATION_TOOL, PairType, parse
from chainviz.core.operations.summarize import SummarizeOptions
from chainviz.core.operations.summarize.plan import PREFIX
from tests.core.operations.summarize.fake import NOW, OLD, TALK, Fake, run, size, text_in, work
from tests.core.pictures import ai, h, result, s, tool


def test_an_old_section_becomes_its_header_and_one_summary() -> None:
    after, outcome = run((s(), *OLD, *NOW))
    tree = parse(after)
    assert [len(section.body) for section in tree.sections] == [1, 1]
    assert after[:2] == (s(), h("first")) and after[-3:] == NOW
    assert tree.sections[0].body[0].type is PairType.SUMMARIZATION and tree.sections[0].body[0].is_valid
    assert text_in(after[3]) == "short"
    assert [(row.path, row.until, row.becomes, row.action) for row in outcome.report] == [("s1.p1", "s1.p2", "s1.p1", "summarize")]


def test_mere_talk_becomes_a_marked_completion() -> None:
    after, _ = run((*TALK, *NOW))
    assert text_of(after[1]) == PREFIX + "short" and len(after) == 2 + len(NOW)


def test_a_large_pair_of_the_last_section_is_folded_but_never_the_last_pair() -> None:
    chain = (h(), *work("a", 3_000), *work("b", 10), *work("c", 3_000))
    after, outcome = run(chain, max_bp_bytes=1_000)
    assert [row.path for row in outcome.report] == ["s1.p1"]
    assert after[3:] == chain[3:]


def test_a_section_over_its_limit_keeps_what_fits_below_the_reserve() -> None:
    chain = (h("q" * 100), *(m for id in "abcdefgh" for m in work(id, 90)))
    pair = parse(chain).sections[0].body[0].size
    limit = 100 + 6 * pair
    kept = (limit * 75 // 100 - 100) // pair
    after, _ = run(chain, last_sec_bytes=limit)
    assert len(parse(after).sections[0].body) == 1 + kept
    assert after[3:] == chain[-2 * kept :]


def test_nothing_is_rotated_at_the_limit_and_something_one_byte_above_it() -> None:
    chain = (h(), *work("a"), *work("b"), *work("c"))
    assert run(chain, last_sec_bytes=size(chain))[0] == chain
    assert run(chain, last_sec_bytes=size(chain) - 1)[0] != chain


def test_old_sections_are_joined_with_all_that_the_person_said() -> None:
    chain = (s(), *(m for i in range(5) for m in (h(f"q{i}"), *work(str(i)))))
    after, outcome = run(chain, use_qa=True, max_qa_sections=2)
    tree = parse(after)
    assert len(tree.sections) == 3
    assert tree.sections[0].header == (s(), Message("human", (Text("q0"), Text("q1"), Text("q2"))))
    assert {(row.path, row.until, row.becomes) for row in outcome.report} == {
        ("s1", "s3", "s1.p1"), ("s4.p1", "", "s2.p1"),
    }  # fmt: skip


def test_questions_can_be_summarized_too() -> None:
    chain = tuple(m for i in range(4) for m in (h("please " * 20), *work(str(i))))
    writer = Fake(lambda request: f"case {request.case}")
    after, _ = run(chain, writer, use_qa=True, max_qa_sections=2, summ_human_in_qa=True)
    assert text_of(after[0]) == "case 3" and text_in(after[2]) == "case 1"


def test_reasoning_leaves_its_traces_in_a_summary_of_the_last_sections() -> None:
    thought = Text("I think", Reasoning("deep", "sig"))
    signed = ToolCall("a", "f", "{}", reasoning=Reasoning("", "sig"))
    chain = (h(), ai(thought, signed), tool(result("a", "x" * 3_000)), *work("b"))
    after, _ = run(chain, max_bp_bytes=1_000)
    first, made = after[1].parts
    assert first == thought and isinstance(made, ToolCall)
    assert made.reasoning == Reasoning(signature=FAKE_SIGNATURE) and made.name == SUMMARIZATION_TOOL


def test_ids_follow_the_template_and_none_comes_twice() -> None:
    chain = (*OLD, *OLD, *OLD, *NOW)
    after, _ = run(chain, tool_call_id_template="t_{r:3:d}")
    ids = [c.id for m in after for c in m.calls if c.name == SUMMARIZATION_TOOL]
    assert len(set(ids)) == 3 and all(parse_template("t_{r:3:d}").accepts(id) for id in ids)
    again, _ = run((*after, h(), *work("q"), *NOW), tool_call_id_template="t_{r:3:d}")
    every = [c.id for m in again for c in m.calls if c.name == SUMMARIZATION_TOOL]
    assert len(every) == len(set(every)) == 5


def test_presets_fill_what_is_not_said_and_zero_means_the_default() -> None:
    assert SummarizeOptions().last_sec_bytes == 51_200 and SummarizeOptions().keep_qa_sections == 1
    assert SummarizeOptions(last_sec_bytes=0, max_bp_bytes=0).max_bp_bytes == 16_384
    assistant = SummarizeOptions(preset="assistant", max_qa_bytes=9)
    assert (assistant.last_sec_bytes, assistant.max_qa_bytes, assistant.keep_qa_sections) == (76_800, 9, 3)
    assert SummarizeOptions(reserve_percent=0).reserve_percent == 0
    assert SummarizeOptions(tool_call_id_template="").tool_call_id_template == "call_{r:24:x}"
    theirs = SummarizeOptions(preset="pentagi", last_sec_bytes=-1, keep_qa_sections="-7")  # type: ignore[arg-type]
    assert (theirs.last_sec_bytes, theirs.keep_qa_sections) == (51_200, 1)


@pytest.mark.parametrize("wrong", [{"last_sec_bytes": -1}, {"reserve_percent": 101}, {"tool_call_id_template": "{r:5:z}"}, {"color": 1}])
def test_settings_that_cannot_be_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        SummarizeOptions(**wrong)
