"""The `chainviz` console script: finds the module of a command and runs it.

Exit codes: 0 fine, 1 problems found or operation refused, 2 bad usage or unreadable input.
A command's module is imported only when it is called, so that the commands of the core start without Django.
"""

from __future__ import annotations

import argparse
import errno
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.metadata import version
from io import TextIOWrapper
from typing import NoReturn

from chainviz.commands.io.output import complain
from chainviz.core.errors import ChainError
from chainviz.core.terminal import visible

# name -> (module with add_arguments and run, one line of help)
COMMANDS = {
    "show": ("chainviz.commands.show", "print the tree of each chain"),
    "check": ("chainviz.commands.check", "list the problems of each chain"),
    "apply": ("chainviz.commands.apply", "run an operation on each chain"),
    "recipe": ("chainviz.commands.recipe", "run a recipe on each chain"),
    "convert": ("chainviz.commands.convert", "convert chains to another format"),
    "fix": ("chainviz.commands.fix", "make a session valid again so that its agent can resume it"),
    "diff": ("chainviz.commands.diff", "show what changed from one file to another"),
    "parse": ("chainviz.commands.parse", "show the sections and tool calls of a model's answer"),
    "state": ("chainviz.commands.state", "check a conversation state, or show what a chain would store and send"),
    "simulate": ("chainviz.commands.simulate", "show when compaction strategies would have fired in a chain"),
    "observations": ("chainviz.commands.observations", "list the tool results of each chain"),
    "generate": ("chainviz.commands.generate", "make up a chain for tests"),
    "serve": ("chainviz.commands.serve", "start the web application on this machine"),
    "add": ("chainviz.commands.add", "add files to this machine's library, even while its server runs"),
    "createowner": ("chainviz.commands.createowner", "create the first account in team mode"),
    "changepassword": ("chainviz.commands.changepassword", "set a new password for an account in team mode"),
    "push": ("chainviz.commands.push", "upload files to a server and print the links of their chains"),
    "token": ("chainviz.commands.token", "create a token for programs that use the API"),
    "backup": ("chainviz.commands.backup", "write the whole installation into one file, while it runs"),
    "restore": ("chainviz.commands.restore", "fill an empty installation from a backup"),
    "fsck": ("chainviz.commands.fsck", "check everything that is stored against its hashes"),
    "worker": ("chainviz.commands.worker", "run slow jobs in a separate process"),
}


class Parser(argparse.ArgumentParser):
    """Bad usage is one line, like every other error."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: {visible(message)}; see {self.prog} --help.\n")


def main(argv: Sequence[str] | None = None) -> int:
    words = list(sys.argv[1:] if argv is None else argv)
    chosen = words[0] if words and words[0] in COMMANDS else None
    parser = Parser(prog="chainviz", description="See, check, repair and convert LLM message chains.")
    parser.add_argument("--version", action="version", version=f"chainviz {version('chainviz')}")
    subparsers = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for name, (_, text) in COMMANDS.items():
        subparser = subparsers.add_parser(name, help=text, description=text[0].upper() + text[1:] + ".")
        if name == chosen:
            import_module(COMMANDS[name][0]).add_arguments(subparser)
    arguments = parser.parse_args(words)
    _open_closed_streams()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # transcripts hold half emojis that no terminal can show
    return run(arguments)


def run(arguments: argparse.Namespace) -> int:
    module = import_module(COMMANDS[arguments.command][0])
    try:
        code: int = module.run(arguments)
        sys.stdout.flush()
    except ChainError as error:
        complain(error)
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
    """Why nothing could be written; "" where the error is another one."""
    from chainviz.store.full_disk import is_disk_full  # loads sqlite3, which `show` and its like do without

    if isinstance(error, OSError) and error.errno == errno.EBADF:
        return "the standard output is closed."
    return "the disk is full; free some space and try again." if is_disk_full(error) else ""


def _open_closed_streams() -> None:
    """Of streams that are closed Python makes None: what is printed then is an error for the output, and nothing for errors."""
    if sys.stdout is None:
        sys.stdout = os.fdopen(os.open(os.devnull, os.O_RDONLY), "w")
    if sys.stderr is None:
        sys.stderr = os.fdopen(os.open(os.devnull, os.O_WRONLY), "w")


def _drop_output() -> None:
    """What is still buffered for the standard output goes nowhere at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


if __name__ == "__main__":
    raise SystemExit(main())
