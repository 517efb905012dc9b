"""Commands for pages of a server: `open` shows a session of this machine, `add` adds files to its library and prints their links.

`open` uses the running server or starts one; `add` works whether a server runs or not.
"""

from __future__ import annotations

import argparse
import webbrowser
from pathlib import Path
from threading import Thread

from chainviz.api.sessions import sessions_named
from chainviz.commands.io import add_format, complain, tell
from chainviz.commands.server.serve import FILES, cannot_listen, serve, take_in, tell_ready, url_of
from chainviz.commands.server.startup import make_private, note_server, prepare, release_connections, running_url, set_up_django
from chainviz.commands.sessions import add_agent, session_line
from chainviz.core.errors import DocumentError, OptionsError
from chainviz.core.formats import get_format
from chainviz.settings import CHAINVIZ

MOST_NAMED = 10
"""The most sessions that are listed if several have the id."""


def add_open_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "session",
        metavar="ID",
        help="the id of a session as `chainviz sessions` lists it, a part of it that no other has, or its file or address",
    )
    add_agent(parser)
    parser.add_argument("--no-browser", action="store_true", help="only print the address of the page")


def run_open(arguments: argparse.Namespace) -> int:
    if CHAINVIZ.mode == "team":
        raise OptionsError("chainviz open is for local mode; a team's server lists the sessions of its folders.")
    address = address_of(arguments.session, arguments.agent)
    url = running_url()
    if url:
        set_up_django()
        make_private()
    elif not can_serve():
        return 2
    site = url or url_of(CHAINVIZ.host, CHAINVIZ.port)
    page = page_of(address, site)
    tell([page])
    opens = Thread(target=lambda: arguments.no_browser or webbrowser.open(page), daemon=True)
    if url:
        opens.run()
        return 0

    def when_ready() -> None:
        tell_ready(site)
        opens.start()

    note_server(CHAINVIZ.host, CHAINVIZ.port, site)
    serve(CHAINVIZ.host, CHAINVIZ.port, when_ready=when_ready)
    return 0


def address_of(name: str, agent: str) -> str:
    """Return the address of the session. Raises DocumentError if there is none, or several."""
    from chainviz.core.databases.text import session_at

    if Path(name).exists() or session_at(Path(name)):
        return name
    found = sessions_named(name, agent)
    if len(found) == 1:
        return found[0].address
    if not found:
        raise DocumentError(f"No session of this machine has the id “{name[:80]}”; chainviz sessions lists them.")
    lines = "\n".join(f"  {session_line(session)}" for session in found[:MOST_NAMED])
    more = f"\n  and {len(found) - MOST_NAMED:,} more" if len(found) > MOST_NAMED else ""
    raise DocumentError(f"{len(found):,} sessions have an id like “{name[:80]}”; name one by its address:\n{lines}{more}")


def can_serve() -> bool:
    reason = cannot_listen(CHAINVIZ.host, CHAINVIZ.port)
    if reason:
        complain(reason)
    return not reason and prepare()


def page_of(address: str, site: str) -> str:
    """Import the session, or its new messages, and return the address of its page."""
    from django.urls import reverse

    from chainviz.accounts.models import local_member
    from chainviz.chains.uploads.local_files import take_file

    chains = take_file(local_member(), Path(address)).chains
    release_connections()
    return f"{site}{reverse('chains:chain', args=[chains[0].pk])[1:]}"


def add_add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("files", metavar="FILE", nargs="+", help=FILES)
    add_format(parser)


def run_add(arguments: argparse.Namespace) -> int:
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
