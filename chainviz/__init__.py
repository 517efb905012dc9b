"""chainviz: see, check, repair, edit and version LLM message chains.

    >>> import chainviz
    >>> chain = chainviz.load("run.json")[0]
    >>> chain.apply("repair").save("repaired.json")

The names below are those of chainviz.api, which is imported when the first of them is used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from chainviz.api import Chain, Comparison, Report, Result, diff, generate, load, parse, state

__all__ = ["Chain", "Comparison", "Report", "Result", "diff", "generate", "load", "parse", "state"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module("chainviz.api"), name)
