"""The SARIF 2.1.0 report of `chainviz check`: findings, and the rules with titles, help and links."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from typing import Any
from urllib.parse import quote

from chainviz import __version__
from chainviz.commands.findings import Checked, Finding
from chainviz.core.chain.problems import Severity, rule_title
from chainviz.core.formats.vendors import get_provider
from chainviz.core.operations.repair.fixes import CHOICES
from chainviz.core.providers.rules import NO_REPAIR, WITHOUT_FIX, Rule

LEVELS: dict[Severity, str] = {"error": "error", "warning": "warning", "info": "note", "unchecked": "note"}
_ADDRESS = re.compile(r"[\w.-]+\.[a-z]{2,}/\S+")


def sarif(chains: Iterable[Checked]) -> Iterator[str]:
    findings = [(chain, each) for chain in chains for each in chain.findings]
    rules = {each.rule: each for _, each in reversed(findings)}
    driver = {"name": "chainviz", "version": __version__, "rules": [_rule(rules[id]) for id in sorted(rules)]}
    run = {"tool": {"driver": driver}, "results": [_result(chain, each) for chain, each in findings]}
    schema = "https://json.schemastore.org/sarif-2.1.0.json"
    yield from json.dumps({"$schema": schema, "version": "2.1.0", "runs": [run]}, indent=2).split("\n")


def _result(chain: Checked, finding: Finding) -> dict[str, object]:
    uri = quote(chain.file, errors="surrogateescape")
    place = {
        "physicalLocation": {"artifactLocation": {"uri": uri}, "region": {"startLine": finding.line}},
        "logicalLocations": [{"fullyQualifiedName": f"{chain.title}#{finding.problem.path}"}],
    }
    level = LEVELS[finding.problem.severity]
    return {"ruleId": finding.rule, "level": level, "message": {"text": finding.text}, "locations": [place]}


def _rule(finding: Finding) -> dict[str, Any]:
    """Return the descriptor of the rule that a finding breaks."""
    problem = finding.problem
    found = _provider_rule(finding)
    label = f"{get_provider(problem.provider).label}: " if problem.provider else ""
    title = f"{label}{(found and found.quote) or rule_title(problem.rule)}"
    help_text = " ".join(filter(None, (_note(found), _fixes(problem.rule, (found.fixes if found else ()) or problem.fixes))))
    described = {
        "id": finding.rule,
        "name": problem.rule,
        "shortDescription": {"text": title},
        "help": {"text": help_text, "markdown": help_text},
        "defaultConfiguration": {"level": LEVELS[problem.severity]},
    }
    link = f"https://{found.source}" if found and _ADDRESS.fullmatch(found.source) else ""
    return {**described, "helpUri": link} if link else described


def _provider_rule(finding: Finding) -> Rule | None:
    if not finding.problem.provider:
        return None
    rules = get_provider(finding.problem.provider).all_rules
    return next((rule for rule in rules if rule.id == finding.problem.rule), None)


def _note(rule: Rule | None) -> str:
    if rule is None:
        return ""
    note = f"{rule.note[:1].upper()}{rule.note[1:]}." if rule.note else ""
    models = "" if rule.models == "all models" else f"Applies to {rule.models}."
    return " ".join(filter(None, (note, models)))


def _fixes(rule: str, fixes: Iterable[str]) -> str:
    names = [f"{CHOICES[name][0]} (chainviz apply repair FILE --set only={name})" for name in fixes]
    return f"Fixes: {'; '.join(names)}." if names else WITHOUT_FIX.get(rule, NO_REPAIR)
