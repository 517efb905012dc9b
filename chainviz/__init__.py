"""chainviz: see, check, repair, edit and version LLM message chains.

    >>> import chainviz
    >>> chain = chainviz.load("run.json")[0]
    >>> chain.apply("repair").save("repaired.json")

The names below are those of chainviz.api, which is imported when the first of them is used.
"""

from __future__ import annotations

TYPE_CHECKING = False  # type checkers take it as true; `typing` itself costs more than `chainviz --version` may
if TYPE_CHECKING:
    from typing import Any

    from chainviz.api import Chain, Comparison, Report, Result, diff, generate, load, parse, sessions, state, tree

__version__ = "1.0.0b1"
__all__ = [
    "Chain", "Comparison", "Report", "Result", "__version__", "diff", "generate", "hand_off", "load", "parse", "sessions", "state", "tree",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module("chainviz.api"), name)
