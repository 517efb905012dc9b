"""Find the sessions of this machine's agents, and hand a chain to another agent.

The result of a hand-off is a session that the agent resumes, put where the agent looks for its sessions.
"""

from __future__ import annotations

import os
import shlex
import uuid
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from chainviz.api.chain import Chain
from chainviz.core.chain.messages import SYSTEM
from chainviz.core.counts import count_text
from chainviz.core.errors import DocumentError, OptionsError, Refused, visible
from chainviz.core.formats.agents.hand_off import TARGETS, NewSession, Target
from chainviz.core.providers.check import Verdict

if TYPE_CHECKING:
    from chainviz.core.sources import Session, SessionState, Store


def sessions(agent: str = "", project: str = "") -> list[Session]:
    """Return the sessions of this machine, the one changed last first. `agent` names an agent, such as `opencode`; `project` is a
    text that the working folder contains. `load(session.address)` opens one.

    Stores that cannot be read are left out. Raises DocumentError for an unknown agent.
    """
    return newest_first(each for each in find_sessions(agent, project) if not isinstance(each, DocumentError))


def newest_first(sessions: Iterable[Session]) -> list[Session]:
    """Return sessions with the one changed last first, and those without a time last."""
    return sorted(sessions, key=lambda session: session.updated or 0.0, reverse=True)


def find_sessions(agent: str = "", project: str = "") -> Iterator[Session | DocumentError]:
    """Yield sessions in no order, and for each store that cannot be read, why."""
    from chainviz.core.sources import find_stores, get_store, sessions_in  # loads sqlite3, which most commands do without

    if agent:
        get_store(agent)
    for each in sessions_in(find_stores(agent=agent)):
        if isinstance(each, DocumentError) or project in each.project:
            yield each


def sessions_named(name: str, agent: str = "") -> list[Session]:
    """Return the sessions with this id; if there are none, those whose id begins with it, else those whose id contains it."""
    from chainviz.core.sources import find_stores, get_store

    if agent:
        get_store(agent)
    near: dict[int, list[tuple[Store, SessionState]]] = {}
    for found in find_stores(agent=agent):
        with suppress(DocumentError):
            for state in found.store.states(found.place):
                if name in state.id:
                    rank = 0 if state.id == name else 1 if state.id.startswith(name) else 2
                    near.setdefault(rank, []).append((found.store, state))
    nearest = near[min(near)] if near else []
    return newest_first(session for store, state in nearest if (session := store.session(state)))


MOST_NAMED = 8
ANY_PROVIDER = "openai-chat"
"""The API whose rules a session must meet for an agent that talks to any."""


@dataclass(frozen=True)
class HandOff:
    """A session for another agent, and what that agent will not know."""

    target: Target
    session: NewSession
    content: bytes
    warnings: tuple[str, ...]
    verdicts: dict[str, Verdict]
    """Verdicts of APIs on the session, by the name of the provider."""

    def install(self) -> Path:
        """Write the session where the agent looks; for opencode and Gemini CLI, which import it, into the current folder.

        Raises DocumentError if the file exists or cannot be written.
        """
        return self.write(installed_path(self.target, self.session))

    def write(self, path: str | Path) -> Path:
        """Write a new file, readable by its owner only. Raises DocumentError if the file exists."""
        path = Path(path)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:  # noqa: PTH123
                file.write(self.content)
        except FileExistsError:
            raise DocumentError(f"{path} exists; a hand-off never replaces a file.") from None
        except OSError as error:
            raise DocumentError(f"{path} cannot be written: {error.strerror or error}.") from None
        return path

    def resume_command(self, path: Path) -> str:
        """The command for a shell, from anywhere."""
        return f"cd {shlex.quote(self.session.folder)} && {self.target.command(self.session, shlex.quote(str(path)))}"


def hand_off(chain: Chain, agent: str, *, folder: str | Path = ".", model: str = "") -> HandOff:
    """Convert a chain to a session of an agent (a name of TARGETS, such as `codex`) that works in a project folder, and
    fix what would keep it from resuming.

    `model`: for opencode, the provider and model to go on with. Raises OptionsError for an agent that cannot take over a session.
    """
    if agent not in TARGETS:
        raise OptionsError(f"{agent[:40]} cannot take over a session; choose {', '.join(TARGETS)}.")
    target, place = TARGETS[agent], Path(folder).resolve()
    if not place.is_dir():
        raise OptionsError(f"{place} is not a folder.")
    told = tuple(message for message in chain.messages if message.role != SYSTEM)
    if not told:
        raise Refused("There is no message to hand over.")
    is_own = chain.format == target.format
    options = {} if is_own else {"provider": target.provider} if target.provider else {"drop_reasoning": True}
    result = replace(chain, messages=told).convert(target.format, **options)
    session = NewSession(str(uuid.uuid4()), str(place), datetime.now(UTC), model)
    fixed = result.chain.run("repair", {"goal": target.provider or ANY_PROVIDER, "resumes": True})
    document = fixed.chain.to_bytes().decode("utf-8", "surrogatepass")
    content = target.write(document, session).encode("utf-8", "surrogatepass")
    warnings = (*result.warnings, *(row.reason for row in fixed.report), *fixed.warnings, *_unknown(chain, target))
    return HandOff(target, session, content, warnings, replace(result, chain=fixed.chain).verdicts)


def installed_path(target: Target, session: NewSession) -> Path:
    """Return where the agent looks for a session, as its environment variable says."""
    path = target.path(session)
    if not target.variable:
        return Path(path).resolve()
    from chainviz.core.sources.machine import Machine  # loads sqlite3, which most commands do without

    home = Machine.current().homes[0]
    folder = home.environment.get(target.variable) or home.path / target.home
    return Path(folder).expanduser() / path


def _unknown(chain: Chain, target: Target) -> Iterator[str]:
    """Yield what the other agent will not know, a sentence each."""
    instructions = sum(message.role == SYSTEM for message in chain.messages)
    if instructions:
        are = "is" if instructions == 1 else "are"
        yield f"{count_text(instructions, 'system message')} {are} left out: {target.label} sends its own instructions."
    names = list(dict.fromkeys(call.name for message in chain.messages for call in message.calls))
    if names and chain.format != target.format:
        more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
        named = ", ".join(visible(name)[:60] for name in names[:MOST_NAMED])
        yield f"{target.label} may not have the tools of these calls: {named}{more}. It sees the calls and results as history."
    yield f"{target.label} does not know the permissions, plans, undo points and background tasks of the earlier session."
