"""Whether two chains have so little in common that a comparison of them says so first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import chain

from chainviz.core.chain.chain import Chain
from chainviz.core.chain.messages import HUMAN, Part
from chainviz.core.diff.group_table import GroupTable
from chainviz.core.diff.rows import Measure

LITTLE = 10
"""Little is where fewer than one of so many pairs align."""
READ_TOGETHER = 50
"""Messages that are read at once."""


def little_in_common(groups: GroupTable, old: tuple[Measure, Chain], new: tuple[Measure, Chain]) -> str:
    """Returns why, in a sentence, or "": almost no pair of the chain with fewer pairs aligns, and the first requests differ."""
    if old[0].pairs <= new[0].pairs:
        letter, pairs, aligned = "A", old[0].pairs, old[0].pairs - groups.pairs_alone("removed")
    else:
        letter, pairs, aligned = "B", new[0].pairs, new[0].pairs - groups.pairs_alone("added")
    if LITTLE * aligned >= pairs or _first_request(old[1]) == _first_request(new[1]):
        return ""
    noun = "pair" if pairs == 1 else "pairs"
    return f"{aligned:,} of {pairs:,} {noun} of {letter} {'aligns' if pairs == 1 else 'align'}; the first requests differ."


def _first_request(messages: Chain) -> Sequence[Part]:
    """Of the first human message; empty where there is none."""
    starts = range(0, len(messages), READ_TOGETHER)
    read = chain.from_iterable(messages.slice(start, min(start + READ_TOGETHER, len(messages))) for start in starts)
    first = next((message.parts for message in read if message.role == HUMAN), ())
    return [replace(part, origin=-1) for part in first]
