"""A strategy in words: “Composite (compact above 8,000 tokens; keep the last 50 messages)”."""

from __future__ import annotations

from collections.abc import Iterator

from chainviz.core.operations.compact.compactors.contract import Trigger
from chainviz.core.operations.compact.strategy_json import defaults_of, titles_of


def strategy_words(node: Trigger) -> str:
    """Titles and numbers as the Compact page shows them; members that have their default are left out."""
    text = _phrase(node)
    return text[:1].upper() + text[1:]


def _phrase(node: Trigger) -> str:
    said = ", ".join(_numbers(node)) or node.label.lower()
    inner = "; ".join(_inner(node))
    return f"{said} ({inner})" if inner else said


def _numbers(node: Trigger) -> Iterator[str]:
    for name, titled in titles_of(type(node)).items():
        found = getattr(node, name)
        if isinstance(found, int) and found != defaults_of(type(node)).get(name):
            yield f"{titled.title.lower()} {found:,} {titled.unit}".rstrip()


def _inner(node: Trigger) -> Iterator[str]:
    for name, titled in titles_of(type(node)).items():
        found = getattr(node, name)
        if isinstance(found, Trigger):
            yield f"{titled.title.lower()} {_phrase(found)}"
        elif isinstance(found, tuple):
            yield from map(_phrase, found)
