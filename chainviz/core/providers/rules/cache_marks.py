"""Blocks with `cache_control`, of which Anthropic's API takes four in a request: where those of a message are, and how many a
document holds beside its messages."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from chainviz.core.chain.messages import SLOT, Message
from chainviz.core.chain.surroundings import Surroundings
from chainviz.core.documents.json.edit import parse
from chainviz.core.documents.units import Pointer

MOST = 4
KEY = "cache_control"


def marked_blocks(message: Message) -> Iterator[tuple[int, Pointer]]:
    """Index of the fragment, and where in its text each block is that has one."""
    for place, fragment in enumerate(message.source):
        if KEY not in fragment.text:
            continue
        try:
            value = parse(fragment.text)
        except (ValueError, RecursionError):
            continue  # a source that is not JSON
        at: Pointer = () if fragment.ordinal == SLOT else ("content",)
        content = value.get("content") if isinstance(value, dict) else value
        for index, block in enumerate(content if isinstance(content, list) else ()):
            if fragment.blocks is None or index in fragment.blocks:
                yield from ((place, each) for each in _marked_in(block, (*at, index)))


def _marked_in(block: Any, at: Pointer) -> Iterator[Pointer]:
    """The block, and those inside a result."""
    if not isinstance(block, dict):
        return
    inside = block.get("content") if block.get("type") == "tool_result" else ()
    for index, each in enumerate(inside if isinstance(inside, list) else ()):
        yield from _marked_in(each, (*at, "content", index))
    if isinstance(block.get(KEY), dict):
        yield at


def marked_beside(surroundings: Surroundings) -> int:
    """How many of the tools have one, and the request itself."""
    texts = surroundings.document_texts()
    if not any(KEY in text for text in texts):
        return 0
    try:
        return _marked_around(json.loads("".join(texts)))
    except (ValueError, RecursionError):
        return 0  # lines, or a list that begins in the middle of a string


def _marked_around(value: Any) -> int:
    """Those of the system are a message's. A tool's schema may name a property so."""
    if isinstance(value, list):
        return sum(map(_marked_around, value))
    if not isinstance(value, dict):
        return 0
    mark = value.get(KEY)
    inside = (each for key, each in value.items() if key not in ("system", "input_schema", KEY))
    return (isinstance(mark, dict) and isinstance(mark.get("type"), str)) + sum(map(_marked_around, inside))
