"""A text field gives back what it got."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from chainviz.web.formatting.text_fields import for_field, from_field, place_in

ANY_TEXT = st.text(st.characters(codec=None, exclude_categories=()) | st.sampled_from("\r\n\x00\ud83d⟦\u202e<&"))


def browser(value: str) -> str:
    """What a text area sends for its value."""
    return value.replace("\r\n", "\n").replace("\r", "\n").replace("\n", "\r\n")


@given(ANY_TEXT)
def test_every_text_can_be_sent(text: str) -> None:
    for_field(text).encode()


@given(ANY_TEXT)
def test_a_field_that_was_not_touched_changes_nothing(text: str) -> None:
    assert from_field(browser(for_field(text)), text) == text


def test_line_breaks_keep_the_style_of_the_text() -> None:
    assert from_field("a\r\nb", "a\nc") == "a\nb"
    assert from_field("a\r\nb", "a\r\nc") == "a\r\nb"


def test_characters_no_field_can_hold_survive_an_edit() -> None:
    assert from_field(for_field("a\x00b") + "!", "a\x00b") == "a\x00b!"
    assert from_field("⟦U+0000⟧!", "⟦U+0000⟧") == "⟦U+0000⟧!"


@given(ANY_TEXT, ANY_TEXT)
def test_a_place_in_the_field_is_found_in_the_text(before: str, after: str) -> None:
    if before.endswith("\r") and after.startswith("\n"):
        before += "x"
    shown = for_field(before).replace("\r\n", "\n")
    # a lone carriage return at the seam is one only in the whole text
    whole = for_field(before + after).replace("\r\n", "\n")
    assert whole.startswith(shown)
    assert place_in(before + after, len(shown)) == len(before)
