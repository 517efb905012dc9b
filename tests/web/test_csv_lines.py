"""Lines of CSV: no cell can be run by a spreadsheet."""

from __future__ import annotations

import csv
from io import StringIO

import pytest

from chainviz.web.formatting.csv_lines import csv_lines


@pytest.mark.parametrize("sign", ["=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠"])
def test_cell_that_begins_like_a_formula_becomes_text(sign: str) -> None:
    cell = f'{sign}HYPERLINK("http://a","b")'
    lines = "".join(csv_lines(["name"], [[cell]]))
    assert next(csv.reader(StringIO(lines.split("\r\n", 1)[1], newline=""))) == [f"'{cell}"]


def test_other_cells_stay_as_they_are() -> None:
    assert list(csv_lines(["a", "b", "c"], [["1+1=2", -5, "−3"]]))[1] == "1+1=2,-5,−3\r\n"
