"""`chainviz fsck`: hashes everything that is stored again, computes what is derived again, and tells what is wrong."""

from __future__ import annotations

import argparse
from itertools import chain

from chainviz.commands.io.output import tell
from chainviz.commands.server.startup import prepare

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
    from chainviz.accounts.audit.chain import check_all
    from chainviz.chains.fsck import fsck_library
    from chainviz.drafts.fsck import fsck_drafts
    from chainviz.recipes.fsck import fsck_recipes
    from chainviz.review.fsck import fsck_review
    from chainviz.store.fsck import fsck
    from chainviz.store.outline.build import rebuild_all
    from chainviz.store.search.check import fsck_search
    from chainviz.store.search.index import rebuild_index

    if arguments.rebuild:
        tell([f"{rebuild_all()} outlines rebuilt", f"{rebuild_index()} chains indexed"])
    errors = 0
    apps = (fsck_library(), fsck_drafts(), fsck_review(), fsck_recipes())
    for finding in chain(fsck(), fsck_search(), *apps, check_all()):
        errors += finding.severity == "error"
        tell([f"{finding.severity}: {finding.text}"])
    tell([NOT_COVERED, "Everything is in order." if not errors else f"{errors} error{'s' if errors > 1 else ''}"])
    return 1 if errors else 0
