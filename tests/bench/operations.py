"""Operations on the largest chain as their jobs run them, each in a process of its own: CPU, speed, peak memory, floor."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.bench.floors import floor
from tests.bench.measures import cost, peak_megabytes, table

WORKS: dict[str, tuple[str, dict[str, Any]]] = {
    "repair": ("repair", {}),
    "redact": ("redact", {}),
    "mask, scan and replace": ("mask", {}),
    "summarize, extractive": ("summarize", {}),
    "compact to half the messages": ("compact", {}),
}


def report(file: Path, pk: int, folder: Path) -> None:
    size = file.stat().st_size / 1e6
    base = cost(lambda: floor(file, folder / "floor.sqlite3")).cpu
    rows = []
    for name in WORKS:
        answer = subprocess.run(
            [sys.executable, "-m", "tests.bench.operations", name, str(pk)], stdout=subprocess.PIPE, text=True, check=True
        )
        found = json.loads(answer.stdout.splitlines()[-1])
        cpu = found["cpu"]
        rows.append([name, found["outcome"], cpu, size / cpu, base, cpu / base, found["idle"], found["peak"]])
    heads = ["operation", "outcome", "CPU s", "MB/s", "floor CPU s", "ratio", "idle MB", "peak MB"]
    table(f"Jobs on {size:.0f} MB (floor: json.loads + sha256 + SQLite write; goals: mask 15 MB/s, summarize 20 s)", heads, rows)


def measure(name: str, pk: int) -> dict[str, Any]:
    from chainviz.commands.server import startup

    startup.set_up_django()
    from chainviz.chains.models import Chain
    from chainviz.core.errors import ChainError
    from chainviz.core.operations.execute import execute
    from chainviz.drafts.operations.proposal import context_for
    from chainviz.store.content.chain import StoredChain
    from chainviz.store.history.drafts import head_of
    from chainviz.store.models import History

    operation, options = WORKS[name]
    stored = StoredChain(head_of(History(pk=Chain.objects.get(pk=pk).history)).snapshot)
    if operation == "compact":
        options = {"max_messages": len(stored) // 2}
    idle = peak_megabytes()

    def work() -> str:
        try:
            outcome = execute(operation, options, stored, context_for(stored))
        except ChainError as refused:
            return str(refused)[:40]
        return f"{sum(change.removed or 1 for change in outcome.changes):,} messages changed"

    done = cost(work)
    return {"cpu": done.cpu, "outcome": done.result, "idle": idle, "peak": peak_megabytes()}


if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "chainviz.settings")
    print(json.dumps(measure(sys.argv[1], int(sys.argv[2]))))
