"""Check every session of this machine as if its agent resumed it, and fix those that their API would refuse, with backups."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from hashlib import sha256
from itertools import groupby
from pathlib import Path
from typing import Literal

from chainviz.api.chain import Chain, Result
from chainviz.api.tree_text import change_line
from chainviz.core.databases import Change
from chainviz.core.databases.contract import Database
from chainviz.core.errors import ChainError, DocumentError, NotFullyRead, Refused
from chainviz.core.session_facts import read_facts
from chainviz.core.sources import Session, find_stores, get_store, read_sessions
from chainviz.core.sources.contract import agent_process
from chainviz.fixes.backups import reads_only
from chainviz.fixes.database_sessions import DatabaseSessions
from chainviz.fixes.stored_session import HowToRead, fix_content, stored_session

State = Literal["accepted", "refused", "unfixable", "part", "unreadable"]
REST = 60.0
"""The seconds without changes after which a session may be fixed together with others."""


@dataclass(frozen=True, slots=True)
class Diagnosis:
    session: Session
    state: State
    """`refused`: a fix makes its API accept it; `unfixable`: no fix can be written, or errors would remain; `part`: not everything in it
    was understood; `unreadable`: nothing of it can be read."""
    causes: tuple[str, ...] = ()
    needs_fix: bool = False
    """A fix would change the session."""
    seen: str = ""
    """The digest of the checked content."""
    advice: str = ""
    """A sentence on what to do where chainviz only reads the store."""


def diagnose_all(sessions: Iterable[Session]) -> Iterator[Diagnosis]:
    """Check sessions one by one. Sessions of one database are checked together, at the place of the first."""
    for session, content in read_sessions(_together(sessions)):
        yield _diagnosis(session, content, get_store(session.agent).kind)


def diagnose(session: Session) -> Diagnosis:
    """Check a session of any agent in its place."""
    stored = stored_session(session.address)
    try:
        return _diagnosis(session, stored.read(), stored.database)
    except DocumentError as error:
        return _diagnosis(session, error, None)


def _together(sessions: Iterable[Session]) -> list[Session]:
    groups: dict[object, list[Session]] = {}
    for session in sessions:
        groups.setdefault(session.path if session.in_database else session, []).append(session)
    return [session for group in groups.values() for session in group]


def _diagnosis(session: Session, content: bytes | DocumentError, database: Database | None) -> Diagnosis:
    try:
        if isinstance(content, DocumentError):
            raise content
        fixed = fix_content(content, session.address, report_lines, HowToRead(database=database))
    except ChainError as error:
        is_part = isinstance(error, NotFullyRead) and isinstance(content, bytes) and not read_facts(content).problems
        refused: State = "part" if is_part else "unfixable"
        cause = str(error).removeprefix(f"{session.address}: ")
        return Diagnosis(session, refused if isinstance(error, Refused) else "unreadable", (cause,))
    left = [sentence for each in fixed.chains for sentence in each.result.warnings] if fixed.has_errors_left else []
    causes = (*fixed.damage, *(line for each in fixed.chains for line in each.difference), *left)
    state: State = "unfixable" if left else "refused" if fixed.is_changed else "accepted"
    label = stored_session(session.address).read_only if fixed.is_changed else ""
    if label:
        return Diagnosis(session, "unfixable", causes, False, digest_of(content), reads_only(label))
    return Diagnosis(session, state, causes, fixed.is_changed, digest_of(content))


def fix_all(sessions: Iterable[Session], seen: Mapping[str, str] | None = None) -> Iterator[str]:
    """Fix sessions, and yield a sentence for each backup or refusal. Sessions of one database are fixed in one transaction.

    `seen` identifies, by address, the contents that a person reviewed. Other contents are refused.
    """
    waiting = sorted(sessions, key=lambda session: session.path)
    for path, group in groupby(waiting, key=lambda session: session.path):
        try:
            backup = _fix_group(path, list(group), seen)
            yield f"{path}: fixed; the backup is {backup}" if backup else f"{path}: nothing to fix any more"
        except ChainError as error:
            yield str(error)


def reason_to_wait(session: Session, now: float) -> str:
    """Return the reason why a session should not be written now, as a sentence; "" if it can be written."""
    process = agent_process(session)
    if process:
        return f"{session.address}: {process.name or 'a program'} (process {process.number}) uses it; quit it, then fix it."
    seconds = now - (session.updated or 0.0)
    if 0 <= seconds < REST and not session.in_database:
        return f"{session.address}: changed {seconds:.0f} seconds ago, so that its agent may be running; quit it, then fix it."
    return ""


def _fix_group(path: Path, group: Sequence[Session], seen: Mapping[str, str] | None) -> Path | None:
    """Fix a session and return the backup; None if nothing needs a fix."""
    changes, stored = list[Change](), stored_session(group[0].address)
    for session in group:
        stored = stored_session(session.address)
        content = stored.read()
        if seen is not None and digest_of(content) != seen.get(session.address):
            raise Refused(f"{session.address}: changed after it was checked. Check it again.")
        fixed = fix_content(content, session.address, report_lines, HowToRead(database=stored.database))
        changes += [Change(session.id, fixed.old, fixed.new)] if fixed.is_changed else []
    if not changes:
        return None
    if stored.database:
        return DatabaseSessions(path, stored.database).write(changes)
    return stored.write(changes[0].old, changes[0].new)


def digest_of(content: bytes) -> str:
    return sha256(content).hexdigest()


def report_lines(before: Chain, result: Result) -> list[str]:
    return [change_line(row) for row in result.report]


@dataclass
class Watch:
    """Watch the sessions of this machine, and report those that changed and then rested."""

    agent: str = ""
    checked: dict[str, int] = field(default_factory=dict)
    """The time of each session's last change when it was checked, in nanoseconds."""

    def due(self, now: float) -> Iterator[Session]:
        """Yield the sessions that changed since the last call, but not in the last seconds. Does not open files."""
        for found in find_stores(agent=self.agent):
            with suppress(DocumentError):  # a busy database is read again at the next call
                for state in found.store.states(found.place):
                    if self.checked.get(state.address) != state.modified and now - state.modified / 1e9 >= REST:
                        self.checked[state.address] = state.modified
                        session = found.store.session(state)
                        yield from [session] if session else []
