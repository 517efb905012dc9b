"""Lines of CSV that a spreadsheet shows and never runs."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Sequence

FORMULA_STARTS = tuple("=+-@\t\r\n＝＋－＠")
"""Characters with which formulas begin. Spreadsheets read the full-width ones, which East Asian keyboards type, like
the plain ones."""


class _Line:
    """Takes what a CSV writer writes and hands it on."""

    def write(self, text: str) -> str:
        return text


def csv_lines(fields: Sequence[str], rows: Iterable[Sequence[object]]) -> Iterator[str]:
    """Yield the head, then a line for each row."""
    writer = csv.writer(_Line())
    yield writer.writerow(fields)
    for row in rows:
        yield writer.writerow([formula_safe(value) for value in row])


def formula_safe(value: object) -> object:
    """Put an apostrophe before a cell that begins like a formula, because spreadsheets would run it."""
    return f"'{value}" if isinstance(value, str) and value.startswith(FORMULA_STARTS) else value
