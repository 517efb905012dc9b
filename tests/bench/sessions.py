"""What the index of sessions costs: the facts of a long session, and of many small files."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from chainviz.core.errors import ChainError
from chainviz.core.session_facts import read_facts
from tests.bench.measures import cost, table

SAMPLES = Path(__file__).parents[1] / "samples"


def report(file: Path) -> None:
    samples = [path.read_bytes() for path in sorted(SAMPLES.rglob("*")) if path.is_file()]
    rows = [_row("a long chain", [file.read_bytes()]), _row("the samples of all formats", samples)]
    heads = ["sessions", "files", "MB", "CPU s", "MB/s", "files/s"]
    table("Facts of sessions for the index (goal: 20 MB/s on one core)", heads, rows)


def _row(name: str, contents: list[bytes]) -> list[object]:
    size = sum(map(len, contents)) / 1e6
    cpu = cost(lambda: list(map(_facts, contents))).cpu
    return [name, len(contents), size, cpu, size / cpu, len(contents) / cpu]


def _facts(content: bytes) -> None:
    with suppress(ChainError):  # a broken sample costs too
        read_facts(content)
