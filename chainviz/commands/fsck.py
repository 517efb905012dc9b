"""`chainviz fsck`: hashes everything that is stored again, computes what is derived again, and tells what is wrong."""

from __future__ import annotations

import argparse
from itertools import chain

from chainviz.commands.startup import prepare


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--rebuild", action="store_true", help="rebuild all outlines first (they are only a cache)")


def run(arguments: argparse.Namespace) -> int:
    if not prepare():
        return 2
    from chainviz.accounts.audit.chain import check_all
    from chainviz.chains.fsck import fsck_library
    from chainviz.drafts.fsck import fsck_drafts
    from chainviz.review.fsck import fsck_review
    from chainviz.store.fsck import fsck
    from chainviz.store.outline.build import rebuild_all

    if arguments.rebuild:
        print(f"{rebuild_all()} outlines rebuilt")
    errors = 0
    for finding in chain(fsck(), fsck_library(), fsck_drafts(), fsck_review(), check_all()):
        errors += finding.severity == "error"
        print(f"{finding.severity}: {finding.text}")
    print("Everything is in order." if not errors else f"{errors} errors")
    return 1 if errors else 0
