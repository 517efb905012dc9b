"""Tokens, cost and context window of a chain outside of the web application, with the figures that the settings name."""

from __future__ import annotations

from functools import lru_cache

from chainviz.core.usage.prices_and_windows import Models, read_overrides


@lru_cache(maxsize=1)
def models() -> Models:
    from chainviz.settings import CHAINVIZ  # only here: other commands need no environment that can be read

    return Models(read_overrides(CHAINVIZ.models))
