"""Upload to first page, beside the floor of the same bytes; each file has a process of its own for its peak."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from tests.bench.floors import floor
from tests.bench.measures import cost, peak_megabytes, table

if TYPE_CHECKING:
    from django.test import Client

    from chainviz.chains.models import Chain


def report(files: dict[int, Path], folder: Path) -> None:
    rows = []
    for size, file in files.items():
        own = folder / f"upload-{size}"
        shutil.copytree(folder / "static", own / "static")
        env = {**os.environ, "CHAINVIZ_DATA": str(own)}
        # in a process of its own, since migrations take 40 MB that a server does not need on other days
        subprocess.run([sys.executable, "manage.py", "migrate", "-v0"], env=env, check=True)
        answer = subprocess.run(
            [sys.executable, "-m", "tests.bench.uploading", str(file)], env=env, stdout=subprocess.PIPE, text=True, check=True
        )
        found = json.loads(answer.stdout.splitlines()[-1])
        ratios = [found[key] / found[f"floor_{key}"] for key in ("cpu", "wall")]
        rows.append([size, file.stat().st_size / 1e6, found["cpu"], found["floor_cpu"], *ratios, found["idle"], found["peak"]])
    heads = ["messages", "MB", "CPU s", "floor CPU", "CPU ratio", "wall ratio", "idle MB", "peak MB"]
    table("Upload → stored → first page (floor: json.loads + sha256 + SQLite write; goal: 4 × the floor, peak 150 MB)", heads, rows)


def measure(file: Path) -> dict[str, float]:
    from chainviz.commands.server import startup

    startup.set_up_django()
    startup.migrate_if_needed()

    from django.test import Client

    client = Client(HTTP_HOST="127.0.0.1")
    client.get("/")
    idle = peak_megabytes()
    done = cost(lambda: upload(client, file))
    peak = peak_megabytes()
    least = cost(lambda: floor(file, Path(os.environ["CHAINVIZ_DATA"]) / "floor.sqlite3"))
    return {"cpu": done.cpu, "wall": done.wall, "floor_cpu": least.cpu, "floor_wall": least.wall, "idle": idle, "peak": peak}


def upload(client: Client, file: Path) -> Chain:
    """As the upload page takes it in, a big file's job run at once, until the first page of the chain has come.

    Not by the test client's own POST: it holds the whole file in memory, twice.
    """
    from django.core.files.uploadedfile import UploadedFile

    from chainviz.accounts.models import local_member
    from chainviz.chains.uploads import arrivals

    client.get("/")
    with file.open("rb") as content:
        given = UploadedFile(content, name=file.name, size=file.stat().st_size)
        arrival = arrivals.receive(local_member(), given)
    if arrival.chain is None:
        arrivals.work_on(arrival, {})
    chain = arrival.chain  # the one that is there already, where the file was uploaded before
    assert chain is not None
    assert client.get(f"/c/{chain.pk}/", follow=True).status_code == 200
    return chain


if __name__ == "__main__":
    print(json.dumps(measure(Path(sys.argv[1]))))
