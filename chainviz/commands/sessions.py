"""`chainviz sessions`: list the sessions of this machine's agents."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from datetime import datetime

from chainviz.api.chain import load
from chainviz.api.sessions import find_sessions, newest_first
from chainviz.commands.io import complain, tell
from chainviz.core.errors import ChainError, DocumentError
from chainviz.core.lost import Lost, describe_lost
from chainviz.core.sources import STORES, Session
from chainviz.fixes.doctor import diagnose_all

MOST_TITLE = 60


def add_arguments(parser: argparse.ArgumentParser) -> None:
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


def run(arguments: argparse.Namespace) -> int:
    sessions, code = chosen_sessions(arguments)
    if arguments.needs_fix:
        refused = {each.session for each in diagnose_all(sessions) if each.needs_fix}
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
