"""Compact: keeps a conversation within its limits as a program does after each call (seed 3), with a trace of every decision.

In reading order: compactors/ (the registry of compactors, triggers and strategies), strategy_json (a strategy as JSON),
strategy_words (in words), strategy (one run of it, with its warnings), options and operation (on a chain), simulation (over
all turns of a chain).
"""

from __future__ import annotations

from chainviz.core.operations.compact.compactors import COMPACTORS
from chainviz.core.operations.compact.compactors.contract import REFERENCE, Boundary, Change, Settings, Trial
from chainviz.core.operations.compact.operation import Compact, request_for
from chainviz.core.operations.compact.options import NO_LIMIT, USUAL_LIMITS, CompactOptions
from chainviz.core.operations.compact.strategy import Compacted, Strategy
from chainviz.core.operations.compact.strategy_json import as_value, parse_strategy, print_strategy
from chainviz.core.operations.compact.strategy_words import strategy_words

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
