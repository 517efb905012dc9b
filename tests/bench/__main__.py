"""`make bench`: what opening, uploading, editing, parsing, versions and jobs cost for 1,000, 10,000 and 100,000 messages.

Each figure stands beside its floor, taken in the same run: read ratios, not milliseconds. `--quick` leaves out 100,000.
"""

from __future__ import annotations

import os
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

    from tests.bench import growing, opening, operations, pairs, parsing, secrets, uploading, versioning
    from tests.bench.made_chains import write_chain

    files = {size: write_chain(folder / f"{size}.json", size) for size in SIZES}
    parsing.report(files)
    uploading.report(files, folder)
    chains = growing.report(files)
    operations.report(files[SIZES[-1]], chains[SIZES[-1]], folder)
    pairs.report(folder, SIZES[-1])
    opening.report(chains, folder)
    versioning.report(files[10_000])
    secrets.report()


if __name__ == "__main__":
    main()
