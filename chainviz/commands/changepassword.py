"""`chainviz changepassword`: a new password for an account. All its sessions end."""

from __future__ import annotations

import argparse

from chainviz.commands.createowner import read_password
from chainviz.commands.io import complain, tell
from chainviz.commands.server.startup import prepare


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("email", help="e-mail address of the account")


def run(arguments: argparse.Namespace) -> int:
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
