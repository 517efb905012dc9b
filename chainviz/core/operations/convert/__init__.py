"""Convert: a chain moves into another format, and the report names what that format has no place for. `same` only cleans up.

Ids stay where the target accepts them. The provider switch of seed 1 (normalise ids, clear reasoning) is the choice of a
provider: its ids follow that API's template, and reasoning, which one API refuses of another, goes.

In reading order: `call_ids`, `request` (tools and settings), `losses`, `operation` (the entry point).
"""

from __future__ import annotations

from chainviz.core.operations.convert.operation import SAME, Convert, ConvertOptions

__all__ = ["SAME", "Convert", "ConvertOptions"]
