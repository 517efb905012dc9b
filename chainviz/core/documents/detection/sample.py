"""What a format is recognised by: the first units of a message list, and the members beside it."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from itertools import islice
from typing import Any

from chainviz.core.documents.sequence_reader import SequenceReader
from chainviz.core.documents.source import Source
from chainviz.core.documents.unit_reader import UnitReader
from chainviz.core.documents.units import FoundList, Sample, Span
from chainviz.core.errors import DocumentError

SAMPLE_UNITS = 16
SAMPLE_BYTES = 1 << 22
LOOKED_AT = 20_000
"""Units that are looked at for the first messages, where other records come before them."""
CUT = 1 << 12
"""Characters that are kept of a text."""


def take_sample(
    source: Source, found: FoundList, units: int = SAMPLE_UNITS, is_message: Callable[[object], bool] = lambda value: True
) -> Sample:
    """The first units of a list, and as many more as it takes until half of `units` are messages."""
    values: list[Any] = []
    count = 0
    first = found.start
    try:
        # broken lines give no units: do not look for good ones through the whole file
        near = Span(found.region.start, min(found.region.end, first + 4 * SAMPLE_BYTES)) if found.lines else found.region
        item = replace(found, inside=(), region=near)
        reader = SequenceReader(source, found) if found.lists else UnitReader(source, item, salvage=not found.lines)
        for number, unit in enumerate(islice(reader, LOOKED_AT)):
            looks_right = is_message(unit.value)
            count += looks_right
            if number < units or looks_right:
                values.append(unit.value if len(unit.text) < CUT else _cut(unit.value))
            if unit.start - first > SAMPLE_BYTES or (number + 1 >= units and 2 * count >= units):
                break
    except DocumentError:
        pass
    key = "" if found.lines else found.key or next((step for step in found.pointer[::-1] if isinstance(step, str)), "")
    document = _document(source, found)
    shown = document if isinstance(document, dict) else {}
    return Sample(tuple(values), _beside(document, found), key, found.lines, shown)


def _cut(value: Any) -> Any:
    """The value with long texts cut: a sample tells the shape only."""
    if isinstance(value, str):
        return value[:CUT]
    if isinstance(value, list):
        return [_cut(item) for item in value]
    return {key: _cut(item) for key, item in value.items()} if isinstance(value, dict) else value


def _document(source: Source, found: FoundList) -> Any:
    """The chain's own document without its messages; None where it is too large to look at, or no JSON."""
    around = found.around
    if found.lines or sum(span.end - span.start for span in around) > SAMPLE_BYTES:
        return None
    # one message alone leaves no brackets behind
    are_single = [each.single for each in sorted(found.lists, key=lambda each: each.number)] or [found.single]
    text = source.read(around[0].start, around[0].end)
    for is_single, span in zip(are_single, around[1:], strict=True):
        text += (b"null" if is_single else b"") + source.read(span.start, span.end)
    try:
        return json.loads(text.decode("utf-8", "surrogateescape").removeprefix("\ufeff"), strict=False)
    except (ValueError, RecursionError):
        return None


def _beside(value: Any, found: FoundList) -> dict[str, Any]:
    """The members of the object that holds the list, without the list."""
    if found.single or not found.inside:
        return {}
    for step in found.inside[:-1]:
        value = value[step] if value is not None else None
    return {key: item for key, item in value.items() if key != found.inside[-1]} if isinstance(value, dict) else {}
