"""`chainviz fix`: lets a session resume that its API refuses. Fixes only what the API rejects, and keeps a backup."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from chainviz.api.chain import Chain, Result
from chainviz.api.comparison import diff
from chainviz.api.tree_text import report_line
from chainviz.commands.io import add_format, complain, tell
from chainviz.core.counts import count_text
from chainviz.core.databases import Change
from chainviz.core.diff.text import render
from chainviz.core.errors import ChainError, visible
from chainviz.core.formats.vendors import PROVIDERS, get_provider
from chainviz.core.providers.contract import Provider
from chainviz.fixes.backups import content_of, restore, write_back
from chainviz.fixes.database_sessions import DatabaseSessions, database_sessions
from chainviz.fixes.fix import RESPELLED, FixedChain, FixedSession, Target, fix_session
from chainviz.fixes.stored_session import HowToRead, fix_content

MOST_LINES = 12
"""The most lines of a changed text that are printed."""
MOST_CHANGES = 1_000
"""The most lines of a difference that are printed."""


def add_fix_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "sessions",
        metavar="SESSION",
        nargs="+",
        help="a session file, the folder of an OpenHands conversation, a database of an agent or one session of it "
        "(opencode.db#ses_1), or any transcript",
    )
    add_format(parser)
    names = ", ".join(provider.name for provider in PROVIDERS)
    parser.add_argument("--provider", metavar="NAME", help=f"the API that must accept it, instead of its format's own: {names}")
    act = parser.add_mutually_exclusive_group()
    act.add_argument("--check", action="store_true", help="only show what would change; exit code 1 if anything would")
    act.add_argument("--restore", action="store_true", help="restore the newest backup, byte for byte")


def run_fix(arguments: argparse.Namespace) -> int:
    provider = get_provider(arguments.provider) if arguments.provider else None
    return max([_code(name, arguments, provider) for name in arguments.sessions])


def _code(name: str, arguments: argparse.Namespace, provider: Provider | None) -> int:
    """Fix the sessions. Return 0 if they are valid or fixed, 1 if something would change or errors remain, 2 if one cannot be read or
    written."""
    try:
        sessions = database_sessions(name)
        if arguments.restore:
            return _restore(sessions or Path(name))
        return _fix_database(sessions, arguments, provider) if sessions else _fix(Path(name), arguments, provider)
    except ChainError as error:
        complain(error)
        return 2


def _fix(session: Path, arguments: argparse.Namespace, provider: Provider | None) -> int:
    fixed = fix_session(content_of(session), str(session), _difference, arguments.format, Target(provider))
    code = _tell_all(str(session), fixed)
    if not fixed.is_changed:
        return code
    if arguments.check:
        return 1
    tell([f"{session}: fixed; the backup is {write_back(session, fixed.old, fixed.new)}"])
    return code


def _fix_database(sessions: DatabaseSessions, arguments: argparse.Namespace, provider: Provider | None) -> int:
    code, changes = 0, list[Change]()
    for id, document in sessions.documents().items():
        address = f"{sessions.path}#{id}"
        try:
            fixed = fix_content(document, address, _difference, HowToRead(arguments.format, Target(provider), sessions.database))
        except ChainError as error:
            complain(error)
            code = 2
            continue
        code = max(code, _tell_all(address, fixed))
        changes += [Change(id, fixed.old, fixed.new)] if fixed.is_changed else []
    if not changes or arguments.check:
        return max(code, 1) if changes else code
    tell([f"{sessions.path}: {count_text(len(changes), 'session')} fixed; the backup is {sessions.write(changes)}"])
    return code


def _tell_all(name: str, fixed: FixedSession[list[str]]) -> int:
    """Return 1 where errors remain."""
    tell([f"{name}: {sentence}" for sentence in fixed.damage])
    for each in fixed.chains:
        _tell(each)
    return 1 if fixed.has_errors_left else 0


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


def _restore(session: Path | DatabaseSessions) -> int:
    backup, before = restore(session) if isinstance(session, Path) else session.restore()
    name = session if isinstance(session, Path) else session.path
    if before is None:
        tell([f"{name}: already what the newest backup holds, {backup.name}"])
    else:
        tell([f"{name}: restored from {backup.name}; what it was until now is {before.name}"])
    return 0
