"""Results under `[tool]` lines, as the reference wrote them before seed 2.

A success is the line `[tool]` and the text after it, a failure the one line `[tool] Error: …`; blocks follow one another
without a blank line, and the error of a whole action is a bare `Error: …`. Contents are read exactly, blank ones too.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from itertools import pairwise

from chainviz.core.observations.contract import WHOLE_ACTION, Block

_HEADER = re.compile(r"^\[([^\[\]\n]+)\](?:[ \t]*(?:\r?\n|\Z)| +(?=\S))", re.MULTILINE)


def read(text: str, tools: Collection[str]) -> Iterator[Block]:
    """The blocks of known tools; any other word in brackets is content."""
    headers = [found for found in _HEADER.finditer(text) if found[1] in tools]
    for header, following in pairwise([*headers, None]):
        assert header is not None
        # the line break before a header belongs to the header
        end = max(header.end(), following.start() - 1) if following else len(text)
        yield Block(header[1], text[header.end() : end], header.end(), end, header.start())


def first_name(text: str) -> str:
    """The name in the header that the text begins with; "" where it begins otherwise."""
    found = _HEADER.match(text)
    return found[1] if found else ""


def write(blocks: Sequence[Block], *, is_wrapped: bool) -> list[str]:
    """Each block with its header. Only a wrapped text can do without one."""
    if is_wrapped and len(blocks) == 1 and blocks[0].is_error and blocks[0].name in ("", WHOLE_ACTION):
        return [blocks[0].content]
    return [_header(block) + block.content for block in blocks]


def _header(block: Block) -> str:
    return f"[{block.name or WHOLE_ACTION}]" + (" " if block.is_error else "\n")
