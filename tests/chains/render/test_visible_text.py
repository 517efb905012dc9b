"""Invisible characters are shown, and markup in a text stays text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chainviz.chains.render.visible_text import marks, one_line, safe


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain", "plain"),
        ("a\tb\nc", "a\tb\nc"),
        ("a\r\nb", "a\nb"),
        ("a\rb", "a␍b"),
        ("\x00\x1b[31m", "␀␛[31m"),
        ("\u202eevil", "⟦U+202E⟧evil"),
        ("\ud83d lone", "⟦U+D83D⟧ lone"),
        ("\U000e0041", "⟦U+E0041⟧"),
        ("👩‍💻 é", "👩‍💻 é"),
    ],
)
def test_invisible_characters_become_marks(text: str, shown: str) -> None:
    assert marks(text) == shown


@given(st.text(st.characters(exclude_categories=())))
def test_safe_text_can_stand_in_any_page(text: str) -> None:
    shown = safe(text)
    shown.encode("utf-8")
    assert not set('<>"') & set(shown)
    assert "\x00" not in shown


def test_one_line_says_that_it_was_cut() -> None:
    assert one_line("a\n b " * 100, 10) == "a b a b a…"
    assert one_line("short", 10) == "short"
