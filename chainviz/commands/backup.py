"""`chainviz backup FILE`: the whole installation in one file, written while people work; `chainviz restore` reads it."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from chainviz.commands.startup import prepare


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", type=Path, help="a new file; it holds all content and the secret key")


def run(arguments: argparse.Namespace) -> int:
    path: Path = arguments.file
    if path.exists():
        print(f"chainviz: {path} exists; name a new file.", file=sys.stderr)
        return 2
    if not prepare():
        return 2
    from chainviz.store.site_backup import write_backup

    unfinished = path.with_name(path.name + ".unfinished")
    try:
        with open(os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:  # noqa: PTH123
            count = write_backup(file)
            file.flush()
            os.fsync(file.fileno())
        unfinished.rename(path)
    except OSError as error:
        print(f"chainviz: {path} cannot be written: {error.strerror}.", file=sys.stderr)
        return 2
    print(f"{path}: {count:,} rows, {path.stat().st_size:,} bytes")
    return 0
