"""`chainviz serve`: prepares the database, takes in the files it is given, then one gunicorn process for pages
and one for jobs (worker.py)."""

from __future__ import annotations

import argparse
import socket
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

from chainviz.commands.io.files import add_format
from chainviz.commands.io.output import complain, remark, tell
from chainviz.commands.server.running_server import forget_server, note_server
from chainviz.commands.server.startup import prepare, release_connections
from chainviz.commands.worker import start_child
from chainviz.core.errors import DocumentError
from chainviz.core.formats import get_format
from chainviz.settings import CHAINVIZ

FILES = "a transcript to import, or a folder or pattern whose files to list"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("files", metavar="FILE", nargs="*", help=f"{FILES}, before it starts")
    add_format(parser)
    parser.add_argument("--host", default=CHAINVIZ.host, help="address to listen on (CHAINVIZ_HOST)")
    parser.add_argument("--port", type=int, default=CHAINVIZ.port, help="port to listen on (CHAINVIZ_PORT)")
    parser.add_argument("--without-jobs", action="store_true", help="leave slow jobs to `chainviz worker`")


def run(arguments: argparse.Namespace) -> int:
    if reason := cannot_listen(arguments.host, arguments.port):
        complain(reason)
        return 2
    format = get_format(arguments.format).name if arguments.format else ""
    if not prepare():
        return 2
    if CHAINVIZ.mode == "team" and not has_account():
        tell(["Nobody can sign in yet. Create the first account with: chainviz createowner EMAIL"])
    clear_staged_files()
    take_in(arguments.files, format, url_of(arguments.host, arguments.port))
    note_server(arguments.host, arguments.port, url_of(arguments.host, arguments.port))
    serve(arguments.host, arguments.port, has_worker=not arguments.without_jobs)
    return 0


def has_account() -> bool:
    from chainviz.accounts.models import Membership

    return any(member.user.has_usable_password() for member in Membership.objects.active().select_related("user"))


def clear_staged_files() -> None:
    """Delete files of uploads that were killed. In local mode nothing is uploaded before the server listens; in team mode
    another server may be receiving a file, so that a file must have been left alone for a while."""
    from chainviz.chains.uploads.arrivals import UNCLAIMED_FOR, clear_orphans

    clear_orphans(timedelta(0) if CHAINVIZ.mode == "local" else UNCLAIMED_FOR)


def take_in(names: Sequence[str], format: str, url: str) -> int:
    """Puts every chain of the files into the library, and lists the folders, one line each. What cannot be read is reported
    and skipped. Very many files are not read at once: their folders are listed.

    Returns 2 where something could not be read, else 0.
    """
    from chainviz.accounts.models import local_member
    from chainviz.chains.folders.choose_folders import FEW, folders_of, is_place, watch
    from chainviz.chains.uploads.local_files import take_file

    code, member = 0, local_member()
    places = [name for name in names if is_place(name)]
    files = [Path(name) for name in names if name not in places]
    if len(files) > FEW:
        tell([f"{len(files):,} files are named: their folders are listed, and each file is read when it is opened."])
        files, places = [], places + folders_of(files)
    for name in [*places, *map(str, files)]:
        try:
            if name in places:
                told = f"{url}folders/?folder={watch(member, name).number}"
            else:
                taken = take_file(member, Path(name), format)
                told = taken.told(url)
                for note in taken.notes:
                    remark(name, note)
            tell([f"{name}: {told}"])
        except DocumentError as error:
            complain(error)
            code = 2
    release_connections()
    return code


def cannot_listen(host: str, port: int) -> str:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        socket.create_server((host, port), family=family).close()
    except (OSError, OverflowError) as error:
        text = error.strerror if isinstance(error, OSError) else "there is no such port"
        return f"cannot listen on {host}, port {port}: {text}. Choose another port with CHAINVIZ_PORT."
    return ""


def serve(host: str, port: int, has_worker: bool = True) -> None:
    from gunicorn.app.base import BaseApplication

    class Server(BaseApplication):  # type: ignore[misc]
        def load_config(self) -> None:
            for name, setting in options(address_of(host, port), url_of(host, port), has_worker).items():
                self.cfg.set(name, setting)

        def load(self) -> Any:
            from django.urls import resolve

            from chainviz.wsgi import application

            resolve("/")  # imports all pages, for which the first one would wait
            return application

    Server().run()


def address_of(host: str, port: int) -> str:
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def url_of(host: str, port: int) -> str:
    """Where people open it."""
    if CHAINVIZ.mode == "team":
        return f"{CHAINVIZ.base_url}/"
    return f"http://{address_of(host, port)}/"


def start_worker() -> None:
    """The thread that starts the worker serves no pages: it keeps its connection, and SQLite the files that readers need on a
    full disk."""
    from django.db import connection

    if connection.vendor == "sqlite":
        connection.ensure_connection()
    start_child()


def options(address: str, url: str, has_worker: bool) -> dict[str, Any]:
    return {
        "bind": address,
        "worker_class": "chainviz.commands.server.http_worker.Worker",
        "workers": 1,
        # an upload that stalls holds a thread; readers must still find one
        "threads": 48,
        "keepalive": 5,
        # the most that gunicorn takes: a filter of the library is an address
        "limit_request_line": 8190,
        "graceful_timeout": 10,
        "loglevel": "warning",
        "control_socket_disable": True,
        "on_exit": lambda server: forget_server(),
        "post_worker_init": lambda worker: _be_ready(url, has_worker),
    }


def _be_ready(url: str, has_worker: bool) -> None:
    if has_worker:
        start_worker()
    tell([f"chainviz is ready: {url}  (stop it with Ctrl+C)"])
