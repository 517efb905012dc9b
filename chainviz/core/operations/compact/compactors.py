"""The registry of compactors, triggers and strategies: a new one is a new file and a line here.

The fields of each are the members of its JSON; once released, a type keeps its name and meaning.
"""

from __future__ import annotations

from chainviz.core.operations.compact.compactor_types import (
    Composite,
    FoldTools,
    MessageLimit,
    Split,
    Summarize,
    TokenLimit,
)
from chainviz.core.operations.compact.contract import Trigger
from chainviz.core.operations.compact.triggers import (
    Always,
    BytesAtLeast,
    CompositeTrigger,
    CountAtLeast,
    Never,
    TokensOver,
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
