"""Every rule of a provider has all its fields: id, severity, the API's words, source, and a fix or the reason why there is none."""

from __future__ import annotations

import ast
import importlib
import inspect
import pkgutil
import re
from collections.abc import Iterator, Sequence
from dataclasses import fields, is_dataclass
from datetime import date
from pathlib import Path as FilePath
from types import ModuleType
from typing import Any

import pytest

from chainviz.core import providers
from chainviz.core.chain import problems
from chainviz.core.chain.paths import Path
from chainviz.core.chain.problems import SEVERITIES, Problem
from chainviz.core.chain.tree import parse
from chainviz.core.errors import ChainError
from chainviz.core.formats import vendors
from chainviz.core.formats.vendors import PROVIDERS, SERVERS, WORDINGS
from chainviz.core.load import LoadedChain, load_file
from chainviz.core.operations.repair.fixes import CHOICES
from chainviz.core.providers import contract, findings
from chainviz.core.providers.check import check_all
from chainviz.core.providers.contract import NOT_UNDERSTOOD
from chainviz.core.providers.rules import WITHOUT_FIX, Rule, reason_without_fix
from tests.shared_folder import SAMPLES

OF_THE_TREE = {
    "call-id-shared", "result-count", "result-missing", "result-missing-at-end", "result-repeated", "result-without-call",
    "role-unknown",
}  # fmt: skip
"""Rules whose fixes come with what the tree found (tests/core/test_provider_errors.py applies them)."""


def rules() -> Iterator[Rule]:
    """All rules that the modules of vendors and of `providers` define."""
    for module in (*_modules(vendors), *_modules(providers)):
        for value in vars(importlib.import_module(module.name)).values():
            yield from _rules_in(value)


def _modules(package: ModuleType) -> Iterator[pkgutil.ModuleInfo]:
    return pkgutil.walk_packages(package.__path__, f"{package.__name__}.")


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


RULES = {(rule.id, rule.severity, rule.says): rule for rule in rules() if rule.id != NOT_UNDERSTOOD.id}


def test_there_are_rules_of_every_provider() -> None:
    assert len(RULES) > 100
    assert all(provider.rules for provider in PROVIDERS)


@pytest.mark.parametrize("rule", RULES.values(), ids=[" ".join(key[:2]) for key in RULES])
def test_a_rule_has_all_its_fields(rule: Rule) -> None:
    assert rule.id and rule.severity in SEVERITIES and rule.source and rule.models
    assert rule.quote if rule.severity in ("error", "warning") else rule.note
    assert re.fullmatch(r"20\d\d-(0[1-9]|1[0-2])", rule.since)
    assert date.fromisoformat(rule.checked) and rule.since <= rule.checked
    assert set(rule.fixes) <= set(CHOICES)
    if not rule.fixes and rule.id not in OF_THE_TREE:
        assert WITHOUT_FIX.get(rule.id, "").endswith("."), f"add a sentence for {rule.id} to WITHOUT_FIX in providers/rules.py"


def test_every_rule_belongs_to_a_provider() -> None:
    listed = {rule for provider in (*PROVIDERS, *SERVERS) for rule in provider.all_rules}
    assert [rule for rule in RULES.values() if rule not in listed] == []


def test_every_finding_that_a_rule_is_about_exists() -> None:
    trees = [ast.parse(inspect.getsource(module)) for module in (problems, findings, contract)]
    names = {node.value for tree in trees for node in ast.walk(tree) if isinstance(node, ast.Constant)}
    unknown = {(provider.name, name) for provider in PROVIDERS for name in provider.rules if name not in names}
    assert not unknown, "nothing finds this: take a name from core/chain/problems.py or core/providers/findings.py"


def test_a_provider_lists_every_rule_that_it_applies() -> None:
    listed = {provider.name: {rule.id for rule in (*provider.all_rules, NOT_UNDERSTOOD)} for provider in PROVIDERS}
    files = [path for path in SAMPLES.glob("*/*.*") if path.stat().st_size < 100_000]
    chains = [chain for path in files for chain in _chains(path)]
    assert len(chains) > 50
    for chain in chains:
        for provider, problem in check_all(PROVIDERS, parse(chain.messages), chain.format):
            assert problem.rule in listed[provider.name], (provider.name, problem.rule)


def _chains(path: FilePath) -> Sequence[LoadedChain]:
    try:
        return load_file(path)
    except ChainError:
        return ()


def test_quote_replaces_variable_parts() -> None:
    rule = Rule("x", "error", "Item '{id}' of type '{type}', not '{1,64}'", "x", models="x", since="2026-01", checked="2026-01-01")
    assert rule.quote == "Item '…' of type '…', not '{1,64}'"


def test_a_reason_stands_only_where_nothing_is_offered() -> None:
    plain = Problem("part-type", "error", Path(1, 1, 0), 0, 0, "It is odd.")
    assert reason_without_fix(plain) == WITHOUT_FIX["part-type"]
    assert reason_without_fix(Problem("part-type", "error", Path(1, 1, 0), 0, 0, "It is odd.", ("drop-message",))) == ""


def test_every_wording_names_rules_and_providers_that_exist() -> None:
    known = {rule.id for rule in (*RULES.values(), NOT_UNDERSTOOD)}
    names = {provider.name for provider in (*PROVIDERS, *SERVERS)}
    assert {id for each in WORDINGS for id in each.rules} <= known
    assert {name for each in WORDINGS for name in each.providers} <= names
