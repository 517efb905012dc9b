"""What `chainviz check --report` prints for CI: JUnit XML, SARIF 2.1.0, or the annotations of GitHub Actions."""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from xml.etree import ElementTree

from chainviz.api.chain import Chain
from chainviz.core.chain.problems import Problem, Severity
from chainviz.core.chain.unread import UNREAD
from chainviz.core.documents.source import Source
from chainviz.core.terminal import visible, visible_lines

CHUNK = 1 << 20
LEVELS: dict[Severity, str] = {"error": "error", "warning": "warning", "info": "note", "unchecked": "note"}
"""Of SARIF."""
COMMANDS: dict[Severity, str] = {"error": "error", "warning": "warning", "info": "notice", "unchecked": "notice"}
"""Of GitHub Actions."""


@dataclass(frozen=True, slots=True)
class Finding:
    problem: Problem
    line: int
    """Of the file, from 1: where its message begins."""

    @property
    def rule(self) -> str:
        provider = f"{self.problem.provider}/" if self.problem.provider else ""
        return f"{provider}{self.problem.rule}"

    @property
    def text(self) -> str:
        return f"{self.problem.path}: {self.problem.text}"


@dataclass(frozen=True, slots=True)
class Checked:
    """A chain with what was found in it."""

    title: str
    file: str
    findings: tuple[Finding, ...]
    failing: tuple[Severity, ...]
    """The severities that count as a failure."""


class Lines:
    """The line of each place of a file."""

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
    """To be called while the chain's file is open."""
    lines = Lines(chain.file.source)
    findings = tuple(Finding(problem, _line(chain, problem, lines)) for problem in problems)
    return Checked(chain.title, chain.file.name, findings, failing)


def _line(chain: Chain, problem: Problem, lines: Lines) -> int:
    source = chain.messages[problem.message].source
    return lines.number(source[0].start) if source and source[0].start >= 0 else 1


def _is_unread(finding: Finding, chain: Checked) -> bool:
    """Whether the chain was not fully read, and that is a failure."""
    return finding.problem.rule == UNREAD and "warning" in chain.failing


def junit(chains: Iterable[Checked]) -> Iterator[str]:
    """A test case a chain; one that was not fully checked is skipped where that is no failure."""
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
            message = f"{len(serious)} problems" if len(serious) > 1 else "1 problem"
            ElementTree.SubElement(case, "failure", message=message, type=serious[0].rule).text = visible_lines(lines)
        elif unknown:
            skipped += 1
            ElementTree.SubElement(case, "skipped", message="not fully checked").text = visible_lines(each.text for each in unknown)
    suite.attrib |= {"tests": str(count), "failures": str(failures), "skipped": str(skipped)}
    yield '<?xml version="1.0" encoding="utf-8"?>'
    yield from ElementTree.tostring(suite, encoding="unicode").split("\n")


def sarif(chains: Iterable[Checked]) -> Iterator[str]:
    findings = [(chain, each) for chain in chains for each in chain.findings]
    rules = sorted({each.rule for _, each in findings})
    driver = {"name": "chainviz", "rules": [{"id": rule} for rule in rules]}
    run = {"tool": {"driver": driver}, "results": [_result(chain, each) for chain, each in findings]}
    schema = "https://json.schemastore.org/sarif-2.1.0.json"
    yield from json.dumps({"$schema": schema, "version": "2.1.0", "runs": [run]}, indent=2).split("\n")


def _result(chain: Checked, finding: Finding) -> dict[str, object]:
    place = {
        "physicalLocation": {"artifactLocation": {"uri": chain.file}, "region": {"startLine": finding.line}},
        "logicalLocations": [{"fullyQualifiedName": f"{chain.title}#{finding.problem.path}"}],
    }
    level = LEVELS[finding.problem.severity]
    return {"ruleId": finding.rule, "level": level, "message": {"text": finding.text}, "locations": [place]}


def github(chains: Iterable[Checked]) -> Iterator[str]:
    for chain in chains:
        for each in chain.findings:
            where = f"file={_property(chain.file)},line={each.line},title={_property(each.rule)}"
            yield f"::{COMMANDS[each.problem.severity]} {where}::{_data(each.text)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


REPORTS = {"junit": junit, "sarif": sarif, "github": github}
