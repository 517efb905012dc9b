"""`chainviz integrate`: adds chainviz to the settings of an agent, after showing the change, and takes it out again."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence

from chainviz.commands.io import complain, tell
from chainviz.core.errors import OptionsError
from chainviz.core.sources.machine import Machine
from chainviz.integrations.agents import INTEGRATIONS, changes_for, get_integration, has_server
from chainviz.integrations.changes import FileChange, removal, write_changes, write_removal


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("agent", metavar="AGENT", help=f"one of {', '.join(INTEGRATIONS)}")
    parser.add_argument("--remove", action="store_true", help="take out what was added")
    act = parser.add_mutually_exclusive_group()
    act.add_argument("--yes", action="store_true", help="write without asking")
    act.add_argument("--check", action="store_true", help="only show the change; exit code 1 if there is one")


def run(arguments: argparse.Namespace) -> int:
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
