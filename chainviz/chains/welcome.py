"""The first page: the sessions that agents keep on this machine, seen by the names of their files alone, and other ways to begin."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_http_methods

from chainviz.accounts.models import member_of
from chainviz.accounts.permissions import requires
from chainviz.chains.folders.choose_folders import with_home
from chainviz.chains.uploads.tray import tray_of
from chainviz.core.databases.contract import Database
from chainviz.core.errors import DocumentError
from chainviz.core.sources import STORES, FoundStore
from chainviz.core.sources.store_kinds import FileStore
from chainviz.sessions_index import services
from chainviz.sessions_index.services import FoundAgent
from chainviz.web.http import see_other

DAYS, BARS = 30, 15
MOST_PLACES = 8
"""The most places that are listed if nothing was found."""


@dataclass(frozen=True, slots=True)
class AgentRow:
    """The facts that the names, sizes and dates of an agent's files show."""

    agent: str
    label: str
    places: tuple[str, ...]
    is_database: bool
    sessions: int | None
    """The number of sessions, or None for a database that was not read."""
    projects: int
    size: int
    changed: datetime | None
    days: tuple[int, ...]
    """For each two days of the last 30, the number of sessions that last changed then, the oldest first."""
    error: str = ""
    """The reason why its store, or a part of it, could not be read."""

    @property
    def bars(self) -> Iterator[tuple[int, float, float]]:
        """Yield the left edge, the top and the height of each bar, in a picture of 60 by 16."""
        most = max(self.days, default=0) or 1
        for place, count in enumerate(self.days):
            height = max(1.0, 15 * count / most)
            yield 4 * place, round(16 - height, 1), round(height, 1)


@requires("files")
@require_http_methods(["GET", "HEAD", "POST"])
def welcome(request: HttpRequest) -> HttpResponse:
    """List the agents of this machine; make the ticked ones the sources of the library.

    In team mode the operator of the server names the sources, and nobody is shown the machine.
    """
    if not services.may_look_around():
        return see_other("chains:library")
    member = member_of(request)
    if request.method == "POST":
        services.choose_sources(member, [each.agent for each in services.find_agents() if each.agent in request.POST.getlist("agent")])
        return see_other("chains:library")
    faults = {source.agent: source.sentence for source in services.sources_of(member.team)}
    found = [replace(row, error=faults.get(row.agent, "")) for row in agent_rows(services.find_agents())]
    context = {
        "rows": found,
        "has_chosen": bool(faults),
        "chosen": set(faults) or {row.agent for row in found},
        "sessions": sum(row.sessions or 0 for row in found),
        "has_databases": any(row.is_database for row in found),
        "size": sum(row.size for row in found),
        "looked_at": list(usual_places()),
        "tray": tray_of(member),
    }
    return render(request, "chains/welcome/welcome.html", context)


def is_first_page(request: HttpRequest) -> bool:
    """Return True if the library, which has no chains, should show this page first."""
    member = member_of(request)
    return services.may_look_around() and member.may("files") and not services.has_chosen(member.team)


def agent_rows(agents: Sequence[FoundAgent]) -> list[AgentRow]:
    rows = [_row(each) for each in agents]
    return sorted(rows, key=lambda row: (-(row.sessions or 0), -row.size))


def _row(agent: FoundAgent) -> AgentRow:
    kind: Database | None = agent.places[0].store.kind
    files = [] if kind else [*_files(agent.places)]
    states = [path.stat() for place in agent.places if kind for path in _with_log(place.place)]
    sizes = [size for _, size, _ in files] or [state.st_size for state in states]
    times = [modified for _, _, modified in files] or [state.st_mtime for state in states]
    return AgentRow(
        agent=agent.agent,
        label=agent.label,
        places=tuple(with_home(place.place) for place in agent.places),
        is_database=kind is not None,
        sessions=None if kind else len(files),
        projects=len({path for path, _, _ in files}) if agent.places[0].store.in_projects else 0,
        size=sum(sizes),
        changed=datetime.fromtimestamp(max(times), UTC) if times else None,
        days=() if kind else _days([modified for _, _, modified in files]),
    )


def _files(places: Sequence[FoundStore]) -> Iterator[tuple[str, int, float]]:
    """Yield the project's folder, the size and the time of the last change of each session."""
    for found in places:
        try:
            for state in found.store.states(found.place):
                yield state.path.relative_to(found.place).parts[0], state.size, state.modified / 1e9
        except (DocumentError, ValueError):
            continue


def _with_log(path: Path) -> list[Path]:
    return [each for each in (path, path.with_name(f"{path.name}-wal")) if each.is_file()]


def _days(times: Sequence[float]) -> tuple[int, ...]:
    """Count the times in each two days of the last 30."""
    now, counts = timezone.now().timestamp(), [0] * BARS
    for time in times:
        place = int((now - time) / 86_400 * BARS / DAYS)
        if 0 <= place < BARS:
            counts[BARS - 1 - place] += 1
    return tuple(counts)


def usual_places() -> Iterator[tuple[str, str]]:
    """Yield the label and the usual place of the first agents, for a page that found none."""
    words = {"{home}": "~", "{data}": "~/.local/share", "{apps}": "~/.config", "{local}": "~/.local/share"}
    for store in [store for store in STORES if isinstance(store, FileStore)][:MOST_PLACES]:
        usual = store.kept_at[0].usual
        yield store.label, next((usual.replace(word, folder) for word, folder in words.items() if usual.startswith(word)), usual)
