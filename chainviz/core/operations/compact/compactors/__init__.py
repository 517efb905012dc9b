"""Every compactor, trigger and strategy in one registry: a new one is a new file and a line here.

The fields of each are the members of its JSON; once released, a type keeps its name and meaning.
"""

from __future__ import annotations

from chainviz.core.operations.compact.compactors.composite import Composite
from chainviz.core.operations.compact.compactors.composite_trigger import CompositeTrigger
from chainviz.core.operations.compact.compactors.contract import Trigger
from chainviz.core.operations.compact.compactors.message_limit import MessageLimit
from chainviz.core.operations.compact.compactors.split import Split
from chainviz.core.operations.compact.compactors.summarize import Summarize
from chainviz.core.operations.compact.compactors.token_limit import TokenLimit
from chainviz.core.operations.compact.compactors.triggers import (
    Always,
    BytesAtLeast,
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
    CompositeTrigger,
    CountAtLeast,
    TurnsAtLeast,
    BytesAtLeast,
    TokensOver,
    Always,
    Never,
)
