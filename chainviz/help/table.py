"""A table of the help, made from a registry."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Row:
    """Cells of one row, as Markdown. `anchor` is the fragment of an address that leads to the row; "" for none."""

    cells: tuple[str, ...]
    anchor: str = ""


@dataclass(frozen=True, slots=True)
class Table:
    """Column titles and rows."""

    titles: tuple[str, ...]
    rows: tuple[Row, ...]
