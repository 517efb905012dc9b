"""`chainviz worker`: runs slow jobs in a process of its own, beside any number of others."""

from __future__ import annotations

import argparse

from chainviz.commands.startup import prepare


def add_arguments(parser: argparse.ArgumentParser) -> None:
    pass


def run(arguments: argparse.Namespace) -> int:
    if not prepare():
        return 2
    from chainviz.jobs.worker import run_worker

    print("chainviz worker is ready", flush=True)
    run_worker()
    return 0
