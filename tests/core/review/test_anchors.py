"""Anchors follow their text and their messages through any change."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from chainviz.core.chain.chain import MemoryChain
from chainviz.core.chain.messages import Message, Text
from chainviz.core.chain.paths import parse_path
from chainviz.core.review import Anchor, Standing, Successor, TextRange, follow, range_after

WORDS = st.lists(st.sampled_from(["red", "blue", " ", "\n", ",", "clock", "ä"]), max_size=30).map("".join)


@given(WORDS, WORDS, WORDS, WORDS, st.text(alphabet="xyz", min_size=1, max_size=9))
def test_a_word_of_its_own_is_found_wherever_text_was_put_around_it(a: str, b: str, c: str, d: str, quote: str) -> None:
    old, new = f"{a} {quote} {b}", f"{c} {quote} {d}"
    found = range_after(old, new, TextRange(len(a) + 1, len(a) + 1 + len(quote)))
    assert found is not None
    assert found.of(new) == quote


@given(WORDS, WORDS, st.data())
def test_a_range_that_is_found_holds_the_same_text(old: str, new: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(old)))
    marked = TextRange(start, data.draw(st.integers(start, len(old))))
    found = range_after(old, new, marked)
    assert found is None or found.of(new) == marked.of(old)
    assert range_after(old, old, marked) == marked


def test_the_second_of_two_equal_words_does_not_stand_for_the_first() -> None:
    old, new = "a clock and a clock", "a and a clock"
    assert range_after(old, new, TextRange(2, 7)) is None
    assert range_after(old, new, TextRange(14, 19)) == TextRange(8, 13)


MESSAGES = (Message("human", (Text("Which drill?"),)), Message("ai", (Text("A hammer drill."),)))
NEW = (Message("human", (Text("Hello"),)), *MESSAGES)


@given(st.permutations(range(3)))
def test_what_did_not_change_is_carried_wherever_it_moved(order: list[int]) -> None:
    old, new = MemoryChain(NEW), MemoryChain(tuple(NEW[place] for place in order))
    for path, place in (("s1.h.m0", 0), ("s1.h.m1", 1), ("s1.p1", 2)):
        now = order.index(place)
        found = follow(Anchor(parse_path(path)), old, new, [[Successor(now)]])
        assert found == Standing("carried", now)


def test_a_changed_message_leaves_only_what_stayed_in_it() -> None:
    old = MemoryChain((Message("human", (Text("one"), Text("two words"))),))
    new = MemoryChain((Message("human", (Text("two big words"), Text("one"))),))
    standing = [[Successor(0)]]
    assert follow(Anchor(parse_path("s1.h.m0")), old, new, standing) == Standing("outdated", 0)
    assert follow(Anchor(parse_path("s1.h.m0.c0")), old, new, standing) == Standing("carried", 0, 1)
    assert follow(Anchor(parse_path("s1.h.m0.c1")), old, new, standing) == Standing("outdated", 0, 1)
    words = Anchor(parse_path("s1.h.m0.c1"), TextRange(4, 9))
    assert follow(words, old, new, standing) == Standing("carried", 0, 0, TextRange(8, 13))


def test_removed_and_folded() -> None:
    old, new = MemoryChain(MESSAGES), MemoryChain(NEW)
    for path in ("s1.p1", "s1.p1.m0", "s1.p1.m0.c0"):
        assert follow(Anchor(parse_path(path)), old, new, [[]]) == Standing("removed")
        assert follow(Anchor(parse_path(path)), old, new, [[Successor(0, is_summary=True)]]) == Standing("folded", 0)
    assert follow(Anchor(), old, MemoryChain(()), []) == Standing("carried")
