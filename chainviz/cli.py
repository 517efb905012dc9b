"""The `chainviz` console script: finds the module of a command and runs it.

Exit codes: 0 fine, 1 problems found or operation refused, 2 bad usage or unreadable input. A command's module is imported only when it
is called, so that the commands of the core start without Django, and `chainviz --version` without anything else. The distribution
chainviz-cli has only the libraries of those commands.
"""

from __future__ import annotations

import argparse
import errno
import os
import sys
from importlib import import_module
from io import TextIOWrapper

from chainviz import __version__

TYPE_CHECKING = False  # see chainviz/__init__.py
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any, NoReturn

# name -> (module with add_NAME_arguments and run_NAME, one line of help)
COMMANDS = {
    "show": ("chainviz.commands.show", "print the tree of each chain"),
    "check": ("chainviz.commands.check.check", "list the problems of each chain"),
    "apply": ("chainviz.commands.apply", "run an operation on each chain"),
    "recipe": ("chainviz.commands.apply", "run a recipe on each chain"),
    "convert": ("chainviz.commands.convert", "convert chains to another format"),
    "fix": ("chainviz.commands.fix", "make a session valid again so that its agent can resume it"),
    "sessions": ("chainviz.commands.sessions", "list the sessions of this machine's agents"),
    "doctor": ("chainviz.commands.sessions", "check every session of this machine, and fix those that would be refused"),
    "open": ("chainviz.commands.server.open", "show a session of this machine in the browser"),
    "diff": ("chainviz.commands.show", "show what changed from one file to another"),
    "parse": ("chainviz.commands.parse", "show the sections and tool calls of a model's answer"),
    "state": ("chainviz.commands.state", "check a conversation state, or show what a chain would store and send"),
    "simulate": ("chainviz.commands.state", "show when compaction strategies would have fired in a chain"),
    "observations": ("chainviz.commands.show", "list the tool results of each chain"),
    "mcp": ("chainviz.commands.agents", "serve sessions to an agent: an MCP server on standard input and output"),
    "integrate": ("chainviz.commands.agents", "add chainviz to the settings of an agent, or take it out"),
    "hook": ("chainviz.commands.agents", "what agents run after chainviz integrate: check, copy or open a session"),
    "generate": ("chainviz.commands.convert", "make up a chain for tests"),
    "serve": ("chainviz.commands.server.serve", "start the web application on this machine"),
    "add": ("chainviz.commands.server.open", "add files to this machine's library, even while its server runs"),
    "createowner": ("chainviz.commands.server.installation", "create the first account in team mode"),
    "changepassword": ("chainviz.commands.server.installation", "set a new password for an account in team mode"),
    "push": ("chainviz.commands.server.push", "upload files to a server and print the links of their chains"),
    "token": ("chainviz.commands.server.installation", "create a token for programs that use the API"),
    "backup": ("chainviz.commands.server.installation", "write the whole installation into one file, while it runs"),
    "restore": ("chainviz.commands.server.installation", "fill an empty installation from a backup"),
    "fsck": ("chainviz.commands.server.installation", "check everything that is stored against its hashes"),
    "help": ("chainviz.commands.help", "print a page of the help, or the list of its pages"),
    "worker": ("chainviz.commands.server.serve", "run slow jobs in a separate process"),
}

EXTRAS = {"mcp": "mcp", "mcp_types": "mcp"}
"""The extra that installs an optional library."""


class Parser(argparse.ArgumentParser):
    """Bad usage is one line, like every other error."""

    def error(self, message: str) -> NoReturn:
        from chainviz.core.errors import visible

        self.exit(2, f"{self.prog}: {visible(message)}; see {self.prog} --help.\n")


def main(argv: Sequence[str] | None = None) -> int:
    words = list(sys.argv[1:] if argv is None else argv)
    chosen = words[0] if words and words[0] in COMMANDS else None
    parser = Parser(prog="chainviz", description="See, check, repair and convert LLM message chains.")
    parser.add_argument("--version", action="version", version=f"chainviz {__version__}")
    subparsers = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for name, (_, text) in COMMANDS.items():
        subparser = subparsers.add_parser(name, help=text, description=text[0].upper() + text[1:] + ".")
        if name == chosen:
            _add_arguments(name, subparser)
    arguments = parser.parse_args(words)
    _open_closed_streams()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # transcripts hold half emojis that no terminal can show
    return run(arguments)


def _add_arguments(name: str, parser: Parser) -> None:
    try:
        _function(f"add_{name}_arguments", name)(parser)
    except ModuleNotFoundError as error:
        parser.exit(2, f"{parser.prog}: {_missing_library(error)}\n")


def _function(name: str, command: str) -> Callable[..., Any]:
    found: Callable[..., Any] = getattr(import_module(COMMANDS[command][0]), name)
    return found


def _missing_library(error: ModuleNotFoundError) -> str:
    """Tell what to install; raise the error again if a module of chainviz itself is missing."""
    library = (error.name or "chainviz").partition(".")[0]
    if library == "chainviz":
        raise error
    if library in EXTRAS:
        return f'this needs an extra: pip install "chainviz[{EXTRAS[library]}]".'
    return f"this needs the library {library}, which chainviz-cli leaves out; install chainviz instead."


def run(arguments: argparse.Namespace) -> int:
    from chainviz.commands.io import complain
    from chainviz.core.errors import ChainError

    run_command = _function(f"run_{arguments.command}", arguments.command)
    try:
        code: int = run_command(arguments)
        sys.stdout.flush()
    except ChainError as error:
        complain(error)
        return 2
    except ModuleNotFoundError as error:
        complain(_missing_library(error))
        return 2
    except BrokenPipeError:
        _drop_output()  # the reader has had enough (`chainviz show … | head`)
        return 0
    except KeyboardInterrupt:
        return 130
    except Exception as error:
        reason = _reason(error)
        if not reason:
            raise
        _drop_output()
        complain(reason)
        return 2
    return code


def _reason(error: Exception) -> str:
    """Return the reason why nothing could be written, or "" if the error is another one."""
    from chainviz.store.errors import is_disk_full  # loads sqlite3, which `show` and its like do without

    if isinstance(error, OSError) and error.errno == errno.EBADF:
        return "the standard output is closed."
    return "the disk is full; free some space and try again." if is_disk_full(error) else ""


def _open_closed_streams() -> None:
    """Open the standard streams that were closed, which Python sets to None. Printing is then an error for the output,
    and has no effect for errors."""
    if sys.stdout is None:
        sys.stdout = os.fdopen(os.open(os.devnull, os.O_RDONLY), "w")
    if sys.stderr is None:
        sys.stderr = os.fdopen(os.open(os.devnull, os.O_WRONLY), "w")


def _drop_output() -> None:
    """Discard the buffered standard output at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


if __name__ == "__main__":
    raise SystemExit(main())
