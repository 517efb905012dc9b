"""Every edit does what it says, locally, and says what it leaves behind."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from chainviz.core.chain.build import append_human as reference_append
from chainviz.core.chain.chain import MemoryChain, Splice, apply_splices
from chainviz.core.chain.messages import Message, Part, Reasoning, Text, Thinking, ToolCall, ToolResult
from chainviz.core.chain.paths import parse_path
from chainviz.core.chain.tree import flatten, parse
from chainviz.core.errors import OptionsError, PathError, Refused
from chainviz.core.operations import OPERATIONS
from chainviz.core.operations.contract import Context, Outcome
from chainviz.core.operations.edit import ACTIONS, AT_THE_END, FIELDS, Edit, EditOptions
from tests.core.strategies import chains

EDIT = Edit()


def s(text: str) -> Message:
    return Message("system", (Text(text, origin=0),))


def h(*texts: str) -> Message:
    return Message("human", tuple(Text(text, origin=i) for i, text in enumerate(texts)))


def ai(text: str = "", *ids: str) -> Message:
    parts: tuple[Part, ...] = (Text(text),) if text else ()
    return Message("ai", (*parts, *(ToolCall(i, f"tool_{i}", "{}") for i in ids)))


def t(*ids: str) -> Message:
    return Message("tool", tuple(ToolResult(i, f"tool_{i}", f"result {i}") for i in ids))


def run(messages: Sequence[Message], **options: Any) -> tuple[tuple[Message, ...], Outcome]:
    outcome = EDIT.run(MemoryChain(tuple(messages)), EditOptions(**options), Context())
    return apply_splices(messages, outcome.changes), outcome


def after(messages: Sequence[Message], **options: Any) -> tuple[Message, ...]:
    return run(messages, **options)[0]


CHAIN = [s("rules"), h("hi"), ai("look", "1", "2"), t("1"), t("2"), ai("done"), h("more"), ai("sure")]


def test_edit_is_an_operation() -> None:
    assert any(operation.name == "edit" for operation in OPERATIONS)
    assert set(FIELDS) == {*ACTIONS, *AT_THE_END}
    assert all(name in EditOptions.model_fields for names in FIELDS.values() for name in names)


def test_a_text_is_rewritten_and_keeps_its_origin() -> None:
    new, outcome = run(CHAIN, path="s1.h.m1", action="text", text="hello")
    assert new[1] == h("hello")
    part = new[1].parts[0]
    assert part.origin == 0
    (row,) = outcome.report
    assert (row.path, row.action, row.bytes_before, row.bytes_after) == ("s1.h.m1", "text", 2, 5)
    assert (outcome.changes[0].start, outcome.changes[0].removed) == (1, 1)


def test_the_only_message_of_a_pair_needs_no_number() -> None:
    assert after(CHAIN, path="s1.p2", action="text", text="ready")[5] == ai("ready")


def test_which_text_is_asked_for_where_there_are_several() -> None:
    with pytest.raises(Refused, match="2 parts"):
        run([h("a", "b")], path="s1.h.m0", action="text", text="c")
    assert after([h("a", "b")], path="s1.h.m0.c1", action="text", text="c") == (h("a", "c"),)


@pytest.mark.parametrize(
    ("path", "options", "text"),
    [
        ("s1.p1", {"action": "text"}, "3 messages"),
        ("s1", {"action": "text"}, "section"),
        ("s1.p1.m1", {"action": "text", "text": "x"}, "no text"),
        ("s1.p1.m0.c0", {"action": "arguments", "arguments": "{}"}, "not a tool call"),
        ("s1.p1.m0", {"action": "role", "role": "human"}, "tool calls"),
        ("s1.p1.m1", {"action": "role", "role": "ai"}, "tool results"),
        ("s1.h.m1", {"action": "role", "role": "tool"}, "needs a tool result"),
        ("s1.h.m1", {"action": "role", "role": "human"}, "already"),
        ("s1.p1.m0.c1", {"action": "call_id", "call_id": "2"}, "already"),
        ("s1.h.m1", {"action": "insert", "role": "tool", "text": "x"}, "id of the call"),
        ("s1.h.m1", {"action": "insert", "role": "tool", "call_id": "2", "arguments": "{}"}, "no arguments"),
        ("s1.h.m1", {"action": "insert", "role": "human", "text": "x", "name": "f"}, "Only an AI message"),
        ("s1.h.m1", {"action": "insert", "role": "system", "text": "x", "call_id": "2"}, "Only an AI message"),
        ("s1.h.m1", {"action": "insert", "role": "ai", "text": "x", "arguments": "{}"}, "name of its tool"),
        ("s1.p1.m1", {"action": "move_up"}, "AI message"),
        ("s1.p1", {"action": "move_up"}, "first"),
        ("s1.p2", {"action": "move_down"}, "last"),
        ("s1.p1.m0", {"action": "move_down"}, "move the pair"),
        ("s1.h.m1", {"action": "split", "offset": 2}, "one side"),
        ("s1.h.m1", {"action": "split", "offset": 9}, "2 characters"),
        ("s1.h.m1", {"action": "merge"}, "role ai"),
        ("s2.p1", {"action": "merge"}, "last message"),
        ("s1.h.m1", {"action": "answer", "text": "x"}, "not a body pair"),
        ("s2.p1", {"action": "answer", "text": "x"}, "no such call"),
    ],
)  # fmt: skip
def test_what_makes_no_sense_is_refused_in_a_sentence(path: str, options: dict[str, Any], text: str) -> None:
    with pytest.raises(Refused, match=text):
        run(CHAIN, path=path, **options)


@pytest.mark.parametrize("path", ["s9", "s1.p7", "s1.p1.m5", "s1.h.m1.c4", "nonsense", ""])
def test_a_path_that_names_nothing_is_a_path_error(path: str) -> None:
    with pytest.raises(PathError):
        run(CHAIN, path=path, action="delete")


def test_arguments_must_be_json_where_they_were() -> None:
    with pytest.raises(Refused, match="line 1, column 6"):
        run(CHAIN, path="s1.p1.m0.c1", action="arguments", arguments='{"a":')
    new = after(CHAIN, path="s1.p1.m0.c1", action="arguments", arguments='{"a":', allow_invalid=True)
    # what was no JSON before may stay none
    assert after(new, path="s1.p1.m0.c1", action="arguments", arguments="a")[2].parts[1] == ToolCall("1", "tool_1", "a")


def test_a_renamed_call_takes_its_results_along() -> None:
    new = after(CHAIN, path="s1.p1.m0.c1", action="name", name="grep")
    assert new[2].parts[1] == ToolCall("1", "grep", "{}")
    assert new[3].parts == (ToolResult("1", "grep", "result 1"),)
    assert new[4] == t("2")
    alone = after(CHAIN, path="s1.p1.m0.c1", action="name", name="grep", with_results=False)
    assert alone[3] == t("1")


def test_a_result_with_a_name_of_its_own_or_none_keeps_it() -> None:
    results = Message("tool", (ToolResult("1", "", "a"), ToolResult("1", "other", "b")))
    new = after([h("a"), ai("", "1"), results], path="s1.p1.m0", action="name", name="grep")
    assert new[2] == results


def test_an_answer_carries_a_name_only_where_the_others_do() -> None:
    nameless = Message("tool", (ToolResult("1", "", "a"),))
    new = after([h("a"), ai("", "1", "2"), nameless], path="s1.p1", action="answer", text="b")
    assert new[3].parts == (ToolResult("2", "", "b"),)


def test_a_merge_that_the_format_cannot_hold_is_refused() -> None:
    chain = MemoryChain((h("a"), ai("", "1", "2"), t("1"), t("2")), "openai_chat")
    with pytest.raises(Refused, match="cannot hold the merged message"):
        EDIT.run(chain, EditOptions(path="s1.p1.m1", action="merge"), Context())
    assert EDIT.run(MemoryChain(chain.messages), EditOptions(path="s1.p1.m1", action="merge"), Context()).changes


def test_what_the_format_cannot_hold_is_said() -> None:
    chain = MemoryChain((h("a"), ai("", "1"), t("1")), "openai_chat")
    options = EditOptions(path="s1.p1.m1", action="result", text="x", is_error="yes")
    assert any("error" in warning for warning in EDIT.run(chain, options, Context()).warnings)


def test_a_new_call_id_is_given_to_the_results_too_or_it_is_said() -> None:
    new, outcome = run(CHAIN, path="s1.p1.m0.c1", action="call_id", call_id="9")
    assert [result.id for m in new for result in m.results] == ["9", "2"]
    assert outcome.warnings == ()
    _, alone = run(CHAIN, path="s1.p1.m0.c1", action="call_id", call_id="9", with_results=False)
    assert alone.warnings == ("Without a result now: 9.", "Without a call now: 1.")


def test_a_result_gets_another_content_and_can_be_an_error() -> None:
    new = after(CHAIN, path="s1.p1.m1", action="result", text="no", is_error="yes")
    assert new[3].parts == (ToolResult("1", "tool_1", "no", is_error=True),)


def test_deleting_a_call_takes_its_results_along() -> None:
    new, outcome = run(CHAIN, path="s1.p1.m0.c1", action="delete")
    assert new[2:4] == (ai("look", "2"), t("2"))
    assert outcome.warnings == ()
    new, outcome = run(CHAIN, path="s1.p1.m0.c1", action="delete", with_results=False)
    assert outcome.warnings == ("Without a call now: 1.",)


def test_deleting_an_ai_message_takes_its_results_along() -> None:
    new, outcome = run(CHAIN, path="s1.p1.m0", action="delete")
    assert new == (s("rules"), h("hi"), ai("done"), h("more"), ai("sure"))
    assert outcome.warnings == ()


def test_deleting_a_result_leaves_an_open_call_and_says_so() -> None:
    _, outcome = run(CHAIN, path="s1.p1.m2", action="delete")
    assert outcome.warnings == ("Without a result now: 2.",)


def test_deleting_the_last_part_deletes_the_message() -> None:
    assert after([h("a"), ai("b")], path="s1.h.m0.c0", action="delete") == (ai("b"),)


def test_deleting_everything_is_said() -> None:
    assert run([h("a")], path="s1", action="delete")[1].warnings == ("The chain is empty now.",)


def test_messages_are_inserted_before_and_after_a_node() -> None:
    new = after(CHAIN, path="s1.p1", action="insert", where="after", role="human", text="wait")
    assert new[5] == Message("human", (Text("wait"),))
    new, outcome = run(CHAIN, path="s1.p1.m0", action="insert", where="after", role="ai", text="hm")
    assert new[3] == Message("ai", (Text("hm"),))
    assert outcome.warnings == ("Without a result now: 1, 2.", "Without a call now: 1, 2.")
    new = after(CHAIN, path="s1.h.m0", action="insert", role="ai", name="f", call_id="7", arguments="[]")
    assert new[1] == Message("ai", (ToolCall("7", "f", "[]"),))


def test_a_system_message_in_the_middle_is_said() -> None:
    assert run(CHAIN, path="s2", action="insert", where="before", role="system", text="x")[1].warnings


def test_pairs_and_sections_change_places() -> None:
    pairs = after(CHAIN, path="s1.p2", action="move_up")
    assert pairs == (*CHAIN[:2], CHAIN[5], *CHAIN[2:5], *CHAIN[6:])
    sections = after(CHAIN, path="s2", action="move_up")
    assert sections == (*CHAIN[6:], *CHAIN[:6])
    results = after(CHAIN, path="s1.p1.m2", action="move_up")
    assert results[3:5] == (t("2"), t("1"))
    headers = after(CHAIN, path="s1.h.m0", action="move_down")
    assert headers[:2] == (h("hi"), s("rules"))


def test_an_open_last_section_cannot_move_above_another() -> None:
    with pytest.raises(Refused, match="not answered"):
        run([*CHAIN, h("and?")], path="s3", action="move_up")


def test_a_first_section_without_header_stays_first() -> None:
    with pytest.raises(Refused, match="no header"):
        run([ai("a"), h("b"), ai("c")], path="s1", action="move_down")


def test_a_message_is_split_and_the_new_half_has_no_place_in_the_source() -> None:
    new = after([h("hello world")], path="s1.h.m0", action="split", offset=6)
    assert new == (h("hello "), h("world"))
    assert (new[0].parts[0].origin, new[1].parts[0].origin) == (0, -1)


def test_merged_texts_stay_parts_or_become_one() -> None:
    assert after([h("a"), h("b")], path="s1.h.m0", action="merge") == (h("a", "b"),)
    joined = after([h("a"), h("b")], path="s1.h.m0", action="merge", join=True, separator="\n")
    assert joined == (h("a\nb"),)


@pytest.mark.parametrize(
    ("chain", "expected"),
    [
        ([], [h("go")]),
        ([h("a"), ai("b")], [h("a"), ai("b"), h("go")]),
        ([s("a")], [s("a"), h("go")]),
        ([h("a"), ai("b"), h("c")], [h("a"), ai("b"), h("c", "go")]),
    ],
    ids=["empty", "after a body", "after a system message", "after a human message"],
)
def test_a_human_message_goes_to_the_end(chain: list[Message], expected: list[Message]) -> None:
    assert after(chain, action="append_human", text="go") == tuple(expected)


@given(chains.filter(lambda chain: not chain or chain[-1].role != "system" or len(chain) == 1))
def test_a_human_message_is_appended_as_the_tree_does_it(chain: list[Message]) -> None:
    last_header = parse(chain).sections[-1].header if chain else ()
    assume(sum(m.role == "human" for m in last_header) <= 1)
    assert after(chain, action="append_human", text="go") == tuple(flatten(reference_append(parse(chain), "go")))


def test_an_open_call_is_answered_behind_the_other_results() -> None:
    chain = [h("a"), ai("", "1", "2"), t("1"), ai("b")]
    new, outcome = run(chain, path="s1.p1", action="answer", text="found")
    assert new[3] == Message("tool", (ToolResult("2", "tool_2", "found"),))
    assert outcome.warnings == ()


def test_which_call_is_asked_for_where_several_are_open() -> None:
    chain = [h("a"), ai("", "1", "2")]
    with pytest.raises(Refused, match="choose one: 1, 2"):
        run(chain, path="s1.p1", action="answer", text="found")
    assert after(chain, path="s1.p1", action="answer", text="x", call_id="2")[2].results[0].id == "2"
    assert after(chain, path="s1.p1.m0.c1", action="answer", text="x")[2].results[0].id == "2"


def test_an_answered_call_gets_the_new_answer() -> None:
    new = after([h("a"), ai("", "1"), t("1")], path="s1.p1.m0.c0", action="answer", text="new")
    assert new[2].parts == (ToolResult("1", "tool_1", "new"),)


def test_a_chain_that_keeps_results_together_gets_the_answer_there() -> None:
    new = after([h("a"), ai("", "1", "2", "3"), t("1", "2")], path="s1.p1", action="answer", text="x")
    assert [result.id for result in new[2].results] == ["1", "2", "3"]


SIGNED = [h("a"), Message("ai", (Thinking("hm", "sig"), Text("b", Reasoning("why", "s2"))))]


def test_signed_reasoning_is_warned_of_and_dropped_when_asked() -> None:
    _, outcome = run(SIGNED, path="s1.p1", action="text", text="c")
    assert "signed reasoning" in outcome.warnings[0]
    new, outcome = run(SIGNED, path="s1.p1", action="text", text="c", drop_reasoning=True)
    assert new[1] == Message("ai", (Text("c"),))
    assert outcome.warnings == ()


def test_signed_reasoning_cannot_be_rewritten() -> None:
    with pytest.raises(Refused, match="signature"):
        run(SIGNED, path="s1.p1.m0.c0", action="text", text="c")


def test_moving_a_signed_message_is_no_edit_of_it() -> None:
    assert run([*SIGNED, ai("z")], path="s1.p1", action="move_down")[1].warnings == ()


def test_an_edit_that_changes_nothing_has_no_changes() -> None:
    _, outcome = run(CHAIN, path="s1.h.m1", action="text", text="hi")
    assert (outcome.changes, len(outcome.warnings)) == ((), 1)


def test_an_edit_reads_only_around_its_node() -> None:
    read: list[int] = []

    class Watched(MemoryChain):
        def __getitem__(self, index: int) -> Message:
            read.append(1)
            return self.messages[index]

        def slice(self, start: int, stop: int) -> Sequence[Message]:
            read.append(len(self.messages[start:stop]))
            return self.messages[start:stop]

    long = [m for i in range(2_000) for m in (h(f"{i}"), ai("", f"c{i}"), t(f"c{i}"))]
    for action in (*ACTIONS, "append_human"):
        read.clear()
        options = EditOptions(path="s1000.p1.m0.c0", action=action, text="x", name="n", call_id="n", arguments="{}")
        with contextlib.suppress(Refused):
            EDIT.run(Watched(tuple(long)), options, Context())
        assert sum(read) < 300, action


paths = st.sampled_from(
    [f"s{i}{rest}" for i in (1, 2, 3) for rest in
     ("", ".h", ".h.m0", ".h.m1", ".h.m0.c0", ".p1", ".p2", ".p1.m0", ".p1.m1", ".p1.m2", ".p1.m0.c0", ".p1.m0.c1",
      ".p1.m1.c0", ".p2.m0", ".p2.m1.c0")]
)  # fmt: skip
edits = st.fixed_dictionaries(
    {
        "path": paths, "action": st.sampled_from([*ACTIONS, "append_human"]), "text": st.sampled_from(["", "new é"]),
        "role": st.sampled_from(["system", "human", "ai", "tool"]), "name": st.sampled_from(["", "f"]),
        "arguments": st.sampled_from(["", "{}", "{"]), "call_id": st.sampled_from(["", "a", "b", "new"]),
        "where": st.sampled_from(["before", "after"]), "offset": st.integers(0, 3),
        "is_error": st.sampled_from(["keep", "yes", "no"]), "with_results": st.booleans(), "join": st.booleans(),
        "separator": st.sampled_from(["", "\n"]), "allow_invalid": st.booleans(), "drop_reasoning": st.booleans(),
    }
)  # fmt: skip


@given(chains, edits)
def test_any_edit_of_any_chain_is_done_truly_or_refused(chain: list[Message], options: dict[str, Any]) -> None:
    before = tuple(chain)
    copies = json.dumps([repr(message) for message in chain])
    try:
        new, outcome = run(chain, **options)
    except (Refused, PathError, OptionsError) as error:
        assert str(error).endswith((".", "!"))
        return
    assert json.dumps([repr(message) for message in before]) == copies
    grown = sum(row.bytes_after - row.bytes_before for row in outcome.report)
    assert sum(m.size for m in new) == sum(m.size for m in chain) + grown
    assert tuple(flatten(parse(new))) == new
    assert inverted(new, before, outcome) == before


def inverted(new: tuple[Message, ...], before: tuple[Message, ...], outcome: Outcome) -> tuple[Message, ...]:
    """Undo by splices: each new stretch gives way to what it replaced."""
    shift = 0
    back: list[Splice] = []
    for change in outcome.changes:
        gone = before[change.start : change.start + change.removed]
        back.append(Splice(change.start + shift, len(change.messages), gone))
        shift += len(change.messages) - change.removed
    return apply_splices(new, back)


@given(chains, paths)
def test_up_and_down_again_is_where_it_was(chain: list[Message], path: str) -> None:
    try:
        up, outcome = run(chain, path=path, action="move_up")
    except (Refused, PathError):
        return
    assume(outcome.changes)
    at = parse_path(path)
    moved = "message" if at.message is not None else "pair" if at.pair else "section"
    now = replace(at, **{moved: getattr(at, moved) - 1})
    assert outcome.report[0].reason == f"moved up {'to' if at.message is None else 'in'} {now.number}"
    assert after(up, path=str(now), action="move_down") == tuple(chain)


@given(chains, paths, st.integers(0, 5))
def test_split_and_merged_again_is_the_same_text(chain: list[Message], path: str, offset: int) -> None:
    try:
        halves, outcome = run(chain, path=path, action="split", offset=offset)
    except (Refused, PathError):
        return
    at = outcome.changes[0].start
    assert len(halves) == len(chain) + 1
    whole, left, right = chain[at], halves[at], halves[at + 1]
    assert (left.role, right.role) == (whole.role, whole.role)
    assert left.size + right.size == whole.size
    texts = ["".join(p.text for p in m.parts if isinstance(p, Text)) for m in (whole, left, right)]
    assert texts[0] == texts[1] + texts[2]


@given(st.text(min_size=2), st.data())
def test_split_then_merge_is_the_identity_on_text(text: str, data: st.DataObject) -> None:
    offset = data.draw(st.integers(1, len(text) - 1))
    halves = after([h(text)], path="s1.h.m0", action="split", offset=offset)
    assert after(halves, path="s1.h.m0", action="merge", join=True) == (h(text),)
