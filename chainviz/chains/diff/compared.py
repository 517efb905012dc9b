"""A comparison with all that its pages need to be drawn."""

from __future__ import annotations

from dataclasses import dataclass

from chainviz.chains.diff.address import Links
from chainviz.core.chain.chain import Chain
from chainviz.core.diff.chains import ChainDiff
from chainviz.core.diff.rows import Rows


@dataclass(frozen=True, slots=True)
class Compared:
    diff: ChainDiff
    old: Chain
    new: Chain
    old_rows: Rows
    new_rows: Rows
    links: Links
