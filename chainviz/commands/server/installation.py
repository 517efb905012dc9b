"""Commands for a whole installation: `backup` writes it into one file while people work, `restore` fills an empty one, `fsck` checks it.

A backup of SQLite or PostgreSQL is restored into either. `fsck` hashes all stored data again, computes derived data again, and reports
faults.
"""

from __future__ import annotations

import argparse
import os
from itertools import chain
from pathlib import Path

from chainviz.commands.io import complain, tell
from chainviz.commands.server.startup import prepare
from chainviz.core.counts import count_text


def add_backup_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", type=Path, help="a new file; it will contain all content and the secret key")


def run_backup(arguments: argparse.Namespace) -> int:
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


def add_restore_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", type=Path, help="a file that `chainviz backup` wrote")


def run_restore(arguments: argparse.Namespace) -> int:
    if not arguments.file.is_file():
        complain(f"there is no file {arguments.file}.")
        return 2
    if not prepare():
        return 2
    from chainviz.store.site_backup import restore_backup

    restore_backup(arguments.file)
    tell(["Restored. `chainviz fsck` checks them; `chainviz serve` starts the server."])
    return 0


NOT_COVERED = (
    "Not checked: accounts, roles, team rules, share links, token scopes, invitations, sources of folders and jobs."
    " The audit log of a team records each change of them."
)


def add_fsck_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--rebuild", action="store_true", help="rebuild all outlines and the search index first (they are only caches)")


def run_fsck(arguments: argparse.Namespace) -> int:
    if not prepare():
        return 2
    from chainviz.accounts.audit.record import check_all
    from chainviz.chains.fsck import fsck_library
    from chainviz.drafts.fsck import fsck_drafts
    from chainviz.recipes.fsck import fsck_recipes
    from chainviz.review.fsck import fsck_review
    from chainviz.store.fsck import fsck
    from chainviz.store.outline.build import rebuild_all
    from chainviz.store.search.index import fsck_search, rebuild_index

    if arguments.rebuild:
        tell([f"{count_text(rebuild_all(), 'outline')} rebuilt", f"{count_text(rebuild_index(), 'chain')} indexed"])
    errors = 0
    apps = (fsck_library(), fsck_drafts(), fsck_review(), fsck_recipes())
    for finding in chain(fsck(), fsck_search(), *apps, check_all()):
        errors += finding.severity == "error"
        tell([f"{finding.severity}: {finding.text}"])
    tell([NOT_COVERED, count_text(errors, "error") if errors else "Everything is in order."])
    return 1 if errors else 0
