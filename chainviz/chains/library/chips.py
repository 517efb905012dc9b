"""The active filters of the library in words, each with the address that goes on without it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from chainviz.chains.library.filter import Filter
from chainviz.core.formats import format_label
from chainviz.core.providers import PROVIDERS

STATES = {"rejected": "rejects it", "accepted": "accepts it", "unchecked": "not fully checked"}
NAMES = {
    "q": "text", "problems": "only", "errors": "only", "drafts": "only", "format": "format", "label": "label", "tool": "tool",
    "model": "model", "problem": "problem", "verdict": "verdict", "larger": "at least", "smaller": "at most", "since": "changed since",
    "until": "changed until", "folder": "folder",
}  # fmt: skip


_LABELS = {each.name: each.label for each in PROVIDERS}


@dataclass(frozen=True, slots=True)
class Chip:
    name: str
    value: str
    without: str
    """The address."""


def chips(wanted: Filter) -> list[Chip]:
    return [
        Chip(NAMES[name], _in_words(name, value), wanted.address(**{name: ""}))
        for name, value in wanted.values.items()
        if name in NAMES
    ]


def _in_words(name: str, value: str) -> str:
    if name == "format":
        return format_label(value)
    if name == "verdict":
        provider, _, state = value.partition(":")
        return f"{_LABELS.get(provider, provider)}: {STATES.get(state, state)}"
    if name == "problem" and ":" in value:
        provider, _, rule = value.partition(":")
        return f"{_LABELS.get(provider, provider)}: {rule}"
    if name == "label":
        return value.partition(":")[2]
    return {"problems": "with structure problems", "errors": "with tool errors", "drafts": "with my open drafts"}.get(name, value)


def rule_choices(rules: Iterable[str]) -> list[tuple[str, list[tuple[str, str]]]]:
    """Names of rules with their words: those of the structure, then those of each provider."""
    groups: dict[str, list[tuple[str, str]]] = {each: [] for each in ("", *_LABELS)}
    for name in rules:
        provider, _, rule = name.rpartition(":")
        groups.setdefault(provider, []).append((name, rule))
    return [(_LABELS.get(each, each or "Structure"), found) for each, found in groups.items() if found]


def verdict_choices() -> list[tuple[str, list[tuple[str, str]]]]:
    """By provider."""
    return [
        (each.label, [(f"{each.name}:{state}", f"{each.label}: {words}") for state, words in STATES.items()])
        for each in PROVIDERS
    ]
