"""The reports of `chainviz check --report` for CI: JUnit XML, SARIF 2.1.0, annotations for GitHub Actions, and a Markdown summary.

A report has the findings of each chain, with their lines in the file.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any
from urllib.parse import quote
from xml.etree import ElementTree

from chainviz import __version__
from chainviz.api.chain import Chain
from chainviz.core.chain.problems import Problem, Severity, rule_title
from chainviz.core.chain.surroundings import UNREAD
from chainviz.core.counts import count_text
from chainviz.core.documents.source import Source
from chainviz.core.errors import visible, visible_lines
from chainviz.core.formats.vendors import get_provider
from chainviz.core.operations.repair.fixes import CHOICES
from chainviz.core.providers.rules import NO_REPAIR, WITHOUT_FIX, Rule

CHUNK = 1 << 20


@dataclass(frozen=True, slots=True)
class Finding:
    problem: Problem
    line: int
    """The line of the file, from 1, at which the message begins."""

    @property
    def rule(self) -> str:
        provider = f"{self.problem.provider}/" if self.problem.provider else ""
        return f"{provider}{self.problem.rule}"

    @property
    def text(self) -> str:
        return f"{self.problem.path}: {self.problem.text}"


@dataclass(frozen=True, slots=True)
class Checked:
    """A chain and its findings."""

    title: str
    file: str
    format: str
    messages: int
    size: int
    """Content bytes."""
    findings: tuple[Finding, ...]
    failing: tuple[Severity, ...]
    """The severities that count as a failure."""


class Lines:
    """Finds the line of each message in a file."""

    def __init__(self, source: Source) -> None:
        self._source = source

    @cached_property
    def _ends(self) -> list[int]:
        ends = []
        for start in range(0, self._source.size, CHUNK):
            chunk = self._source.read(start, min(start + CHUNK, self._source.size))
            place = chunk.find(b"\n")
            while place >= 0:
                ends.append(start + place)
                place = chunk.find(b"\n", place + 1)
        return ends

    def number(self, offset: int) -> int:
        return bisect_right(self._ends, offset - 1) + 1


def checked(chain: Chain, problems: Sequence[Problem], failing: tuple[Severity, ...]) -> Checked:
    """Return the chain and its findings. Call it while the chain's file is open."""
    lines = Lines(chain.file.source)
    findings = tuple(Finding(problem, _line(chain, problem, lines)) for problem in problems)
    return Checked(chain.title, chain.file.name, chain.format, len(chain), chain.size, findings, failing)


def _line(chain: Chain, problem: Problem, lines: Lines) -> int:
    source = chain.messages[problem.message].source
    return lines.number(source[0].start) if source and source[0].start >= 0 else 1


COMMANDS: dict[Severity, str] = {"error": "error", "warning": "warning", "info": "notice", "unchecked": "notice"}
"""The command of GitHub Actions for each severity."""


def _is_unread(finding: Finding, chain: Checked) -> bool:
    """Return True if the chain was not fully checked and that counts as a failure."""
    return finding.problem.rule == UNREAD and "warning" in chain.failing


def junit(chains: Iterable[Checked]) -> Iterator[str]:
    """Yield a test case for each chain; one that was not fully checked is skipped unless that counts as a failure."""
    suite = ElementTree.Element("testsuite", name="chainviz check")
    failures = skipped = count = 0
    for chain in chains:
        count += 1
        case = ElementTree.SubElement(suite, "testcase", classname=visible(chain.file), name=visible(chain.title))
        serious = [each for each in chain.findings if each.problem.severity in chain.failing or _is_unread(each, chain)]
        unknown = [each for each in chain.findings if each.problem.severity == "unchecked"]
        if serious:
            failures += 1
            lines = (f"{each.problem.severity}: {each.rule} at {each.text}" for each in serious)
            message = count_text(len(serious), "problem")
            ElementTree.SubElement(case, "failure", message=message, type=serious[0].rule).text = visible_lines(lines)
        elif unknown:
            skipped += 1
            ElementTree.SubElement(case, "skipped", message="not fully checked").text = visible_lines(each.text for each in unknown)
    suite.attrib |= {"tests": str(count), "failures": str(failures), "skipped": str(skipped)}
    yield '<?xml version="1.0" encoding="utf-8"?>'
    yield from ElementTree.tostring(suite, encoding="unicode").split("\n")


def github(chains: Iterable[Checked]) -> Iterator[str]:
    for chain in chains:
        for each in chain.findings:
            where = f"file={_property(chain.file)},line={each.line},title={_property(each.rule)}"
            yield f"::{COMMANDS[each.problem.severity]} {where}::{_data(each.text)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


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


MOST = 50
"""The most chains in the table."""
_SPECIAL = re.compile(r"([\\`*_\[\]<>|~&#@])")


def summary(chains: Iterable[Checked]) -> Iterator[str]:
    """Yield the figures of all chains, then those of each chain with a finding."""
    checked = list(chains)
    found = [chain for chain in checked if chain.findings]
    yield "## chainviz check"
    yield ""
    yield from _table(("Chains", "With findings", "Messages", "Bytes", "Errors", "Warnings", "Not checked"), [_total(checked, found)])
    if not found:
        yield ""
        yield "Nothing was found." if checked else "No chains were checked."
        return
    yield ""
    yield from _table(("Chain", "Format", "Messages", "Errors", "Warnings", "First finding"), map(_table_row, found[:MOST]))
    if len(found) > MOST:
        yield ""
        yield f"{len(found) - MOST:,} more chains with findings are not listed."


def _total(checked: Sequence[Checked], found: Sequence[Checked]) -> tuple[str, ...]:
    messages, size = sum(chain.messages for chain in checked), sum(chain.size for chain in checked)
    severities: tuple[Severity, ...] = ("error", "warning", "unchecked")
    counts = (sum(_count(chain, severity) for chain in checked) for severity in severities)
    return tuple(f"{number:,}" for number in (len(checked), len(found), messages, size, *counts))


def _table_row(chain: Checked) -> tuple[str, ...]:
    figures = (f"{number:,}" for number in (chain.messages, _count(chain, "error"), _count(chain, "warning")))
    messages, errors, warnings = figures
    return chain.title, chain.format, messages, errors, warnings, chain.findings[0].text


def _count(chain: Checked, severity: Severity) -> int:
    return sum(finding.problem.severity == severity for finding in chain.findings)


def _table(titles: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    yield _table_line(titles)
    yield _table_line(["---"] * len(titles))
    yield from (_table_line([_plain(cell) for cell in row]) for row in rows)


def _table_line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _plain(text: str) -> str:
    """Return text in one line, with Markdown's special characters escaped."""
    return _SPECIAL.sub(r"\\\1", visible(text))


REPORTS = {"junit": junit, "sarif": sarif, "github": github, "summary": summary}
