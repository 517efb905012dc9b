"""`chainviz token`: makes a token for the API and prints it, once."""

from __future__ import annotations

import argparse

from chainviz.commands.io import complain, tell
from chainviz.commands.server.startup import prepare

SCOPES = ("read", "write", "export", "review")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", help="what the token is for")
    parser.add_argument(
        "--scopes", nargs="+", choices=SCOPES, default=["write"], help="what it allows (default: write)"
    )
    parser.add_argument(
        "--days", type=int, default=90, choices=(30, 90, 365), help="days until it expires (default: 90)"
    )
    parser.add_argument("--account", default="", help="e-mail address of a member, in team mode")


def run(arguments: argparse.Namespace) -> int:
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
