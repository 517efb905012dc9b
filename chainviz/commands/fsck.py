"""`chainviz fsck`: hash all stored data again, compute derived data again, and report faults."""

from __future__ import annotations

import argparse
from itertools import chain

from chainviz.commands.io import tell
from chainviz.commands.server.startup import prepare
from chainviz.core.counts import count_text

NOT_COVERED = (
    "Not checked: accounts, roles, team rules, share links, token scopes, invitations, sources of folders and jobs."
    " The audit log of a team records each change of them."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--rebuild", action="store_true", help="rebuild all outlines and the search index first (they are only caches)"
    )


def run(arguments: argparse.Namespace) -> int:
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
