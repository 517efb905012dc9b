"""Two chains side by side: every group is true, together they are both chains, and each change gets its right name."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chainviz.core.chain.chain import MemoryChain
from chainviz.core.chain.messages import Message, Part, Text, ToolCall, ToolResult
from chainviz.core.chain.tree import SUMMARIZATION_TOOL
from chainviz.core.diff import ChainDiff, Measure, ShapeRows, diff_chains
from tests.cpu import within_cpu_seconds


def s(text: str) -> Message:
    return Message("system", (Text(text),))


def h(text: str) -> Message:
    return Message("human", (Text(text),))


def ai(text: str = "", *ids: str) -> Message:
    texts: tuple[Part, ...] = (Text(text),) if text else ()
    return Message("ai", (*texts, *(ToolCall(i, "search", "{}") for i in ids)))


def t(call_id: str, content: str = "found") -> Message:
    return Message("tool", (ToolResult(call_id, "search", content),))


def summary(text: str) -> tuple[Message, Message]:
    return (Message("ai", (ToolCall("sum", SUMMARIZATION_TOOL, "{}"),)), Message("tool", (ToolResult("sum", SUMMARIZATION_TOOL, text),)))


def compare(old: list[Message], new: list[Message]) -> ChainDiff:
    return diff_chains(MemoryChain(tuple(old)), MemoryChain(tuple(new)))


def kinds(old: list[Message], new: list[Message]) -> list[str]:
    return [group.kind for group in compare(old, new).changes]


atoms = st.sampled_from(
    [s("rules"), h("hi"), h("go on"), h("hi go on"), ai("yes"), ai("no"), ai("", "1"), ai("look", "2"), t("1"), t("2", "x"),
     Message("other", (Text("?"),)), h(""), *summary("all of it")]
)  # fmt: skip
chains = st.lists(atoms, max_size=14)


def check_truth(old: list[Message], new: list[Message], diff: ChainDiff) -> None:
    old_at = new_at = 0
    before, after = Measure(), Measure()
    for group in diff.groups:
        assert (group.old.start, group.new.start) == (old_at, new_at)
        old_at, new_at = group.old.stop, group.new.stop
        before, after = before + group.old.measure, after + group.new.measure
        for side, messages in ((group.old, old), (group.new, new)):
            part = messages[side.start : side.stop]
            assert side.measure.messages == len(part)
            assert side.measure.size == sum(message.size for message in part)
        if group.kind == "same":
            assert old[group.old.start : group.old.stop] == new[group.new.start : group.new.stop]
        if group.kind == "added":
            assert group.old.is_empty
        if group.kind == "removed":
            assert group.new.is_empty
    assert (old_at, new_at) == (len(old), len(new))
    assert (before, after) == (diff.before, diff.after)
    assert diff.after.size == sum(message.size for message in new)


@given(chains, chains)
def test_the_groups_are_both_chains_and_their_sizes_add_up(old: list[Message], new: list[Message]) -> None:
    check_truth(old, new, compare(old, new))


@given(chains, chains)
def test_applying_the_changes_to_old_gives_new(old: list[Message], new: list[Message]) -> None:
    rebuilt: list[Message] = []
    for group in compare(old, new).groups:
        rebuilt += (old if group.kind == "same" else new)[
            slice(group.old.start, group.old.stop) if group.kind == "same" else slice(group.new.start, group.new.stop)
        ]
    assert rebuilt == new


@given(chains, chains)
def test_as_much_is_unchanged_in_both_directions(old: list[Message], new: list[Message]) -> None:
    def rows(a: list[Message], b: list[Message]) -> int:
        same = [group.old for group in compare(a, b).groups if group.kind == "same"]
        return sum(len(ShapeRows(a).rows(side.start, side.stop)) for side in same)

    assert rows(old, new) == rows(new, old)
    there, back = compare(old, new), compare(new, old)
    assert (there.before, there.after) == (back.after, back.before)


@given(chains, chains)
def test_every_group_can_be_opened(old: list[Message], new: list[Message]) -> None:
    diff = compare(old, new)
    for group in diff.changes:
        for message in diff.messages(group):
            for part in message.parts:
                for _, text in part.texts:
                    assert list(text.rows())


@given(chains, st.data())
def test_known_equal_stretches_change_nothing_but_the_work(old: list[Message], data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(old)))
    stop = data.draw(st.integers(start, len(old)))
    new = [*old[:start], *data.draw(st.lists(atoms, max_size=3)), *old[stop:]]
    tail = len(old) - stop
    known = [(0, 0, start), (stop, len(new) - tail, tail)]
    diff = diff_chains(MemoryChain(tuple(old)), MemoryChain(tuple(new)), known)
    check_truth(old, new, diff)
    assert diff.is_empty == (old == new)


def test_only_what_lies_between_equal_stretches_is_read() -> None:
    old = big_chain(1_000)
    new = [*old[:1_000], *old[1_002:]]
    read: list[range] = []

    class Watched(MemoryChain):
        def slice(self, start: int, stop: int) -> tuple[Message, ...]:
            read.append(range(start, stop))
            return self.messages[start:stop]

    tail = len(old) - 1_002
    diff = diff_chains(Watched(tuple(old)), Watched(tuple(new)), [(0, 0, 1_000), (1_002, 1_000, tail)])
    assert diff.counts == {"removed": 1}
    assert sum(map(len, read)) == 2


def test_pairs_that_make_the_same_calls_match_unread() -> None:
    """3,397 redactions in one run of pairs took 48 s, because sizes alone ruled out that pairs were merged (issue 8)."""
    old = [each for n in range(40) for each in (ai("", str(n)), t(str(n), f"{n} " * 50))]
    new = [t(str(i // 2), "gone") if i % 2 else message for i, message in enumerate(old)]

    class Unread(MemoryChain):
        def slice(self, start: int, stop: int) -> tuple[Message, ...]:
            raise AssertionError("no body is to be read")

    a, b = Unread(tuple(old)), Unread(tuple(new))
    diff = diff_chains(a, b, keys=lambda chain, start, stop: [repr(chain[i]) for i in range(start, stop)])
    assert [group.kind for group in diff.changes] == ["changed"] * 40


def test_nothing_changed() -> None:
    diff = compare([s("a"), h("b"), ai("c")], [s("a"), h("b"), ai("c")])
    assert diff.is_empty
    assert [group.kind for group in diff.groups] == ["same"]
    assert (diff.groups[0].new.measure, str(diff.groups[0].new.first), str(diff.groups[0].new.last)) == (
        Measure(3, 1, 3), "s1.h.m0", "s1.p1",
    )  # fmt: skip


LONG = "the quick brown fox jumps over the lazy dog"


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        pytest.param([], [h("a")], ["added"], id="from nothing"),
        pytest.param([h("a"), ai("b")], [], ["removed", "removed"], id="to nothing"),
        pytest.param([h("a"), ai("b")], [h("a"), ai("c")], ["changed"], id="one edit"),
        pytest.param([h("a"), ai("", "1")], [h("a"), ai("", "1"), t("1")], ["changed"], id="a call answered"),
        pytest.param(
            [h("a"), ai("", "1"), t("1"), ai("", "2"), t("2")], [h("a"), ai("", "2"), t("2", "other")],
            ["removed", "changed"], id="pairs are the same by their call ids",
        ),
        pytest.param(
            [h("a"), ai(LONG), ai("short")], [h("a"), ai("new here"), ai(LONG + " twice"), ai("short")],
            ["added", "changed"], id="pairs are the same by their words",
        ),
        pytest.param(
            [h("a"), ai("b c"), t("9", "d e f g h i j")], [h("a"), ai("b c"), h("x"), ai("y")], ["changed", "added", "added"],
            id="pairs are the same by their AI message",
        ),
        pytest.param([h("a b"), h("c d")], [h("a b\n\nc d")], ["merged"], id="two human messages merged"),
        pytest.param([h("a b c")], [h("a b"), h("c")], ["split"], id="a message split"),
        pytest.param([h("a"), ai("b"), h("c"), ai("d")], [h("c"), ai("d"), h("a"), ai("b")], ["moved"], id="moved"),
        pytest.param(
            [h("a"), ai("", "1"), t("1"), ai("b"), h("c")], [h("a"), *summary("it"), h("c")], ["summarised"],
            id="a section summarised",
        ),
        pytest.param([h("a"), ai("b" * 50), h("c")], [h("a"), *summary("it"), h("c")], ["summarised"], id="one pair"),
        pytest.param([h("a"), *summary("it")], [h("a"), ai("b"), ai("c", "7"), t("7")], ["expanded"], id="undone"),
        pytest.param([h("a"), *summary("it")], [h("a"), *summary("them")], ["changed"], id="a summary edited"),
    ],
)  # fmt: skip
def test_a_change_has_its_name(old: list[Message], new: list[Message], expected: list[str]) -> None:
    assert kinds(old, new) == expected


def test_rows_that_moved_together_are_one_change() -> None:
    chain = big_chain(40)
    diff = compare(chain, [*chain[40:], *chain[:40]])
    assert diff.counts == {"moved": 1}
    (come,) = diff.changes
    gone = next(group for group in diff.groups if group.is_departure)
    assert gone.old.measure == come.new.measure
    assert gone.old.measure.messages in (40, len(chain) - 40)
    assert (gone.other, come.other) == (come.new.first, gone.old.first)


def test_a_summary_stands_beside_nothing_of_what_it_replaced() -> None:
    diff = compare([h("a"), ai("", "1"), t("1"), ai("b")], [h("a"), *summary("it")])
    kinds = [message.kind for message in diff.messages(diff.changes[0])]
    assert kinds == ["removed"] * 3 + ["added"] * 2


def test_a_moved_row_is_one_change_and_points_to_its_other_place() -> None:
    diff = compare([h("a"), ai("b"), ai("c"), ai("d")], [h("a"), ai("c"), ai("d"), ai("b")])
    assert diff.counts == {"moved": 1}
    (come,) = diff.changes
    gone = next(group for group in diff.groups if group.is_departure)
    assert (str(gone.old.first), str(gone.other), str(come.new.first), str(come.other)) == (
        "s1.p1", "s1.p3", "s1.p3", "s1.p1",
    )  # fmt: skip
    assert (gone.anchor, come.anchor) == ("old-s1-p1", "new-s1-p3")


def test_every_anchor_is_its_own() -> None:
    diff = compare([h("a"), ai("b"), ai("c"), ai("d")], [h("a"), ai("d"), ai("x"), ai("b"), ai("y")])
    anchors = [group.anchor for group in diff.groups]
    assert len(set(anchors)) == len(anchors)


def big_chain(pairs: int) -> list[Message]:
    messages: list[Message] = []
    for i in range(pairs // 2):
        messages += [ai(f"step {i}", f"call_{i}"), t(f"call_{i}", f"result {i} " * 20), h(f"go {i}"), ai(f"done {i}")]
    return messages


def compared_within(seconds: float, old: list[Message], new: list[Message]) -> ChainDiff:
    return within_cpu_seconds(seconds, lambda: diff_chains(MemoryChain(tuple(old)), MemoryChain(tuple(new))))


def test_a_hundred_edits_in_ten_thousand_messages_are_found_quickly() -> None:
    old = big_chain(5_000)
    new = list(old)
    for i in random.Random(1).sample(range(len(old)), 100):
        new[i] = replace(new[i], parts=(*new[i].parts, Text("edited")))
    diff = compared_within(0.3, old, new)
    assert sum(diff.counts.values()) <= 100
    assert set(diff.counts) == {"changed"}


@pytest.mark.parametrize("distinct", [1, 3])
def test_adversarial_repeats_take_no_second(distinct: int) -> None:
    dice = random.Random(distinct)
    words = [h("a"), ai("b"), ai("", "1")][:distinct]
    old = [dice.choice(words) for _ in range(10_000)]
    new = [dice.choice(words) for _ in range(9_500)]
    check_truth(old, new, compared_within(2, old, new))


def test_wholly_different_chains_are_compared_and_what_was_left_out_is_said() -> None:
    old = [ai(f"left {i}") for i in range(5_000)]
    new = [ai(f"right {i}") for i in range(4_999)]
    diff = compared_within(2, old, new)
    assert diff.notes
    check_truth(old, new, diff)
