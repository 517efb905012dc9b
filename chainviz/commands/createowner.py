"""`chainviz createowner`: makes the first account of a team, or another owner.

If the installation was used in local mode, its owner becomes this account and keeps all chains, drafts and versions.
"""

from __future__ import annotations

import argparse
import getpass
import sys

from chainviz.commands.io import complain, tell
from chainviz.commands.server.startup import prepare


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("email", help="e-mail address to sign in with")
    parser.add_argument("--name", default="", help="name that others see")
    parser.add_argument("--team", default="", help="name of the team, which is created if it does not exist")


def run(arguments: argparse.Namespace) -> int:
    if not prepare():
        return 2
    from django.core.exceptions import ValidationError

    from chainviz.accounts.administration import create_owner
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
