"""A chain with results of real size: what its pages cost in the process, and in a server with 50 readers."""

from __future__ import annotations

import os
from pathlib import Path

from tests.bench import load
from tests.bench.load import MESSAGES, RESULT
from tests.bench.made_chains import write_chain
from tests.bench.measures import median_cpu, table
from tests.bench.uploading import upload

PAGES = {"first page": ("", {}), "a window": ("rows?near=1400", {"HX-Request": "true"}), "a node": ("node/s3.p5", {"HX-Request": "true"})}


def report(folder: Path) -> None:
    from django.db import connection
    from django.test import Client
    from django.test.utils import CaptureQueriesContext

    from chainviz.store.content.at_hand import forget

    client = Client(HTTP_HOST="127.0.0.1")
    chain = upload(client, write_chain(folder / "real.json", MESSAGES, result=RESULT))
    rows = []
    for name, (address, headers) in PAGES.items():
        path = f"/c/{chain.pk}/v/1/{address}"
        again = median_cpu(lambda path=path, headers=headers: client.get(path, headers=headers))
        first = median_cpu(lambda path=path, headers=headers: (forget(), client.get(path, headers=headers)))
        with CaptureQueriesContext(connection) as queries:
            size = len(client.get(path, headers=headers).content)
        rows.append([name, first * 1000, again * 1000, len(queries), size / 1000])
    heads = ["page", "CPU ms, first time", "again", "statements", "kB"]
    table(f"{MESSAGES:,} messages with results of {RESULT:,} bytes (goal: first page 15 ms, 9 statements, 45 kB)", heads, rows)
    connection.close()
    for count in (1, 4):
        load.report(folder / f"load-{count}", [count])
    load.report(folder / "load-pause", [os.cpu_count() or 1], pause=0.2)
