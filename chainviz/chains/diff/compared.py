"""A comparison with all that its pages need to be drawn."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from chainviz.chains.diff.address import Links
from chainviz.core.chain.chain import Chain
from chainviz.core.diff.chains import ChainDiff
from chainviz.core.diff.rows import Rows

WORDS = {
    "added": ("added", "added", "added"),
    "removed": ("removed", "removed", "removed"),
    "changed": ("changed", "changed", "changed"),
    "moved": ("open", "sort", "moved"),
    "merged": ("changed", "compact", "merged"),
    "split": ("changed", "split", "split"),
    "summarised": ("summarised", "summary", "summarized"),
    "expanded": ("changed", "expand", "expanded"),
}
"""By kind: state (colour), icon, word."""


@dataclass(frozen=True, slots=True)
class Compared:
    diff: ChainDiff
    old: Chain
    new: Chain
    old_rows: Rows
    new_rows: Rows
    links: Links
    words: Mapping[str, str] = field(default_factory=dict)
    """What a kind of change is called here, where that is not its usual word."""

    def word(self, kind: str) -> str:
        return self.words.get(kind, WORDS[kind][2])
