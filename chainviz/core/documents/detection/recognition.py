"""Recognize messages while a document is scanned, and take the sample by which its format is detected: the first units of a list and
the members beside it. The formats say what a message looks like.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from typing import Any

from chainviz.core.documents.json.edit import space_end
from chainviz.core.documents.json.scan import Oddities, decoder, string_at
from chainviz.core.documents.sequence_reader import SequenceReader
from chainviz.core.documents.source import Source
from chainviz.core.documents.unit_reader import UnitReader
from chainviz.core.documents.units import FoundList, Sample, Span, TextMember, Tree
from chainviz.core.errors import DocumentError

SNIFF = 1 << 18
"""The most characters of a value that are read to check whether it is a message."""
MAX_LEVELS = 8
"""The most levels of an incomplete value that are read."""

Keys = tuple[str, ...]
"""The keys to a value in a document, without list indexes: `("choices", "message")`."""


@dataclass(frozen=True)
class Recognition:
    """What the formats declare about their documents; see `Format`."""

    hints: tuple[str, ...]
    """Keys, at least one of which is in every message."""
    is_message: Callable[[object], bool]
    answers: frozenset[Keys] = frozenset()
    """The last keys of the place of a single message: `("choices", "message")`; () for the document itself."""
    sequences: tuple[tuple[Keys, ...], ...] = ()
    """Members of one object that together form a chain, in chain order."""
    copies: tuple[Keys, ...] = ()
    """Members whose lists only repeat another list of the document."""
    slots: tuple[tuple[str, str], ...] = ()
    """The key of a system prompt beside a list, and the key of the list: `("system", "messages")`."""
    trees: tuple[Tree, ...] = ()
    """Trees whose nodes are messages."""
    texts: tuple[TextMember, ...] = ()
    """Members that may contain a message as a plain string."""

    @cached_property
    def _hint(self) -> re.Pattern[str]:
        # inside a string the quotation marks have backslashes
        return re.compile(f'"(?:{"|".join(map(re.escape, self.hints)) or "(?!)"})\\\\?"')

    @cached_property
    def trees_of_messages(self) -> tuple[list[str], ...]:
        """The keys to each tree whose nodes are messages, in JSON spelling."""
        return tuple([f'"{key}"' for key in tree.keys] for tree in self.trees if not tree.member)

    def has_hint(self, text: str, start: int, end: int) -> bool:
        """Return False if `text[start:end]` cannot contain a message. This is a cheap test before the exact one."""
        return self._hint.search(text, start, end) is not None

    def looks_like_message(self, text: str, start: int) -> bool:
        """Return True if the value at `start`, which may be incomplete, is a message."""
        return self.is_message(peek(text[start : start + SNIFF]))


def peek(text: str, position: int = 0) -> Any:
    """Return the value at `position` as far as `text` contains it, including incomplete members and strings; None if no value begins
    there."""
    return _peek(text, position, MAX_LEVELS)


_scan = decoder(Oddities(), careful=True)


def _peek(text: str, position: int, levels: int) -> Any:
    try:
        return _scan(text, position)[0]
    except (ValueError, StopIteration, RecursionError):
        pass
    first = text[position : position + 1]
    if first == '"':
        return text[position + 1 :]
    if not levels or first not in ("[", "{"):
        return None
    return dict(_members(text, position + 1, levels)) if first == "{" else list(_elements(text, position + 1, levels))


def _members(text: str, position: int, levels: int) -> Iterable[tuple[str, Any]]:
    try:
        position = space_end(text, position)
        while text[position] == '"':
            key, position = string_at(text, position)
            start = space_end(text, space_end(text, position) + 1)
            value, position = _value(text, start, levels)
            yield key, value
            if text[position] != ",":
                return
            position = space_end(text, position + 1)
    except (ValueError, IndexError, StopIteration):
        return


def _elements(text: str, position: int, levels: int) -> Iterable[Any]:
    try:
        position = space_end(text, position)
        while text[position] != "]":
            value, position = _value(text, position, levels)
            yield value
            if text[position] != ",":
                return
            position = space_end(text, position + 1)
    except IndexError:
        return


def _value(text: str, start: int, levels: int) -> tuple[Any, int]:
    """Return a member's value and the position of the next token, which is after the text if the value is incomplete."""
    try:
        value, end = _scan(text, start)
        return value, space_end(text, end)
    except (ValueError, StopIteration, RecursionError):
        return _peek(text, start, levels - 1), len(text)


SAMPLE_UNITS = 16
SAMPLE_BYTES = 1 << 22
LOOKED_AT = 20_000
"""The most units that are searched for the first messages, if other records precede them."""
CUT = 1 << 12
"""The most characters of a text that a sample keeps."""


def take_sample(
    source: Source, found: FoundList, units: int = SAMPLE_UNITS, is_message: Callable[[object], bool] = lambda value: True
) -> Sample:
    """Return the first `units` units of a list, and further ones until half of `units` are messages."""
    values: list[Any] = []
    count = 0
    first = found.start
    try:
        # broken lines give no units; do not search the whole file for good ones
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
    """Return the value with long texts shortened, because a sample needs only the structure."""
    if isinstance(value, str):
        return value[:CUT]
    if isinstance(value, list):
        return [_cut(item) for item in value]
    return {key: _cut(item) for key, item in value.items()} if isinstance(value, dict) else value


def _document(source: Source, found: FoundList) -> Any:
    """Return the chain's own document without its messages; None if it is too large, or not JSON."""
    around = found.around
    if found.lines or sum(span.end - span.start for span in around) > SAMPLE_BYTES:
        return None
    # a single message leaves no brackets, so null takes its place
    are_single = [each.single for each in sorted(found.lists, key=lambda each: each.number)] or [found.single]
    text = source.read(around[0].start, around[0].end)
    for is_single, span in zip(are_single, around[1:], strict=True):
        text += (b"null" if is_single else b"") + source.read(span.start, span.end)
    try:
        return json.loads(text.decode("utf-8", "surrogateescape").removeprefix("\ufeff"), strict=False)
    except (ValueError, RecursionError):
        return None


def _beside(value: Any, found: FoundList) -> dict[str, Any]:
    """Return the members of the object that contains the list, without the list."""
    if found.single or not found.inside:
        return {}
    for step in found.inside[:-1]:
        value = value[step] if value is not None else None
    return {key: item for key, item in value.items() if key != found.inside[-1]} if isinstance(value, dict) else {}
