"""The tables of the page about provider rules: a row for each rule of a provider, made from its registry."""

from __future__ import annotations

import re
from collections.abc import Iterator

from chainviz.core.chain.problems import DUPLICATE_FIXES, ORPHAN_FIXES
from chainviz.core.operations.repair.fixes import CHOICES
from chainviz.core.providers import get_provider
from chainviz.core.providers.contract import Provider
from chainviz.core.providers.rules.rule import VARIABLE, Rule, rule_anchor
from chainviz.core.providers.without_fix import WITHOUT_FIX
from chainviz.help.table import Row, Table

TITLES = ("Rule", "Severity", "The API's sentence", "Models", "Since", "Fix", "Source", "Checked")
_PENDING_FIXES = ("answer-call", "call-to-text")
OF_STRUCTURE = {
    "call-id-shared": ("rename-calls",), "result-count": (*_PENDING_FIXES, *ORPHAN_FIXES), "result-missing": _PENDING_FIXES,
    "result-missing-at-end": _PENDING_FIXES, "result-repeated": DUPLICATE_FIXES, "result-without-call": ORPHAN_FIXES,
    "role-unknown": ("note-role", "drop-message"),
}  # fmt: skip
"""Fixes of the structure problems that these rules are about."""
_SPECIAL = re.compile(r"([\\`*_\[\]<>|~&])")
_ADDRESS = re.compile(r"[\w.-]+\.[a-z]{2,}/\S+")


def rule_table(name: str) -> Table:
    """Return the table of the rules of a provider, given by its name, in the order of their ids."""
    provider = get_provider(name)
    return Table(TITLES, tuple(_rows(provider)))


def _rows(provider: Provider) -> Iterator[Row]:
    before = ""
    for rule in sorted(provider.all_rules, key=lambda rule: rule.id):
        yield Row(_cells(rule), rule_anchor(provider.name, rule.id) if rule.id != before else "")
        before = rule.id


def _cells(rule: Rule) -> tuple[str, ...]:
    source = f"[{_plain(rule.source)}](https://{rule.source})" if _ADDRESS.fullmatch(rule.source) else _plain(rule.source)
    severity = "not checked" if rule.severity == "unchecked" else rule.severity
    return f"`{rule.id}`", severity, _sentence(rule), _plain(rule.models), rule.since, _fix(rule), source, rule.checked


def _sentence(rule: Rule) -> str:
    """The sentence with its variable parts in italics, then what limits it."""
    words = re.split(f"({VARIABLE.pattern})", rule.says)
    said = "".join(f"*{word[1:-1]}*" if VARIABLE.fullmatch(word) else _plain(word) for word in words)
    note = _plain(rule.note[:1].upper() + rule.note[1:]) + "." if rule.note else ""
    return " ".join(filter(None, (f"“{said}”" if said else "", note)))


def _fix(rule: Rule) -> str:
    fixes = rule.fixes or OF_STRUCTURE.get(rule.id, ())
    labels = "; ".join(_plain(CHOICES[fix][0]) for fix in fixes)
    return labels or f"None. {_plain(WITHOUT_FIX[rule.id])}"


def _plain(text: str) -> str:
    """Text as Markdown that shows it as it is."""
    return _SPECIAL.sub(r"\\\1", text)
