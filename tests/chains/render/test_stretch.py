"""A long text is shown in stretches that together are the whole text."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from chainviz.chains.render import text_marks as module
from chainviz.chains.render.text_marks import FIRST_BYTES, FIRST_LINES, stretch


def test_first_stretch_ends_after_400_lines() -> None:
    shown = stretch("line\n" * 1000)
    assert shown.text.count("\n") == FIRST_LINES
    assert (shown.left, shown.lines_left) == (600 * 5, 600)


def test_first_stretch_ends_after_20_kb() -> None:
    assert len(stretch("é" * 100_000).text.encode()) == FIRST_BYTES


def test_a_short_text_is_whole() -> None:
    assert stretch("abc") == module.Stretch("abc", 0, 3, 0, 0)


def test_a_place_beyond_the_end_shows_nothing() -> None:
    assert stretch("abc", 10**9).text == ""


@given(st.text(st.characters(exclude_categories=()), max_size=400), st.integers(1, 9), st.integers(1, 30))
def test_untouched_ranges_add_up_to_the_text(text: str, lines: int, size: int) -> None:
    before = module.FIRST_LINES, module.FIRST_BYTES, module.STEP_LINES, module.STEP_BYTES
    module.FIRST_LINES, module.FIRST_BYTES, module.STEP_LINES, module.STEP_BYTES = lines, size + 3, lines, size + 3
    try:
        seen, place = "", 0
        while True:
            shown = stretch(text, place)
            seen += shown.text
            place = shown.end
            if not shown.left:
                break
            assert shown.text
        assert seen == text
    finally:
        module.FIRST_LINES, module.FIRST_BYTES, module.STEP_LINES, module.STEP_BYTES = before
