"""Every rule of a provider has all its fields: id, severity, the API's words, source, and a fix or the reason why there is none."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from typing import Any

import pytest

from chainviz.core import providers
from chainviz.core.chain.paths import Path
from chainviz.core.chain.problems import SEVERITIES, Problem
from chainviz.core.operations.repair.fixes import CHOICES
from chainviz.core.providers import PROVIDERS
from chainviz.core.providers.contract import NOT_UNDERSTOOD
from chainviz.core.providers.errors.error_messages import CLASSES
from chainviz.core.providers.rules.rule import Rule
from chainviz.core.providers.without_fix import WITHOUT_FIX, reason_without_fix

OF_THE_TREE = {
    "call-id-shared", "result-count", "result-missing", "result-missing-at-end", "result-repeated", "result-without-call",
    "role-unknown",
}  # fmt: skip
"""Rules whose fixes come with what the tree found (tests/core/test_provider_errors.py applies them)."""


def rules() -> Iterator[Rule]:
    """All rules that the modules of the package define."""
    for module in pkgutil.walk_packages(providers.__path__, f"{providers.__name__}."):
        for value in vars(importlib.import_module(module.name)).values():
            yield from _rules_in(value)


def _rules_in(value: Any) -> Iterator[Rule]:
    if isinstance(value, Rule):
        yield value
    elif isinstance(value, dict):
        for inner in value.values():
            yield from _rules_in(inner)
    elif isinstance(value, tuple):
        for inner in value:
            yield from _rules_in(inner)
    elif is_dataclass(value) and not isinstance(value, type):
        for field in fields(value):
            yield from _rules_in(getattr(value, field.name))


RULES = {(rule.id, rule.severity, rule.says): rule for rule in rules() if rule is not NOT_UNDERSTOOD}


def test_there_are_rules_of_every_provider() -> None:
    assert len(RULES) > 100
    assert all(provider.rules for provider in PROVIDERS)


@pytest.mark.parametrize("rule", RULES.values(), ids=[" ".join(key[:2]) for key in RULES])
def test_a_rule_has_all_its_fields(rule: Rule) -> None:
    assert rule.id and rule.severity in SEVERITIES and rule.says and rule.source
    assert set(rule.fixes) <= set(CHOICES)
    if not rule.fixes and rule.id not in OF_THE_TREE:
        assert WITHOUT_FIX[rule.id].endswith(".")


def test_a_reason_stands_only_where_nothing_is_offered() -> None:
    plain = Problem("part-type", "error", Path(1, 1, 0), 0, 0, "It is odd.")
    assert reason_without_fix(plain) == WITHOUT_FIX["part-type"]
    assert reason_without_fix(Problem("part-type", "error", Path(1, 1, 0), 0, 0, "It is odd.", ("drop-message",))) == ""


def test_every_class_of_error_names_rules_and_providers_that_exist() -> None:
    known = {rule.id for rule in RULES.values()}
    names = {provider.name for provider in PROVIDERS}
    assert {id for each in CLASSES for id in each.rules} <= known
    assert {name for each in CLASSES for name in each.providers} <= names
