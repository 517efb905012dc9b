"""Commands for an installation: its backup, restoration and check, and its accounts and tokens."""

from __future__ import annotations

import argparse
import getpass
import os
import sys
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
    from chainviz.accounts.audit import check_all
    from chainviz.chains.fsck import fsck_library
    from chainviz.drafts.services import fsck_drafts
    from chainviz.recipes.services import fsck_recipes
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


def add_createowner_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("email", help="e-mail address to sign in with")
    parser.add_argument("--name", default="", help="name that others see")
    parser.add_argument("--team", default="", help="name of the team, which is created if it does not exist")


def run_createowner(arguments: argparse.Namespace) -> int:
    if not prepare():
        return 2
    from django.core.exceptions import ValidationError

    from chainviz.accounts.members import create_owner
    from chainviz.jobs.lease import storable

    try:
        member = create_owner(arguments.email, storable(arguments.name), read_password(), storable(arguments.team))
    except ValidationError as error:
        complain(" ".join(error.messages))
        return 2
    tell([f"{member.user.username} is an owner of “{member.team.name}”."])
    return 0


def read_password() -> str:
    """Read a password: twice at a terminal, otherwise one line."""
    from django.core.exceptions import ValidationError

    if not sys.stdin.isatty():
        return sys.stdin.readline().rstrip("\n")
    password = getpass.getpass()
    if getpass.getpass("Password (again): ") != password:
        raise ValidationError("The passwords differ.")
    return password


def add_changepassword_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("email", help="e-mail address of the account")


def run_changepassword(arguments: argparse.Namespace) -> int:
    if not prepare():
        return 2
    from django.core.exceptions import ValidationError

    from chainviz.accounts.members import set_password
    from chainviz.jobs.lease import storable

    try:
        user = set_password(storable(arguments.email), read_password())
    except ValidationError as error:
        complain(" ".join(error.messages))
        return 2
    tell([f"The password of {user.username} was changed."])
    return 0


SCOPES = ("read", "write", "export", "review")


def add_token_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", help="what the token is for")
    parser.add_argument("--scopes", nargs="+", choices=SCOPES, default=["write"], help="what it allows (default: write)")
    parser.add_argument("--days", type=int, default=90, choices=(30, 90, 365), help="days until it expires (default: 90)")
    parser.add_argument("--account", default="", help="e-mail address of a member, in team mode")


def run_token(arguments: argparse.Namespace) -> int:
    if not prepare():
        return 2
    from django.conf import settings
    from django.core.exceptions import ValidationError

    from chainviz.accounts.members import make_token
    from chainviz.jobs.lease import storable

    if settings.CHAINVIZ.mode == "team" and not arguments.account:
        complain("in team mode, a token belongs to a member: name one with --account.")
        return 2
    try:
        tell([make_token(storable(arguments.name[:60]), arguments.scopes, arguments.days, storable(arguments.account))])
    except ValidationError as error:
        complain(" ".join(error.messages))
        return 2
    return 0
