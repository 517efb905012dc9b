"""The reports of `chainviz check --report` for CI: JUnit XML, SARIF 2.1.0, annotations for GitHub Actions, and a Markdown summary.

`findings` has the data of all reports; SARIF and the summary have their own modules.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from xml.etree import ElementTree

from chainviz.commands.check_summary import summary
from chainviz.commands.findings import Checked, Finding
from chainviz.commands.sarif import sarif
from chainviz.core.chain.problems import Severity
from chainviz.core.chain.surroundings import UNREAD
from chainviz.core.counts import count_text
from chainviz.core.errors import visible, visible_lines

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


REPORTS = {"junit": junit, "sarif": sarif, "github": github, "summary": summary}
