"""`chainviz fix`: lets a session resume that its API refuses. Fixes only what the API rejects, and keeps a backup."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from chainviz.api.chain import Chain, Result
from chainviz.api.comparison import diff
from chainviz.api.tree_text import report_line
from chainviz.commands.io.files import add_format
from chainviz.commands.io.output import complain, tell
from chainviz.core.diff.text import render
from chainviz.core.errors import ChainError
from chainviz.core.providers import PROVIDERS, get_provider
from chainviz.core.providers.contract import Provider
from chainviz.core.terminal import visible
from chainviz.sessions.backups import content_of, restore, write_back
from chainviz.sessions.fix import RESPELLED, FixedChain, fix_session

MOST_LINES = 12
"""Lines of a changed text that are shown."""
MOST_CHANGES = 1_000
"""Lines of a difference that are shown."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "sessions",
        metavar="SESSION",
        nargs="+",
        help="a session file, the folder of an OpenHands conversation, or any transcript",
    )
    add_format(parser)
    names = ", ".join(provider.name for provider in PROVIDERS)
    parser.add_argument(
        "--provider", metavar="NAME", help=f"the API that must accept it, instead of its format's own: {names}"
    )
    act = parser.add_mutually_exclusive_group()
    act.add_argument("--check", action="store_true", help="only show what would change; exit code 1 if anything would")
    act.add_argument("--restore", action="store_true", help="restore the newest backup, byte for byte")


def run(arguments: argparse.Namespace) -> int:
    provider = get_provider(arguments.provider) if arguments.provider else None
    return max([_code(Path(name), arguments, provider) for name in arguments.sessions])


def _code(session: Path, arguments: argparse.Namespace, provider: Provider | None) -> int:
    """0: valid, or fixed; 1: something would change, or errors remain; 2: not readable, or not written."""
    try:
        if arguments.restore:
            return _restore(session)
        return _fix(session, arguments, provider)
    except ChainError as error:
        complain(error)
        return 2


def _fix(session: Path, arguments: argparse.Namespace, provider: Provider | None) -> int:
    fixed = fix_session(content_of(session), str(session), _difference, arguments.format, provider)
    for sentence in fixed.damage:
        tell([f"{session}: {sentence}"])
    for each in fixed.chains:
        _tell(each)
    code = 1 if fixed.has_errors_left else 0
    if not fixed.is_changed:
        return code
    if arguments.check:
        return 1
    tell([f"{session}: fixed; the backup is {write_back(session, fixed.old, fixed.new)}"])
    return code


def _difference(before: Chain, result: Result) -> list[str]:
    lines = list(islice(_lines(before, result), MOST_CHANGES + 1))
    return lines if len(lines) <= MOST_CHANGES else [*lines[:MOST_CHANGES], "… more lines are not shown"]


def _lines(before: Chain, result: Result) -> Iterator[str]:
    if result.chain is before:
        return
    compared = diff(before, result.chain).chains
    if compared.counts:
        yield from render(compared, most_lines=MOST_LINES)
    else:
        yield RESPELLED
        yield from (f"~ {visible(report_line(row))}" for row in result.report)


def _tell(fixed: FixedChain[list[str]]) -> None:
    if fixed.is_changed:
        tell([f"{fixed.title}: changes for {fixed.provider.label}"])
        for line in fixed.difference:
            tell([f"  {line}"])
    elif not fixed.result.warnings:
        tell([f"{fixed.title}: {fixed.provider.label} accepts it"])
    for sentence in fixed.result.warnings:
        tell([f"  {sentence}"])


def _restore(session: Path) -> int:
    backup, before = restore(session)
    if before is None:
        tell([f"{session}: already what the newest backup holds, {backup.name}"])
    else:
        tell([f"{session}: restored from {backup.name}; what it was until now is {before.name}"])
    return 0
