"""Commands for accounts: `createowner` and `changepassword` in team mode, and `token` for the API.

`createowner` makes the first account of a team, or another owner. If the installation was used in local mode, its owner becomes this
account and keeps all chains, drafts and versions. `changepassword` ends all sessions of the account. `token` prints the token once.
"""

from __future__ import annotations

import argparse
import getpass
import sys

from chainviz.commands.io import complain, tell
from chainviz.commands.server.startup import prepare


def add_createowner_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("email", help="e-mail address to sign in with")
    parser.add_argument("--name", default="", help="name that others see")
    parser.add_argument("--team", default="", help="name of the team, which is created if it does not exist")


def run_createowner(arguments: argparse.Namespace) -> int:
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


def add_changepassword_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("email", help="e-mail address of the account")


def run_changepassword(arguments: argparse.Namespace) -> int:
    if not prepare():
        return 2
    from django.core.exceptions import ValidationError

    from chainviz.accounts.administration import set_password
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

    from chainviz.accounts.administration import make_token
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
