"""How much a format that recognises a list understands of it. One that shows no message, only parts of unknown types, or only
empty messages although there are texts understands nothing."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from itertools import islice
from typing import Any

from chainviz.core.chain.messages import Opaque, Part
from chainviz.core.chain.part_types import is_known
from chainviz.core.dialects.members import string_of
from chainviz.core.documents.json.edit import parse
from chainviz.core.documents.source import Source
from chainviz.core.documents.units import FoundList
from chainviz.core.errors import DocumentError
from chainviz.core.formats.contract import Format
from chainviz.core.formats.reader import read_chain

READ = 50
"""Messages that tell; the first one with a part ends the search."""
TEXTS = frozenset(("text", "content", "message", "value", "output", "prompt"))
"""Members that hold what is said, in one format or another."""


def share_read(source: Source, found: FoundList, format: Format) -> float:
    """How much of the beginning of a list a format understands, from 0 to 1. A broken list counts as understood: reading all of
    it says what is wrong."""
    if found.raw:
        return 1.0
    reader = read_chain(source, found, format)
    try:
        for _ in islice(reader, READ):
            pass
    except DocumentError:
        return 1.0
    return reader.share_read


def reads_nothing(source: Source, found: FoundList, format: Format) -> bool:
    count = unknown = 0
    has_types = any(isinstance(value, dict) and "role" in value and "content" in value for value in found.sample.values)
    with suppress(DocumentError):  # reading the whole chain raises it again
        for message in islice(read_chain(source, found, format), READ):
            if message.parts and not (has_types and all(map(_is_unknown, message.parts))):
                return False
            count += 1
            unknown += len(message.parts)
        return not count or unknown > 0 or any(map(_says_something, found.sample.values))
    return False


def _is_unknown(part: Part) -> bool:
    """Whether nobody knows the type that it says it has."""
    if not isinstance(part, Opaque) or is_known(part.kind):
        return False
    with suppress(ValueError, RecursionError):
        return string_of(parse(part.text), "type") == part.kind
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
