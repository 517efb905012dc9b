"""`chainviz mcp`: an MCP server on standard input and output, for an agent that reads and fixes sessions of this machine."""

from __future__ import annotations

import argparse

from chainviz.mcp.machine import MachineLibrary
from chainviz.mcp.server import serve_streams


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--allow-writing",
        action="store_true",
        help="let the agent fix sessions, beside a backup, and save masked and compacted copies in the current folder",
    )


def run(arguments: argparse.Namespace) -> int:
    serve_streams(MachineLibrary(may_write=arguments.allow_writing))
    return 0
