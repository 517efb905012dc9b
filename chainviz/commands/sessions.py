"""Commands for the sessions of this machine's agents: `sessions` lists them, `doctor` checks each of them.

`doctor` fixes those that their API would refuse.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from datetime import datetime

from chainviz.api.chain import load
from chainviz.api.sessions import find_sessions, newest_first
from chainviz.commands.io import Counter, complain, tell
from chainviz.core.counts import count_text
from chainviz.core.errors import ChainError, DocumentError
from chainviz.core.lost import Lost, describe_lost
from chainviz.core.sources import STORES, Session
from chainviz.fixes.doctor import Diagnosis, Watch, diagnose_all, fix_all, reason_to_wait

MOST_TITLE = 60


def add_sessions_arguments(parser: argparse.ArgumentParser) -> None:
    add_choice_of_sessions(parser)
    parser.add_argument("--needs-fix", action="store_true", help="only those that their API would refuse")
    parser.add_argument("--lost", action="store_true", help="also read each session and print what its agent will not send again")
    parser.add_argument("--json", action="store_true", help="print JSON Lines, one object per session")


def add_choice_of_sessions(parser: argparse.ArgumentParser) -> None:
    add_agent(parser)
    parser.add_argument("--project", default="", metavar="TEXT", help="only sessions whose working folder contains this text")


def add_agent(parser: argparse.ArgumentParser) -> None:
    names = ", ".join(dict.fromkeys(store.agent for store in STORES))
    parser.add_argument("--agent", default="", metavar="NAME", help=f"only sessions of this agent: {names}")


def run_sessions(arguments: argparse.Namespace) -> int:
    sessions, code = chosen_sessions(arguments)
    if arguments.needs_fix:
        refused = {each.session for each in diagnose_all(sessions) if each.state in ("refused", "unfixable")}
        sessions = [session for session in sessions if session in refused]
    for session in sessions:
        try:
            lost = [lost for chain in load(session.address) for lost in chain.lost_on_resume] if arguments.lost else None
        except ChainError as error:
            complain(error)
            code, lost = 2, None
        tell([_json(session, lost)] if arguments.json else _lines(session, lost or ()))
    return code


def _json(session: Session, lost: Sequence[Lost] | None) -> str:
    more = {} if lost is None else {"lost_on_resume": [each._asdict() for each in lost]}
    return json.dumps({**session_object(session), **more})


def _lines(session: Session, lost: Iterable[Lost]) -> Iterator[str]:
    yield session_line(session)
    yield from (f"  not sent again on resume: {describe_lost(each)}" for each in lost)


def chosen_sessions(arguments: argparse.Namespace) -> tuple[list[Session], int]:
    """Return the sessions that the options select, latest changes first, and the exit code, 2 if a store could not be read."""
    sessions, code = list[Session](), 0
    for each in find_sessions(arguments.agent, arguments.project):
        if isinstance(each, DocumentError):
            complain(each)
            code = 2
        else:
            sessions.append(each)
    return newest_first(sessions), code


def session_object(session: Session) -> dict[str, object]:
    return {**asdict(session), "path": str(session.path), "address": session.address}


def session_line(session: Session) -> str:
    time = datetime.fromtimestamp(session.updated).strftime("%Y-%m-%d %H:%M") if session.updated else "-"
    title = session.title if len(session.title) <= MOST_TITLE else f"{session.title[: MOST_TITLE - 1]}…"
    return "  ".join((f"{time:16}", f"{session.agent:12}", session.address, title or session.id))


_WORDS = {"refused": "would be refused", "unfixable": "cannot be fixed", "part": "not fully read", "unreadable": "cannot be read"}
PAUSE = 5.0
"""The seconds between two checks of --watch."""


def add_doctor_arguments(parser: argparse.ArgumentParser) -> None:
    add_choice_of_sessions(parser)
    parser.add_argument("--fix", action="store_true", help="fix them after one question; every store is backed up first")
    parser.add_argument("--yes", action="store_true", help="with --fix: do not ask")
    parser.add_argument(
        "--watch",
        action="store_true",
        help="go on until Ctrl+C: check each session that changed and has rested for a minute, and with --fix, fix it",
    )


def run_doctor(arguments: argparse.Namespace) -> int:
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
        tell(_diagnosis_lines(diagnosis))
    found = ", ".join(f"{counts[state]:,} {word}" for state, word in _WORDS.items() if counts[state]) or "all are accepted"
    agents = count_text(len({session.agent for session in sessions}), "agent")
    tell([f"{count_text(len(sessions), 'session')} of {agents} checked: {found}." if sessions else "No session was checked."])
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
                tell(_diagnosis_lines(diagnosis))
            if diagnosis.needs_fix and arguments.fix:
                _fix([diagnosis.session])


def _diagnosis_lines(diagnosis: Diagnosis) -> list[str]:
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
