"""`chainviz worker`: run slow jobs in a separate process. Any number of workers may run; `chainviz serve` starts one itself."""

from __future__ import annotations

import argparse
import logging
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable

from chainviz.commands.server.startup import announce, judge_again_if_needed, prepare, set_up_django

log = logging.getLogger(__name__)
PAUSE_SECONDS = 1


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)


def run(arguments: argparse.Namespace) -> int:
    if arguments.child:
        set_up_django()
        from chainviz.jobs.worker import cut_off_later

        threading.Thread(target=_end_with_parent, args=(cut_off_later,), daemon=True).start()
    elif not prepare():
        return 2
    else:
        announce("chainviz worker is ready")
    from chainviz.jobs.worker import run_worker

    judge_again_if_needed()
    run_worker()
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
