"""Paths of nodes in one version of a chain: `s2`, `s2.h.m0`, `s2.p1`, `s2.p1.m0.c2`. Sections and pairs count from 1."""

from __future__ import annotations

import re
from dataclasses import dataclass

from chainviz.core.chain.fast_init import fast_init
from chainviz.core.errors import PathError

_PATH = re.compile(r"s([1-9][0-9]*)(?:\.(h|p[1-9][0-9]*)(?:\.m(0|[1-9][0-9]*)(?:\.c(0|[1-9][0-9]*))?)?)?")


@fast_init
@dataclass(frozen=True, slots=True, order=True)
class Path:
    section: int
    pair: int | None = None
    """0 for the header, None for the section itself."""
    message: int | None = None
    """In a pair, 0 is reserved for the AI message and the others count from 1. In a header they count from 0."""
    part: int | None = None

    def __str__(self) -> str:
        text = f"s{self.section}"
        if self.pair is not None:
            text += f".p{self.pair}" if self.pair else ".h"
        if self.message is not None:
            text += f".m{self.message}"
        if self.part is not None:
            text += f".c{self.part}"
        return text

    @property
    def dom_id(self) -> str:
        return str(self).replace(".", "-")

    @property
    def number(self) -> str:
        """The node's number on pages: 2.3 is the third pair of section 2; §2 is section 2 or its header."""
        return f"{self.section}.{self.pair}" if self.pair else f"§{self.section}"

    @property
    def node(self) -> Path:
        """The path of the row that shows this node: a section, a header message or a pair."""
        if self.pair is None:
            return Path(self.section)
        return Path(self.section, 0, self.message) if self.pair == 0 else Path(self.section, self.pair)


def parse_path(text: str) -> Path:
    """Parse a path with dots, or with dashes as in a DOM id. Raises PathError for any other text."""
    match = _PATH.fullmatch(text.replace("-", ".")) if len(text) < 80 else None
    if not match:
        raise PathError(f"“{text[:40]}” is not a path; paths look like s2, s2.h.m0, s2.p1 or s2.p1.m0.c2.")
    section, pair, message, part = match.groups()
    return Path(
        int(section),
        None if pair is None else 0 if pair == "h" else int(pair[1:]),
        None if message is None else int(message),
        None if part is None else int(part),
    )
