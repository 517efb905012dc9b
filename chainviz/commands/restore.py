"""`chainviz restore FILE`: fill an empty installation on SQLite or PostgreSQL from a backup of either."""

from __future__ import annotations

import argparse
from pathlib import Path

from chainviz.commands.io import complain, tell
from chainviz.commands.server.startup import prepare


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", type=Path, help="a file that `chainviz backup` wrote")


def run(arguments: argparse.Namespace) -> int:
    if not arguments.file.is_file():
        complain(f"there is no file {arguments.file}.")
        return 2
    if not prepare():
        return 2
    from chainviz.store.site_backup import restore_backup

    restore_backup(arguments.file)
    tell(["Restored. `chainviz fsck` checks them; `chainviz serve` starts the server."])
    return 0
