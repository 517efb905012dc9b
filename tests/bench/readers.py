"""A chain with results of real size: what its pages cost in the process, and 50 readers of its first page at once."""

from __future__ import annotations

import http.client
import os
import statistics
import threading
import time
from pathlib import Path

from tests.bench.made_chains import write_chain
from tests.bench.measures import median_cpu, table
from tests.bench.opening import running_server
from tests.bench.uploading import upload

MESSAGES, RESULT = 2_841, 2_500
READERS, SECONDS = 50, 15
PAGES = {
    "first page": ("", {}),
    "a window": ("rows?near=1400", {"HX-Request": "true"}),
    "a node": ("node/s3.p5", {"HX-Request": "true"}),
}


def report(folder: Path) -> None:
    from django.db import connection
    from django.test import Client
    from django.test.utils import CaptureQueriesContext

    client = Client(HTTP_HOST="127.0.0.1")
    chain = upload(client, write_chain(folder / "real.json", MESSAGES, result=RESULT))
    rows = []
    for name, (address, headers) in PAGES.items():
        path = f"/c/{chain.pk}/v/1/{address}"
        cpu = median_cpu(lambda path=path, headers=headers: client.get(path, headers=headers))
        with CaptureQueriesContext(connection) as queries:
            size = len(client.get(path, headers=headers).content)
        rows.append([name, cpu * 1000, len(queries), size / 1000])
    heads = ["page", "CPU ms", "statements", "kB"]
    table(f"{MESSAGES:,} messages with results of {RESULT:,} bytes (goal: first page 15 ms, 9 statements, 45 kB)", heads, rows)
    connection.close()
    with running_server() as port:
        found = _readers(port, f"/c/{chain.pk}/v/1/")
    heads = ["cores", "requests/s", "p50 ms", "p95 ms", "errors"]
    table(f"{READERS} readers of its first page (goal on two cores: 100 a second, p95 200 ms, no errors)", heads, [found])


def _readers(port: int, path: str) -> list[object]:
    times: list[float] = []
    errors: list[object] = []
    end = time.monotonic() + SECONDS

    def read() -> None:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        while time.monotonic() < end:
            started = time.monotonic()
            try:
                connection.request("GET", path)
                answer = connection.getresponse()
                answer.read()
                errors.extend([answer.status] if answer.status != 200 else [])
            except (OSError, http.client.HTTPException) as error:
                errors.append(error)
                connection.close()
            times.append(time.monotonic() - started)

    threads = [threading.Thread(target=read) for _ in range(READERS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    last = statistics.quantiles(times, n=20)[-1]
    return [os.cpu_count(), len(times) / SECONDS, statistics.median(times) * 1000, last * 1000, len(errors)]
