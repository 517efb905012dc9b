"""`make bench`: what opening, uploading, editing, parsing, versions and jobs cost for 1,000, 10,000 and 100,000 messages.

Each figure stands beside its floor, taken in the same run: read ratios, not milliseconds. `--quick` leaves out 100,000.
`--json FILE` writes the tables as JSON too, with the floor of the machine, so that two trees can be compared.
"""

from __future__ import annotations

import json
import os
import platform
import sys
import tempfile
from pathlib import Path

folder = Path(tempfile.mkdtemp(prefix="chainviz-bench-"))
os.environ["CHAINVIZ_DATA"] = str(folder)
os.environ["DJANGO_SETTINGS_MODULE"] = "chainviz.settings"
SIZES = (1_000, 10_000) if "--quick" in sys.argv else (1_000, 10_000, 100_000)


def main() -> None:
    from chainviz.commands.server import startup

    startup.set_up_django()
    startup.migrate_if_needed()
    startup.collect_static_if_needed()

    from tests.bench import growing, opening, operations, pairs, parsing, readers, secrets, sessions, uploading, versioning
    from tests.bench.floors import floor
    from tests.bench.made_chains import write_chain
    from tests.bench.measures import TABLES, cost

    files = {size: write_chain(folder / f"{size}.json", size) for size in SIZES}
    largest = files[SIZES[-1]]
    base = cost(lambda: floor(largest, folder / "floor.sqlite3"))
    parsing.report(files)
    sessions.report(files[10_000], folder)
    uploading.report(files, folder)
    chains = growing.report(files)
    operations.report(files[SIZES[-1]], chains[SIZES[-1]], folder)
    pairs.report(folder, SIZES[-1])
    opening.report(chains, folder)
    readers.report(folder)
    versioning.report(files[10_000])
    secrets.report()
    if "--json" in sys.argv:
        machine = {"python": platform.python_version(), "cores": os.cpu_count(), "load": os.getloadavg()[0]}
        machine |= {"floor_bytes": largest.stat().st_size, "floor_cpu": base.cpu, "floor_wall": base.wall}
        text = json.dumps({"machine": machine, "tables": TABLES}, indent=1, default=str)
        Path(sys.argv[sys.argv.index("--json") + 1]).write_text(text)


if __name__ == "__main__":
    main()
