"""Text rows: they rebuild both texts, mark what differs, and stay cheap on huge texts."""

from __future__ import annotations

from itertools import islice

from hypothesis import given
from hypothesis import strategies as st

from chainviz.core.diff.lines import DiffRow, Fold, Span, TextDiff, mark_words
from tests.cpu import within_cpu_seconds

texts = st.lists(st.sampled_from(["", "a", "b b", "the cat sat", "the dog sat", "  x = 1", "}"]), max_size=12).map("\n".join)


def shown(spans: tuple[Span, ...]) -> str:
    assert not any(span.skipped for span in spans)
    return "".join(span.text for span in spans)


@given(texts, texts)
def test_the_rows_rebuild_both_texts(old: str, new: str) -> None:
    rows = [row for row in TextDiff(old, new).rows(context=None) if isinstance(row, DiffRow)]
    assert "\n".join(shown(row.old) for row in rows if row.old_no) == old
    assert "\n".join(shown(row.new) for row in rows if row.new_no) == new
    assert [row.old_no for row in rows if row.old_no] == list(range(1, len(TextDiff(old, new).old_lines) + 1))
    assert all(row.old == row.new and not any(span.marked for span in row.old) for row in rows if row.kind == "same")


@given(texts, texts)
def test_folding_leaves_out_only_unchanged_lines_and_counts_them(old: str, new: str) -> None:
    diff = TextDiff(old, new)
    whole, folded = list(diff.rows(None)), list(diff.rows(1))
    assert [r for r in whole if r[0] != "same"] == [r for r in folded if isinstance(r, DiffRow) and r.kind != "same"]
    assert len(whole) == sum(row.lines if isinstance(row, Fold) else 1 for row in folded)


@given(texts, texts)
def test_counts_are_mirrored(old: str, new: str) -> None:
    assert TextDiff(old, new).counts == TextDiff(new, old).counts[::-1]


def test_the_words_that_differ_are_marked() -> None:
    old, new = mark_words("retry after 30 seconds", "retry after 45 seconds")
    assert old == (Span("retry after ", False), Span("30", True), Span(" seconds", False))
    assert new == (Span("retry after ", False), Span("45", True), Span(" seconds", False))


def test_a_word_is_not_cut_inside() -> None:
    old, _ = mark_words("call read_file now", "call read_files now")
    assert Span("read_file", True) in old


def test_lines_with_little_in_common_are_marked_whole() -> None:
    old, new = mark_words("abc def", "0123456789 x yz 99")
    assert old == (Span("abc def", True),)
    assert new == (Span("0123456789 x yz 99", True),)


def test_an_inserted_line_does_not_shift_its_changed_neighbours() -> None:
    diff = TextDiff("alpha = 1\nbeta = 2", "alpha = 10\nsomething else entirely\nbeta = 20")
    assert [(row.kind, row.old_no, row.new_no) for row in diff.rows() if isinstance(row, DiffRow)] == [
        ("changed", 1, 1), ("added", None, 2), ("changed", 2, 3),
    ]  # fmt: skip


def test_context_is_three_lines() -> None:
    lines = [f"line {i}" for i in range(20)]
    diff = TextDiff("\n".join(lines), "\n".join([*lines[:10], "new", *lines[10:]]))
    assert [row.lines if isinstance(row, Fold) else row.kind for row in diff.rows()] == [
        7, "same", "same", "same", "added", "same", "same", "same", 7,
    ]  # fmt: skip


def test_one_huge_line_shows_its_change_and_says_what_it_skips() -> None:
    old = "x " * 2_000_000 + "old" + " y" * 2_000_000
    before, after = within_cpu_seconds(1, lambda: mark_words(old, old.replace("old", "new")))
    assert Span("old", True) in before
    assert Span("new", True) in after
    assert sum(len(span.text) + span.skipped for span in before) == len(old)
    assert sum(len(span.text) for span in before) < 2_000


def test_big_texts_are_quick_even_when_wholly_different() -> None:
    old = "\n".join(f"alpha {i}" for i in range(40_000))
    new = "\n".join(f"{i} omega" for i in range(40_000))

    def first_rows() -> TextDiff:
        diff = TextDiff(old, new)
        assert len(list(islice(diff.rows(), 400))) == 400
        return diff

    assert "40,000" in within_cpu_seconds(1, first_rows).note


def test_line_ends_that_both_lines_have_are_not_shown() -> None:
    """As in the issues that SWE-bench hands to its agents, in the midst of other texts."""
    rows = [row for row in TextDiff("Solve:\na\r\nb = 1\r\n", "Solve:\na\r\nb = 2\r\nmore\r\n").rows() if isinstance(row, DiffRow)]
    assert {row.kind for row in rows} == {"same", "changed", "added"}
    assert not any("\r" in span.text for row in rows for span in (*row.old, *row.new))
    (changed, *_) = [row for row in TextDiff("a\r\nb", "a\nb").rows() if isinstance(row, DiffRow)]
    assert changed.kind != "same" and any("\r" in span.text for span in changed.old)
