"""The cells of a row of the library are in the order of the columns."""

from __future__ import annotations

import re
from itertools import groupby

import pytest

from chainviz.chains.library.columns import ALWAYS, COLUMNS, counts
from chainviz.chains.models import Chain
from chainviz.sessions_index.models import Session
from tests import ROOT


@pytest.mark.parametrize("template", ["_row.html", "_session_row.html"])
def test_every_column_has_its_cell_in_the_same_order(template: str) -> None:
    row = (ROOT / "templates/chains/library" / template).read_text()
    cells = re.findall(r'{% if "(\w+)" in shown %}|\|(counts):shown', row)
    groups = groupby(
        (column for column in COLUMNS if column.name not in ALWAYS), lambda column: "counts" if column.is_count else column.name
    )
    assert ["".join(each) for each in cells] == [name for name, _ in groups]


def test_counts_are_those_of_the_shown_columns() -> None:
    assert counts(Chain(messages=1234, sections=2, tool_errors=0), {"messages", "errors", "title"}) == ["1,234", "0"]
    shown = {"sections", "pairs", "messages", "errors", "title"}
    assert counts(Session(messages=None, tool_errors=3), shown) == ["–", "–", "–", "3"]
