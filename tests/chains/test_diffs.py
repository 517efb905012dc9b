"""The page of changes: every change is on exactly one page, pages stay small, hostile text stays text."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pytest
from django.http import Http404
from hypothesis import given
from hypothesis import strategies as st

from chainviz.chains.diff.address import DiffQuery, query
from chainviz.chains.diff.changes_page import diff_view, measures
from chainviz.chains.diff.compare import Compared, compare, equal_stretches
from chainviz.chains.diff.groups import fold_answer
from chainviz.core.chain.chain import MemoryChain, Splice
from chainviz.core.chain.messages import Message, Text
from chainviz.core.chain.paths import Path
from chainviz.core.diff.chains import diff_chains
from chainviz.core.diff.rows import ShapeRows
from chainviz.store.content.chain import StoredChain
from chainviz.store.content.pieces import Piece
from chainviz.store.history.drafts import add_step, start_draft
from chainviz.store.history.steps import NewStep
from chainviz.store.models import Version
from tests.chains.making import ai, human, make_chain
from tests.examples import examples


class Links:
    page = "/diff/"

    def before(self, path: Path) -> str:
        return f"/before/{path}"

    def after(self, path: Path) -> str:
        return f"/after/{path}"

    def restore(self, message: int, part: int | None = None) -> str:
        return ""

    def edit(self, path: Path) -> str:
        return ""

    def comments(self, old: Path | None, new: Path | None) -> tuple[Any, ...]:
        return ()

    def lines(self, change: int, text: int, row: int) -> str:
        return self.page + query(change=change, text=text or "", row=row or "")


def compared(old: list[str], new: list[str]) -> Compared:
    """Chains of a question and then answers, each followed by a question."""

    def chain(texts: list[str]) -> MemoryChain:
        messages = [m for text in texts for m in (Message("human", (Text("go on"),)), Message("ai", (Text(text),)))]
        return MemoryChain(tuple(messages))

    a, b = chain(old), chain(new)
    return Compared(diff_chains(a, b), a, b, ShapeRows(a.shapes()), ShapeRows(b.shapes()), Links())


def elements(html: str) -> int:
    return len(re.findall(r"<[a-z]", html))


def changes_on(html: str) -> list[int]:
    return [int(number) for number in re.findall(r'id="change-(\d+)"', html)]


def test_every_change_is_on_one_page_and_pages_are_small() -> None:
    texts = [f"answer {number}\n" + "same\n" * 5 + f"tail {number}" for number in range(300)]
    both = compared(texts, [text.replace("answer", "reply") if i % 2 else text for i, text in enumerate(texts)])
    seen: list[int] = []
    asked = DiffQuery()
    while True:
        view = diff_view(both, asked)
        seen += changes_on(view.html)
        assert elements(view.html) <= 1100
        if not view.next_href:
            break
        asked = DiffQuery(start=int(re.findall(r"from=(\d+)", view.next_href)[0]))
    assert seen == list(range(1, view.total + 1)) and view.total == 150


def test_pages_backwards_end_where_they_are_asked_to() -> None:
    both = compared([str(i) for i in range(400)], [f"{i}!" for i in range(400)])
    view = diff_view(both, DiffQuery(until=200))
    assert changes_on(view.html)[-1] == 200
    assert f"until={changes_on(view.html)[0] - 1}" in view.previous_href


def test_markup_in_texts_is_text() -> None:
    html = diff_view(compared(["<script>1</script>\u202e"], ["<script>2</script>\x00"]), DiffQuery()).html
    assert "<script" not in html and "&lt;script&gt;" in html
    assert "⟦U+202E⟧" in html and "␀" in html


def test_a_long_line_says_what_it_leaves_out() -> None:
    html = diff_view(compared(["x" * 9000 + " a"], ["x" * 9000 + " b"]), DiffQuery()).html
    assert re.search(r"… [\d,]+ characters …", html)


def test_all_lines_of_a_long_text_can_be_reached() -> None:
    old = "\n".join(f"line {number}" for number in range(1500))
    both = compared([old], [old.replace("line", "row")])
    row, seen = 0, []
    while True:
        view = diff_view(both, DiffQuery(change=1, row=row))
        assert elements(view.html) <= 1100
        seen += re.findall(r"row</ins> (\d+)", view.html)
        links = re.findall(r'<a class="diff-more" href="[^"]*?(?:row=(\d+))?"><svg[^>]*><use[^>]*></svg>([^<]*)<', view.html)
        following = [int(place) for place, words in links if "more line" in words]
        if not following:
            break
        assert following[0] > row
        row = following[0]
    assert seen == [str(number) for number in range(1500)]


def test_an_unchanged_run_unfolds_row_by_row() -> None:
    texts = [str(number) for number in range(200)]
    both = compared(texts, [*texts, "more"])
    html = fold_answer(both, DiffQuery(fold=0)).content.decode()
    assert "/after/s1.p1" in html and "more messages" in html
    with pytest.raises(Http404):
        fold_answer(both, DiffQuery(fold=3))


@pytest.mark.parametrize("scope", ["", "mine-"])
def test_two_comparisons_of_one_page_have_ids_of_their_own(scope: str) -> None:
    html = diff_view(compared(["a"], ["b"]), replace(DiffQuery(), scope=scope)).html
    assert f'id="{scope}change-1"' in html


PIECES = st.lists(st.builds(Piece, st.integers(1, 3), st.integers(0, 20), st.integers(1, 8)), max_size=8)


def messages_of(pieces: list[Piece]) -> list[tuple[int, int]]:
    return [(run, start + i) for run, start, length in pieces for i in range(length)]


@examples(300)
@given(PIECES, PIECES)
def test_equal_stretches_are_equal_and_rise(old: list[Piece], new: list[Piece]) -> None:
    a, b = messages_of(old), messages_of(new)
    last_old = last_new = 0
    for start, there, length in equal_stretches(old, new):
        assert a[start : start + length] == b[there : there + length]
        assert start >= last_old and there >= last_new
        last_old, last_new = start + length, there + length


def test_a_list_of_pieces_equals_itself() -> None:
    pieces = [Piece(1, 0, 5), Piece(2, 0, 1), Piece(1, 6, 4)]
    assert sum(length for _, _, length in equal_stretches(pieces, pieces)) == 10


@pytest.mark.parametrize(
    ("before", "after", "change"),
    [(1000, 250, "−75%"), (100_000, 5, "−99.9%"), (1000, 4, "−99.6%"), (1000, 0, "−100%"), (1000, 1995, "+100%")],
)
def test_only_what_is_gone_is_a_hundred_percent_less(before: int, after: int, change: str) -> None:
    (measure,) = measures([("Bytes", before, after, "bytes")])
    assert measure.change == change


@pytest.mark.django_db
def test_changes_all_over_a_long_chain_are_compared_with_few_queries(django_assert_max_num_queries: Any) -> None:
    chain = make_chain([human(f"Question {number}") if number % 2 else ai(f"Answer {number}") for number in range(1200)])
    old = Version.objects.get(history=chain.history).snapshot
    stored = StoredChain(old)
    edits = [Splice(at, 1, (replace(stored[at], parts=(Text(f"Other {at}", origin=0),)),)) for at in range(0, 1200, 4)]
    new = add_step(start_draft(Version.objects.get(history=chain.history), author="me"), NewStep(edits, "edit"))
    with django_assert_max_num_queries(40):
        found = compare(StoredChain(old), StoredChain(new))
    assert found.counts == {"changed": len(edits)}


def test_folded_lines_of_a_text_unfold_in_their_place() -> None:
    old = "\n".join(str(n) for n in range(300))
    both = compared([old], [old.replace("298", "x")])
    assert 'hx-get="/diff/?change=1&amp;lines=295"' in diff_view(both, DiffQuery()).html
    found = fold_answer(both, DiffQuery(change=1, row=0, lines=295)).content.decode()
    numbers = re.findall(r'data-n="(\d+)" data-twin', found)
    assert numbers == [str(n) for n in range(1, 101)]
    assert "… 195 unchanged lines" in found and "lines=195" in found and "row=100" in found
    assert fold_answer(both, DiffQuery(change=1, text=7, lines=3)).content == b""
