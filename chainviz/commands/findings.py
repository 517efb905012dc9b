"""The findings of `chainviz check` in a chain, with their lines in the file, for its reports."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from chainviz.api.chain import Chain
from chainviz.core.chain.problems import Problem, Severity
from chainviz.core.documents.source import Source

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
