"""Numbers, texts in fields and CSV as pages show them: no cell can be run by a spreadsheet, and no text changes in a field."""

from __future__ import annotations

import csv
from io import StringIO

import pytest
from django.template import engines
from hypothesis import given
from hypothesis import strategies as some
from hypothesis import strategies as st

from chainviz.web.formatting import byte_text, csv_lines, folder_name, for_field, from_field, place_in, round_tokens_text, tokens_text


@pytest.mark.parametrize(
    ("size", "text"),
    [
        (0, "0 B"), (801, "801 B"), (999, "999 B"), (1000, "1.0 KB"), (2200, "2.2 KB"), (18_400, "18.4 KB"),
        (99_949, "99.9 KB"), (99_960, "100 KB"), (385_000, "385 KB"), (999_600, "1.00 MB"), (6_240_000, "6.24 MB"),
        (11_300_000, "11.3 MB"), (1_041_000_000, "1.04 GB"), (-5300, "−5.3 KB"),
    ],
)  # fmt: skip
def test_sizes_read_as_people_write_them(size: int, text: str) -> None:
    assert byte_text(size) == text


@pytest.mark.parametrize(
    ("path", "name"), [("/yard/depot", "depot"), ("/yard/depot/", "depot"), ("C:\\yard\\depot", "depot"), ("c:/depot", "depot"), ("/", "/")]
)
def test_folder_has_the_last_name_of_its_path(path: str, name: str) -> None:
    assert folder_name(path) == name


@given(some.integers(min_value=0, max_value=9 * 10**14))
def test_at_most_three_digits_and_right_within_five_percent(size: int) -> None:
    number, unit = byte_text(size).split()
    assert len(number.replace(".", "")) <= 3
    value = float(number) * {"B": 1, "KB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12}[unit]
    assert value == pytest.approx(size, rel=0.05)


def test_tags_are_there_without_loading() -> None:
    text = engines["django"].from_string('{{ n|bytes }} {% icon "tool" %}').render({"n": 385_000})
    assert text.startswith("385 KB ")
    assert 'icons/icons.svg#tool"' in text


@pytest.mark.parametrize(
    ("tokens", "text"),
    [(0, "0"), (999, "999"), (96_200, "96.2k"), (999_949, "999.9k"), (999_950, "1.0M"), (654_100_000, "654.1M"), (4_764_000_000, "4.8B")],
)
def test_tokens_are_short(tokens: int, text: str) -> None:
    assert tokens_text(tokens) == text


def test_round_figures_have_no_decimals() -> None:
    assert [round_tokens_text(tokens) for tokens in (200_000, 1_000_000)] == ["200k", "1M"]


ANY_TEXT = st.text(st.characters(codec=None, exclude_categories=()) | st.sampled_from("\r\n\x00\ud83d⟦\u202e<&"))


def browser(value: str) -> str:
    """Return the text that a browser sends for the value of a text area."""
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


@pytest.mark.parametrize("sign", ["=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠"])
def test_cell_that_begins_like_a_formula_becomes_text(sign: str) -> None:
    cell = f'{sign}HYPERLINK("http://a","b")'
    lines = "".join(csv_lines(["name"], [[cell]]))
    assert next(csv.reader(StringIO(lines.split("\r\n", 1)[1], newline=""))) == [f"'{cell}"]


def test_other_cells_stay_as_they_are() -> None:
    assert list(csv_lines(["a", "b", "c"], [["1+1=2", -5, "−3"]]))[1] == '"1+1=2",-5,"−3"\r\n'


@pytest.mark.parametrize("separator", [";", "\t", ","])
def test_no_separator_makes_a_formula_of_the_end_of_a_cell(separator: str) -> None:
    lines = "".join(csv_lines(["name"], [[f"a{separator}=1+1"]]))
    cells = [cell for row in csv.reader(StringIO(lines, newline=""), delimiter=separator) for cell in row]
    assert not [cell for cell in cells if cell.startswith("=")]


def test_names_of_columns_are_cells_too() -> None:
    assert next(csv_lines(["turn", "=1+1"], [])) == '"turn","\'=1+1"\r\n'
