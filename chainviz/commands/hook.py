"""`chainviz hook`: the command that agents run after `chainviz integrate`. It never stops an agent; it only prints problems."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from chainviz.commands.io import complain, tell
from chainviz.core.errors import ChainError
from chainviz.integrations.agents import INTEGRATIONS
from chainviz.integrations.hooks import check, copy, event_of, newest_here


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("act", choices=["check", "copy", "open"], help="check or copy a session, or open the newest one of this folder")
    parser.add_argument("agent", choices=list(INTEGRATIONS))
    parser.add_argument("--session", default="", metavar="ID", help="the session, instead of the event on standard input")


def run(arguments: argparse.Namespace) -> int:
    if arguments.act == "open":
        return _open(arguments.agent)
    event = {} if arguments.session else event_of(sys.stdin.buffer.read().decode("utf-8", "replace"))
    try:
        act = {"check": check, "copy": _copied}[arguments.act]
        message = act(arguments.agent, event, arguments.session)
    except ChainError as error:
        complain(error)
        message = ""
    tell([json.dumps({"systemMessage": message} if message else {})])
    return 0


def _copied(agent: str, event: dict[str, object], session: str) -> str:
    path = copy(agent, event, session)
    return f"chainviz copied this session before it is compacted: {path}" if event.get("trigger") == "manual" else ""


def _open(agent: str) -> int:
    from chainviz.commands import add

    session = newest_here(agent, Path.cwd())
    return add.run(argparse.Namespace(files=[session.address], format=""))
