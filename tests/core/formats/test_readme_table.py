"""The README's table of formats is the registry's."""

from __future__ import annotations

from collections.abc import Iterator

from chainviz.core.formats import FORMATS
from chainviz.core.formats.contract import Format
from tests import ROOT

HEAD = "| Format | `--format` | Can be edited and converted to | New document | Tested with |\n| --- | --- | --- | --- | --- |"


def table() -> str:
    return "\n".join([HEAD, *(f"| {format.label} | `{format.name}` | {' | '.join(_cells(format))} |" for format in FORMATS)])


def _cells(format: Format) -> Iterator[str]:
    yield "yes" if format.writes else "no, exported unchanged"
    if not format.writes:
        yield "none"
    elif not format.blocks_at and format.lines:
        yield "text"
    elif format.lines:
        yield "JSON Lines"
    else:
        key = format.list_key
        yield f"JSON, messages under `{key}`" if key else "a JSON list"
    yield format.tested_with


def test_the_table_lists_every_format_as_it_is() -> None:
    """A new format needs a row: `table()` has it."""
    assert table() in (ROOT / "README.md").read_text()
