"""`chainviz add`: puts files into the library of this machine, whether a server runs or not, and prints their links."""

from __future__ import annotations

import argparse

from chainviz.commands.io import add_format, complain
from chainviz.commands.serve import FILES, take_in, url_of
from chainviz.commands.server.running_server import running_url
from chainviz.commands.server.startup import make_private, prepare, set_up_django
from chainviz.core.errors import OptionsError
from chainviz.core.formats import get_format
from chainviz.settings import CHAINVIZ


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("files", metavar="FILE", nargs="+", help=FILES)
    add_format(parser)


def run(arguments: argparse.Namespace) -> int:
    if CHAINVIZ.mode == "team":
        raise OptionsError("chainviz add is for local mode; send files to a team's server with chainviz push FILE --to URL.")
    format = get_format(arguments.format).name if arguments.format else ""
    url = running_url()
    if url:
        set_up_django()
        make_private()
    elif not prepare():
        return 2
    code = take_in(arguments.files, format, url or url_of(CHAINVIZ.host, CHAINVIZ.port))
    if not url:
        complain("no server runs on this machine; start one with chainviz serve, then open the link.")
    return code
