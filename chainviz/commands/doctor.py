"""`chainviz doctor`: checks every session of this machine, and fixes those that their API would refuse."""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator, Sequence

from chainviz.commands.io import Counter, tell
from chainviz.commands.sessions import add_choice_of_sessions, chosen_sessions
from chainviz.core.counts import count_text
from chainviz.core.sources import Session
from chainviz.fixes.doctor import Diagnosis, Watch, diagnose_all, fix_all, reason_to_wait

_WORDS = {"refused": "would be refused", "unfixable": "cannot be fixed", "part": "not fully read", "unreadable": "cannot be read"}
PAUSE = 5.0
"""The seconds between two checks of --watch."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_choice_of_sessions(parser)
    parser.add_argument("--fix", action="store_true", help="fix them after one question; every store is backed up first")
    parser.add_argument("--yes", action="store_true", help="with --fix: do not ask")
    parser.add_argument(
        "--watch",
        action="store_true",
        help="go on until Ctrl+C: check each session that changed and has rested for a minute, and with --fix, fix it",
    )


def run(arguments: argparse.Namespace) -> int:
    sessions, code = chosen_sessions(arguments)
    watch = Watch(arguments.agent)
    if arguments.watch:
        list(watch.due(time.time()))
    faulty, waiting = _check(sessions)
    if arguments.fix and waiting and (arguments.yes or _agrees(_question(len(waiting)))):
        faulty += _fix(waiting) - len(waiting)
    if arguments.watch:
        _watch(arguments, watch)
    return max(code, 1 if faulty else 0)


def _check(sessions: Sequence[Session]) -> tuple[int, list[Session]]:
    """Print the faults of the sessions. Return the number of faulty sessions, and the sessions that a fix would change."""
    counts, waiting = dict.fromkeys(_WORDS, 0), list[Session]()
    for diagnosis in _faulty(sessions):
        counts[diagnosis.state] += 1
        waiting += [diagnosis.session] if diagnosis.needs_fix else []
        tell(_lines(diagnosis))
    found = ", ".join(f"{counts[state]:,} {word}" for state, word in _WORDS.items() if counts[state]) or "all are accepted"
    tell([f"{count_text(len(sessions), 'session')} of {len({session.agent for session in sessions})} agents checked: {found}."])
    return sum(counts.values()), waiting


def _faulty(sessions: Sequence[Session]) -> Iterator[Diagnosis]:
    with Counter("sessions checked", len(sessions)) as counter:
        for diagnosis in diagnose_all(sessions):
            counter.count()
            if diagnosis.state != "accepted":
                counter.clear()
                yield diagnosis


def _fix(waiting: Sequence[Session]) -> int:
    """Fix sessions whose agents are not running. Return the number of sessions that are still faulty."""
    reasons = {session: reason_to_wait(session, time.time()) for session in waiting}
    tell(filter(None, reasons.values()))
    tell(fix_all([session for session, reason in reasons.items() if not reason]))
    return sum(diagnosis.state != "accepted" for diagnosis in diagnose_all(waiting))


def _watch(arguments: argparse.Namespace, watch: Watch) -> None:
    tell(["Watching for changes; stop with Ctrl+C."])
    while True:
        time.sleep(PAUSE)
        changed = [session for session in watch.due(time.time()) if arguments.project in session.project]
        for diagnosis in diagnose_all(changed):
            if diagnosis.state != "accepted":
                tell(_lines(diagnosis))
            if diagnosis.needs_fix and arguments.fix:
                _fix([diagnosis.session])


def _lines(diagnosis: Diagnosis) -> list[str]:
    session = diagnosis.session
    more = f" (and {len(diagnosis.causes) - 1:,} more)" if len(diagnosis.causes) > 1 else ""
    cause = diagnosis.causes[0] if diagnosis.causes else ""
    lines = [f"{session.agent:12}  {session.address}  {session.title[:60]}", f"  {_WORDS[diagnosis.state]}: {cause}{more}"]
    return [*lines, f"  {diagnosis.advice}"] if diagnosis.advice else lines


def _question(count: int) -> str:
    return f"Fix {count:,} {'session' if count == 1 else 'sessions'}, with backups? [y/N] "


def _agrees(question: str) -> bool:
    try:
        return input(question).strip().lower() in ("y", "yes")
    except EOFError:
        return False
