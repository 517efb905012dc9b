"""The paths of all messages of a tree or section, for code that walks all of it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeVar

from chainviz.core.chain.messages import Shape
from chainviz.core.chain.paths import Path
from chainviz.core.chain.tree import ChainAST, Section

M = TypeVar("M", bound=Shape)


def message_paths(tree: ChainAST[M]) -> Iterator[Path]:
    """The path of each message, in the order of `flatten`."""
    for s, section in enumerate(tree.sections, 1):
        yield from section_paths(section, s)


def section_paths(section: Section[M], number: int) -> Iterator[Path]:
    for m in range(len(section.header)):
        yield Path(number, 0, m)
    for p, pair in enumerate(section.body, 1):
        first = 0 if pair.ai is not None else 1
        for m in range(first, first + len(pair.messages)):
            yield Path(number, p, m)
