"""Whether a format that recognises a list shows nothing of it: no message, or only empty ones although there are texts (issue 8)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from itertools import islice
from typing import Any

from chainviz.core.documents.source import Source
from chainviz.core.documents.units import FoundList
from chainviz.core.errors import DocumentError
from chainviz.core.formats.contract import Format
from chainviz.core.formats.reader import read_chain

READ = 50
"""Messages that tell; the first one with a part ends the search."""
TEXTS = frozenset(("text", "content", "message", "value", "output", "prompt"))
"""Members that hold what is said, in one format or another."""


def reads_nothing(source: Source, found: FoundList, format: Format) -> bool:
    count = 0
    with suppress(DocumentError):  # reading the whole chain raises it again
        for message in islice(read_chain(source, found, format), READ):
            if message.parts:
                return False
            count += 1
        return not count or any(map(_says_something, found.sample.values))
    return False


def _says_something(value: Any) -> bool:
    return next(_texts(value), None) is not None


def _texts(value: Any, key: str = "") -> Iterator[str]:
    if isinstance(value, str):
        if key in TEXTS and value.strip():
            yield value
    elif isinstance(value, list):
        for each in value:
            yield from _texts(each, key)
    elif isinstance(value, dict):
        for name, each in value.items():
            yield from _texts(each, name)
