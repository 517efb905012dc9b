"""Compact: keep a conversation within limits, as a program does after each call, with a trace of every decision.

In reading order: `contract` (with the triggers), `compactor_types`, `compactors` (the registry), `strategy` (one run; JSON and words),
`operation` (on a chain), `simulation` (after every turn of a chain).
"""

from __future__ import annotations

from chainviz.core.operations.compact.compactors import COMPACTORS
from chainviz.core.operations.compact.contract import REFERENCE, Boundary, Change, Settings, Trial
from chainviz.core.operations.compact.operation import NO_LIMIT, USUAL_LIMITS, Compact, CompactOptions, request_for
from chainviz.core.operations.compact.strategy import Compacted, Strategy, as_value, parse_strategy, print_strategy, strategy_words

__all__ = [
    "COMPACTORS",
    "NO_LIMIT",
    "REFERENCE",
    "USUAL_LIMITS",
    "Boundary",
    "Change",
    "Compact",
    "CompactOptions",
    "Compacted",
    "Settings",
    "Strategy",
    "Trial",
    "as_value",
    "parse_strategy",
    "print_strategy",
    "request_for",
    "strategy_words",
]
