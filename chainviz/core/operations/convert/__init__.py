"""Convert a chain to another format, and report what that format cannot store. The format `same` only cleans up ids and reasoning.

Ids stay if the target accepts them. If a provider is chosen, ids follow the template of its API, and another provider's reasoning is
removed, because APIs refuse it.

In reading order: `losses`, `operation` (the entry point).
"""

from __future__ import annotations

from chainviz.core.operations.convert.operation import SAME, Convert, ConvertOptions

__all__ = ["SAME", "Convert", "ConvertOptions"]
