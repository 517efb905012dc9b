"""`chainviz backup FILE`: the whole installation in one file, written while people work; `chainviz restore` reads it."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from chainviz.commands.io import complain, tell
from chainviz.commands.server.startup import prepare
from chainviz.core.counts import count_text


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", type=Path, help="a new file; it will contain all content and the secret key")


def run(arguments: argparse.Namespace) -> int:
    path: Path = arguments.file
    if path.exists():
        complain(f"{path} exists; name a new file.")
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
        complain(f"{path} cannot be written: {error.strerror}.")
        return 2
    tell([f"{path}: {count_text(count, 'row')}, {count_text(path.stat().st_size, 'byte')}"])
    return 0
