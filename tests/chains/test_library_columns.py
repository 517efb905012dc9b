"""The cells of a row of the library are in the order of the columns."""

from __future__ import annotations

import re

import pytest

from chainviz.chains.library.columns import ALWAYS, COLUMNS
from tests import ROOT


@pytest.mark.parametrize("template", ["_row.html", "_session_row.html"])
def test_every_column_has_its_cell_in_the_same_order(template: str) -> None:
    row = (ROOT / "templates/chains/library" / template).read_text()
    cells = re.findall(r'{% if "(\w+)" in shown %}', row)
    assert cells == [column.name for column in COLUMNS if column.name not in ALWAYS]
