"""The Markdown summary of `chainviz check`, for example for the page of a job in GitHub Actions."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from chainviz.commands.findings import Checked
from chainviz.core.chain.problems import Severity
from chainviz.core.errors import visible

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
    yield from _table(("Chain", "Format", "Messages", "Errors", "Warnings", "First finding"), map(_row, found[:MOST]))
    if len(found) > MOST:
        yield ""
        yield f"{len(found) - MOST:,} more chains with findings are not listed."


def _total(checked: Sequence[Checked], found: Sequence[Checked]) -> tuple[str, ...]:
    messages, size = sum(chain.messages for chain in checked), sum(chain.size for chain in checked)
    severities: tuple[Severity, ...] = ("error", "warning", "unchecked")
    counts = (sum(_count(chain, severity) for chain in checked) for severity in severities)
    return tuple(f"{number:,}" for number in (len(checked), len(found), messages, size, *counts))


def _row(chain: Checked) -> tuple[str, ...]:
    figures = (f"{number:,}" for number in (chain.messages, _count(chain, "error"), _count(chain, "warning")))
    messages, errors, warnings = figures
    return chain.title, chain.format, messages, errors, warnings, chain.findings[0].text


def _count(chain: Checked, severity: Severity) -> int:
    return sum(finding.problem.severity == severity for finding in chain.findings)


def _table(titles: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    yield _line(titles)
    yield _line(["---"] * len(titles))
    yield from (_line([_plain(cell) for cell in row]) for row in rows)


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _plain(text: str) -> str:
    """Return text in one line, with Markdown's special characters escaped."""
    return _SPECIAL.sub(r"\\\1", visible(text))
