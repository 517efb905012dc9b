"""`chainviz serve`: prepare the database, import the given files, then start gunicorn with one process for each core.

One more process runs slow jobs, as `chainviz worker` does. Any number of workers may run.
"""

from __future__ import annotations

import argparse
import fcntl
import gc
import logging
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from datetime import timedelta
from pathlib import Path
from typing import IO, Any

from chainviz.commands.io import add_format, complain, remark, tell
from chainviz.commands.server.startup import (
    announce,
    forget_server,
    judge_again_if_needed,
    note_server,
    prepare,
    release_connections,
    set_up_django,
)
from chainviz.core.errors import ChainError, DocumentError
from chainviz.core.formats import get_format
from chainviz.settings import CHAINVIZ

FILES = "a transcript to import, or a folder or pattern whose files to list"


def add_serve_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("files", metavar="FILE", nargs="*", help=f"{FILES}, before it starts")
    add_format(parser)
    parser.add_argument("--host", default=CHAINVIZ.host, help="address to listen on (CHAINVIZ_HOST)")
    parser.add_argument("--port", type=int, default=CHAINVIZ.port, help="port to listen on (CHAINVIZ_PORT)")
    parser.add_argument("--sessions", default="", metavar="AGENTS", help="show the sessions of these agents: claude-code,codex")
    parser.add_argument("--no-discovery", action="store_true", help="do not look for sessions on this machine (CHAINVIZ_DISCOVERY)")
    parser.add_argument("--without-jobs", action="store_true", help="leave slow jobs to `chainviz worker`")


def run_serve(arguments: argparse.Namespace) -> int:
    if reason := cannot_listen(arguments.host, arguments.port):
        complain(reason)
        return 2
    format = get_format(arguments.format).name if arguments.format else ""
    if not prepare():
        return 2
    if CHAINVIZ.mode == "team" and not has_account():
        announce("Nobody can sign in yet. Create the first account with: chainviz createowner EMAIL")
    if arguments.no_discovery:
        switch_discovery_off()
    if arguments.sessions and (reason := choose_agents(arguments.sessions)):
        complain(reason)
        return 2
    clear_staged_files()
    look_for_sessions()
    take_in(arguments.files, format, url_of(arguments.host, arguments.port))
    note_server(arguments.host, arguments.port, url_of(arguments.host, arguments.port))
    serve(arguments.host, arguments.port, has_worker=not arguments.without_jobs)
    return 0


def switch_discovery_off() -> None:
    from django.conf import settings

    settings.CHAINVIZ = CHAINVIZ.model_copy(update={"discovery": False})


def choose_agents(names: str) -> str:
    """Make the named agents, separated by commas, the sources of the library. Return the reason why that is not possible, or ""."""
    from chainviz.accounts.models import local_member
    from chainviz.sessions_index.services import add_agents

    try:
        add_agents(local_member().team, [name.strip() for name in names.split(",") if name.strip()])
    except ChainError as error:
        return str(error)
    finally:
        release_connections()
    return ""


def look_for_sessions() -> None:
    from chainviz.sessions_index.services import look_again

    look_again()


def has_account() -> bool:
    from chainviz.accounts.models import Membership

    return any(member.user.has_usable_password() for member in Membership.objects.active().select_related("user"))


def clear_staged_files() -> None:
    """Delete files of aborted uploads. In local mode, nothing is uploaded before the server listens. In team mode, another server may be
    receiving a file, so only files without recent changes are deleted."""
    from chainviz.chains.uploads.arrivals import UNCLAIMED_FOR, clear_orphans

    clear_orphans(timedelta(0) if CHAINVIZ.mode == "local" else UNCLAIMED_FOR)


def take_in(names: Sequence[str], format: str, url: str) -> int:
    """Import every chain of the files, and list the folders, one line each. Unreadable files are reported and skipped. If there are
    very many files, only their folders are listed.

    Returns 2 if something could not be read, otherwise 0.
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
                told = taken.describe(url)
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
        text = os.strerror(error.errno) if isinstance(error, OSError) and error.errno else "there is no such port"
        return f"cannot listen on {host}, port {port}: {text}. Choose another port with CHAINVIZ_PORT."
    return ""


def serve(host: str, port: int, has_worker: bool = True, when_ready: Callable[[], object] | None = None) -> None:
    """Serve until the process is stopped. `when_ready` is called when the server answers requests; the default prints a note."""
    from gunicorn.app.base import BaseApplication

    class Server(BaseApplication):  # type: ignore[misc]
        def load_config(self) -> None:
            for name, setting in options(address_of(host, port), url_of(host, port), has_worker).items():
                self.cfg.set(name, setting)
            if when_ready is not None:
                self.cfg.set("when_ready", lambda server: when_ready())

        def load(self) -> Any:
            from django.urls import resolve

            from chainviz.wsgi import application

            resolve("/")  # imports all pages before the processes are forked, so that they share the memory
            gc.collect()
            gc.freeze()
            return application

    Server().run()


def address_of(host: str, port: int) -> str:
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def url_of(host: str, port: int) -> str:
    """Return the address at which people open the server."""
    if CHAINVIZ.mode == "team":
        return f"{CHAINVIZ.base_url}/"
    return f"http://{address_of(host, port)}/"


def core_count() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


PAGE_CACHE = 512
"""The most kilobytes of the database that a connection for pages keeps: each of many threads has one."""


def keep_connections() -> None:
    """Let each thread keep its connection: a new one reads the schema of all tables, 2.4 ms of CPU for each page. Open one in the thread
    that accepts requests too, so that SQLite keeps the files that readers need on a full disk."""
    from django.db import connection

    if connection.vendor == "sqlite":
        connection.settings_dict["CONN_MAX_AGE"] = None
        connection.settings_dict["OPTIONS"]["init_command"] += f" PRAGMA cache_size=-{PAGE_CACHE};"
        connection.ensure_connection()


def start_worker(turn: IO[bytes]) -> None:
    """Start the job process from one of the page processes. If that page process ends, another one starts a new job process.

    `turn` is an open file that all processes inherit. A lock on it ends with the process that holds it.
    """

    def wait_for_turn() -> None:
        fcntl.lockf(turn, fcntl.LOCK_EX)
        keep_child()

    threading.Thread(target=wait_for_turn, daemon=True, name="jobs").start()


def options(address: str, url: str, has_worker: bool) -> dict[str, Any]:
    from chainviz.web.middleware import AT_ONCE, UploadsAtOnceMiddleware

    turn = tempfile.TemporaryFile()  # noqa: SIM115 (open as long as the server runs)

    def be_ready(worker: object) -> None:
        keep_connections()
        if has_worker:
            start_worker(turn)

    processes = core_count()
    UploadsAtOnceMiddleware.at_once = max(1, AT_ONCE // processes)
    return {
        "bind": address,
        "worker_class": "chainviz.commands.server.http_worker.Worker",
        "workers": processes,
        "preload_app": True,
        # a stalled upload blocks a thread; readers must still get one
        "threads": 48,
        "keepalive": 5,
        # the most that gunicorn allows, because a filter of the library is part of an address
        "limit_request_line": 8190,
        "graceful_timeout": 10,
        "loglevel": "warning",
        "control_socket_disable": True,
        "on_exit": lambda server: forget_server(),
        "pre_fork": lambda server, worker: release_connections(),
        "post_worker_init": be_ready,
        "when_ready": lambda server: tell_ready(url, address),
    }


def tell_ready(url: str, address: str = "") -> None:
    """Print the address for people. In team mode, several processes share it, so each also prints its own address."""
    own = f", listening on {address}" if address and CHAINVIZ.mode == "team" else ""
    announce(f"chainviz is ready: {url}{own}  (stop it with Ctrl+C)")


log = logging.getLogger(__name__)
PAUSE_SECONDS = 1


def add_worker_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)


def run_worker(arguments: argparse.Namespace) -> int:
    if arguments.child:
        set_up_django()
        from chainviz.jobs.worker import cut_off_later

        threading.Thread(target=_end_with_parent, args=(cut_off_later,), daemon=True).start()
    elif not prepare():
        return 2
    else:
        announce("chainviz worker is ready")
    from chainviz.jobs import worker

    judge_again_if_needed()
    worker.run_worker()
    return 0


def keep_child() -> None:
    """Run jobs in a child process that ends with this one. When the child ends unexpectedly, start another one."""
    command = [sys.executable, "-P", "-m", "chainviz", "worker", "--child"]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    while True:
        # a separate session, so that Ctrl+C in the terminal reaches only the parent
        child = subprocess.Popen(command, env=environment, stdin=subprocess.PIPE, start_new_session=True)
        log.warning("The job process ended with status %s; another one is started.", child.wait())
        time.sleep(PAUSE_SECONDS)


def _end_with_parent(cut_off: Callable[[], None]) -> None:
    """Stop this process when the parent ends for any reason, because the pipe to the parent closes then."""
    while os.read(sys.stdin.fileno(), 1):
        pass
    cut_off()
    os.kill(os.getpid(), signal.SIGTERM)
