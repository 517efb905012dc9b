"""Pathological pairs: one pair of very many messages, and one message of very many parts."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.bench.floors import floor
from tests.bench.measures import cost, median_cpu, table
from tests.bench.uploading import upload


def one_call(members: int) -> list[dict[str, Any]]:
    """A chain with one call that has many results."""
    return [{"role": "user", "content": "go"}, _calls(["a"]), *(_result("a", i) for i in range(members))]


def many_calls(members: int) -> list[dict[str, Any]]:
    """As many calls in one message, each answered by a message."""
    ids = [f"call_{i}" for i in range(members)]
    return [{"role": "user", "content": "go"}, _calls(ids), *(_result(id, i) for i, id in enumerate(ids))]


def many_blocks(members: int) -> list[dict[str, Any]]:
    """As many calls in one message, all answered by the blocks of one other message."""
    ids = [f"call_{i}" for i in range(members)]
    calls = [{"type": "tool_use", "id": id, "name": "f", "input": {}} for id in ids]
    results = [{"type": "tool_result", "tool_use_id": id, "content": f"result {i}"} for i, id in enumerate(ids)]
    return [{"role": "user", "content": "go"}, {"role": "assistant", "content": calls}, {"role": "user", "content": results}]


SHAPES: dict[str, Callable[[int], list[dict[str, Any]]]] = {
    "results of one call": one_call,
    "calls and results": many_calls,
    "blocks of two messages": many_blocks,
}


def report(folder: Path, members: int) -> None:
    from django.test import Client

    client = Client(HTTP_HOST="127.0.0.1")
    rows = []
    for name, make in SHAPES.items():
        file = folder / f"pair-{make.__name__}.json"
        file.write_text(json.dumps(make(members)))
        base = cost(lambda file=file: floor(file, folder / "floor.sqlite3")).cpu
        taken = cost(lambda file=file: upload(client, file))
        home = f"/c/{taken.result.pk}/v/1/"
        addresses = [home, f"{home}at/s1.p1", f"{home}node/s1.p1?from={members // 2}", f"{home}inspect/s1.p1", f"{home}problems"]
        views = [median_cpu(lambda address=address: client.get(address), 5) * 1000 for address in addresses]
        rows.append([f"{members:,} {name}", file.stat().st_size / 1e6, taken.cpu, base, *views])
    heads = ["one pair", "MB", "import CPU s", "floor CPU s", "page ms", "at the pair", "node", "inspector", "problems"]
    table("Pathological pairs (goal: 30 ms CPU a view)", heads, rows)


def _calls(ids: list[str]) -> dict[str, Any]:
    function = {"name": "f", "arguments": "{}"}
    return {"role": "assistant", "content": None, "tool_calls": [{"id": id, "type": "function", "function": function} for id in ids]}


def _result(id: str, number: int) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": id, "content": f"result {number}"}
