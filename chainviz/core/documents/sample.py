"""What a format is recognised by: the first units of a message list, and what stands beside it."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import islice
from typing import Any

from chainviz.core.documents.source import Source
from chainviz.core.documents.unit_reader import UnitReader
from chainviz.core.documents.units import FoundList, Sample, Span
from chainviz.core.errors import DocumentError

SAMPLE_UNITS = 16
SAMPLE_BYTES = 1 << 22
CUT = 1 << 12
"""Characters that are kept of a text."""


def take_sample(source: Source, found: FoundList, units: int = SAMPLE_UNITS) -> Sample:
    values: list[Any] = []
    first = found.start
    try:
        # broken lines give no units: do not look for good ones through the whole file
        near = Span(found.region.start, min(found.region.end, first + 4 * SAMPLE_BYTES)) if found.lines else found.region
        item = replace(found, inside=(), region=near)
        for unit in islice(UnitReader(source, item, salvage=not found.lines), units):
            values.append(unit.value if len(unit.text) < CUT else _cut(unit.value))
            if unit.start - first > SAMPLE_BYTES:
                break
    except DocumentError:
        pass
    key = next((step for step in found.pointer[::-1] if isinstance(step, str)), "") if not found.lines else ""
    return Sample(tuple(values), {} if found.lines else _beside(source, found), key, found.lines)


def _cut(value: Any) -> Any:
    """The value with long texts cut: a sample tells the shape only."""
    if isinstance(value, str):
        return value[:CUT]
    if isinstance(value, list):
        return [_cut(item) for item in value]
    return {key: _cut(item) for key, item in value.items()} if isinstance(value, dict) else value


def _beside(source: Source, found: FoundList) -> dict[str, Any]:
    """The members beside the list; {} where there are none or they are too many to look at."""
    region = found.region
    if found.single or not found.inside or region.end - region.start - (found.end - found.start) > SAMPLE_BYTES:
        return {}
    text = (source.read(region.start, found.start) + source.read(found.end, region.end)).decode("utf-8", "replace")
    try:
        value = json.loads(text.removeprefix("\ufeff"), strict=False)
    except (ValueError, RecursionError):
        return {}
    for step in found.inside[:-1]:
        value = value[step]
    return {key: item for key, item in value.items() if key != found.inside[-1]} if isinstance(value, dict) else {}
