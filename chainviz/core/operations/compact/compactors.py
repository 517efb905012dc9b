"""The registry of compactors, triggers and strategies. A new one needs a class and a line here.

The fields of a class are the members of its JSON. A released type never changes its name or meaning.
"""

from __future__ import annotations

from chainviz.core.operations.compact.compactor_types import Composite, FoldTools, MessageLimit, Split, Summarize, TokenLimit
from chainviz.core.operations.compact.contract import (
    Always,
    BytesAtLeast,
    CompositeTrigger,
    CountAtLeast,
    Never,
    TokensOver,
    Trigger,
    TurnsAtLeast,
)

COMPACTORS: tuple[type[Trigger], ...] = (
    MessageLimit,
    TokenLimit,
    Composite,
    Split,
    Summarize,
    FoldTools,
    CompositeTrigger,
    CountAtLeast,
    TurnsAtLeast,
    BytesAtLeast,
    TokensOver,
    Always,
    Never,
)
