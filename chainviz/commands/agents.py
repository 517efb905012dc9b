"""Commands for agents: `integrate` adds chainviz to their settings, `hook` is what they run then, `mcp` serves sessions to them.

`integrate` shows the change before, and takes it out again. `hook` never stops an agent; it only prints problems. `mcp` is an MCP server
on standard input and output, for an agent that reads and fixes sessions of this machine.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from chainviz.commands.io import complain, tell
from chainviz.core.errors import ChainError, OptionsError
from chainviz.core.sources.machine import Machine
from chainviz.integrations.agents import INTEGRATIONS, changes_for, check, copy, event_of, get_integration, has_server, newest_here
from chainviz.integrations.changes import FileChange, removal, write_changes, write_removal


def add_integrate_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("agent", metavar="AGENT", help=f"one of {', '.join(INTEGRATIONS)}")
    parser.add_argument("--remove", action="store_true", help="take out what was added")
    act = parser.add_mutually_exclusive_group()
    act.add_argument("--yes", action="store_true", help="write without asking")
    act.add_argument("--check", action="store_true", help="only show the change; exit code 1 if there is one")


def run_integrate(arguments: argparse.Namespace) -> int:
    integration = get_integration(arguments.agent)
    if arguments.remove:
        changes, left = removal(arguments.agent)
        for sentence in left:
            complain(sentence)
        return max(_apply(arguments, changes, lambda: write_removal(arguments.agent, changes)), 1 if left else 0)
    changes = changes_for(arguments.agent, Machine.current().homes[0])
    code = _apply(arguments, changes, lambda: write_changes(arguments.agent, changes))
    if not has_server():
        tell(['The MCP server is left out, because it needs an extra: pip install "chainviz[mcp]".'])
    if code == 0 and integration.note:
        tell([integration.note])
    return code


def _apply(arguments: argparse.Namespace, changes: Sequence[FileChange], write: Callable[[], list[str]]) -> int:
    """Show the changes, ask, and write them. Return 1 if they were not written."""
    for each in changes:
        tell(each.difference())
    if arguments.check:
        return 1 if changes else 0
    if not arguments.yes and not _agrees():
        tell(["Nothing was written."])
        return 1
    tell(write())
    return 0


def _agrees() -> bool:
    """Ask the person; only an answer at a terminal counts."""
    if not sys.stdin.isatty():
        raise OptionsError("There is no terminal to ask at; add --yes to write, or --check to only see the change.")
    print("Write these changes? [y/N] ", end="", flush=True)
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def add_hook_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("act", choices=["check", "copy", "open"], help="check or copy a session, or open the newest one of this folder")
    parser.add_argument("agent", choices=list(INTEGRATIONS))
    parser.add_argument("--session", default="", metavar="ID", help="the session, instead of the event on standard input")


def run_hook(arguments: argparse.Namespace) -> int:
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
    from chainviz.commands.server.open import run_add

    session = newest_here(agent, Path.cwd())
    return run_add(argparse.Namespace(files=[session.address], format=""))


def add_mcp_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--allow-writing",
        action="store_true",
        help="let the agent fix sessions, beside a backup, and save masked and compacted copies in the current folder",
    )


def run_mcp(arguments: argparse.Namespace) -> int:
    from chainviz.mcp.library import MachineLibrary
    from chainviz.mcp.server import serve_streams

    serve_streams(MachineLibrary(may_write=arguments.allow_writing))
    return 0
