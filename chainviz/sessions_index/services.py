"""The interface of the index for pages: choose sources, read them in the background, and report progress.

A job reads sessions one at a time, latest changes first. Each row has the state of its session when it was read, so an interrupted job
continues where it stopped. The job ends early if another job is waiting; the next idle worker continues it.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import lru_cache

from django.conf import settings
from django.db.models import Count, F, Q, Sum
from django.utils import timezone

from chainviz.accounts.models import Membership, Team
from chainviz.core.errors import Refused
from chainviz.core.sources import FoundStore, find_stores, get_store
from chainviz.jobs import lease
from chainviz.jobs.models import Job
from chainviz.jobs.tasks import JobContext, start_job
from chainviz.sessions_index.listing import EDITION, fill_heads, list_source, read_session, unread_first
from chainviz.sessions_index.models import Revision, Session, Source, note_changes, revision_of

FIRST = 60
"""The number of rows whose titles are read before the page after a choice is shown."""
SECONDS = 10.0
"""The seconds between two checks for changed sessions while a page is open …"""
REST, MOST_SECONDS = 20, 60.0
"""… or this many times the duration of the last one, but at most MOST_SECONDS: a session that grows is read from its beginning again."""


@dataclass(frozen=True, slots=True)
class FoundAgent:
    """An agent whose sessions are on this machine."""

    agent: str
    label: str
    places: Sequence[FoundStore]

    @property
    def count(self) -> int | None:
        """The number of sessions, counted by file names; None for a database."""
        counts = [found.count for found in self.places]
        return None if None in counts else sum(count or 0 for count in counts)


@dataclass(frozen=True, slots=True)
class Progress:
    read: int = 0
    total: int = 0
    refused: int = 0
    failed: int = 0
    """The number of sessions that could not be read."""
    bytes: int = 0
    bytes_read: int = 0
    is_running: bool = False
    """A job is reading, or waiting to read, the remaining sessions."""
    is_stopped: bool = False
    faults: Sequence[str] = ()
    """A sentence for each source that cannot be listed."""

    @property
    def is_done(self) -> bool:
        return self.read == self.total and not self.is_running

    @property
    def has_more(self) -> bool:
        """Whether sessions are still to be read, so that pages show the progress."""
        return self.read < self.total

    @property
    def percent(self) -> int:
        """The progress in percent of bytes, because a large session takes longer."""
        return 100 * self.bytes_read // self.bytes if self.bytes else 100 * self.read // max(1, self.total)


def may_look_around() -> bool:
    """Return True if chainviz may search for the sessions of this machine's agents. In team mode the operator names the
    sources."""
    return bool(settings.CHAINVIZ.mode == "local")


def find_agents() -> list[FoundAgent]:
    """Return the agents with sessions on this machine, found by file names only. An agent with a database is included, although the
    database may have no sessions."""
    if not (may_look_around() and settings.CHAINVIZ.discovery):
        return []
    places: dict[str, list[FoundStore]] = {}
    for found in find_stores():
        if found.count != 0:
            places.setdefault(found.store.agent, []).append(found)
    return [FoundAgent(agent, found[0].store.label, found) for agent, found in places.items()]


def choose_sources(member: Membership, agents: Collection[str]) -> Job | None:
    """Make these agents the sources of the member's team, in addition to its folders. List their sessions, the newest with titles, and
    start the reading. The sessions of agents that are no longer chosen are removed.

    Raises Refused in team mode, DocumentError for an unknown agent.
    """
    wanted = _known(agents)
    Source.objects.filter(team=member.team_id).exclude(agent="").exclude(agent__in=wanted).delete()
    return add_agents(member.team, wanted)


def add_agents(team: Team, agents: Collection[str]) -> Job | None:
    """Add agents to the sources, and start to read their sessions like `choose_sources`."""
    for agent in _known(agents):
        source, _ = Source.objects.get_or_create(team=team, agent=agent, path="", pattern="")
        list_source(source)
    job = go_on(team)
    untitled = Session.objects.filter(team=team, read_state="", title="", in_database=False)
    fill_heads(untitled.select_related("source").order_by("-changed_at")[:FIRST])
    return job


def _known(agents: Collection[str]) -> list[str]:
    if not may_look_around():
        raise Refused("In team mode the operator of the server names the sources.")
    return sorted({get_store(agent).agent for agent in agents})


def choose_folder(team: Team, path: str, pattern: str = "") -> Source:
    """Add a folder or a database as a source. The next scan lists its sessions."""
    source, _ = Source.objects.get_or_create(team=team, agent="", path=path, pattern=pattern)
    return source


def forget_folder(team: Team, path: str, pattern: str = "") -> None:
    Source.objects.filter(team=team, agent="", path=path, pattern=pattern).delete()


def sources_of(team: Team) -> list[Source]:
    return list(Source.objects.filter(team=team).order_by("agent", "path", "pattern"))


def has_chosen(team: Team) -> bool:
    return bool(revision_of(team.pk))


def scan(team: Team) -> Job | None:
    """Start a job that reads changed sessions, and return it; None if one is already running, or there is no source."""
    if not may_look_around():
        _follow_settings(team)
    return start_scan(team.pk) if has_chosen(team) else None


def _follow_settings(team: Team) -> None:
    """Make the folders and databases in the server's settings the sources of a team. Used in team mode."""
    named = [str(path) for path in settings.CHAINVIZ.folder_paths]
    Source.objects.filter(team=team).exclude(agent="", path__in=named, pattern="").delete()
    for path in named:
        choose_folder(team, path)


def scan_if_due(team: Team) -> Job | None:
    """Scan if the last listing is old enough. In team mode, also scan if nothing was listed yet, because nobody chooses sources there."""
    is_new = not may_look_around() and bool(settings.CHAINVIZ.folder_paths) and not has_chosen(team)
    return scan(team) if is_new or is_due(team.pk) else None


def progress_of(team: Team) -> Progress:
    revision = revision_of(team.pk)
    sums = _progress_sums(team.pk, revision)
    return Progress(
        read=sums["total"] - sums["left"],
        total=sums["total"],
        refused=sums["refused"],
        failed=sums["failed"],
        bytes=sums["bytes"],
        bytes_read=sums["bytes"] - sums["bytes_left"],
        is_running=bool(sums["left"]) and any(job.args.get("team") == team.pk for job in _jobs()),
        is_stopped=bool(sums["left"]) and Source.objects.filter(team=team, is_stopped=True).exists(),
        faults=_faults(team.pk, revision),
    )


@lru_cache(maxsize=64)
def _faults(team: int, revision: Revision) -> tuple[str, ...]:
    return tuple(Source.objects.filter(team=team).exclude(sentence="").order_by("pk").values_list("sentence", flat=True))


@lru_cache(maxsize=64)
def _progress_sums(team: int, revision: Revision) -> dict[str, int]:
    is_unread = ~Q(read_state=F("state"))
    return Session.objects.filter(team=team).aggregate(
        total=Count("pk"),
        left=Count("pk", filter=is_unread),
        bytes=Sum("size", default=0),
        bytes_left=Sum("size", filter=is_unread, default=0),
        refused=Count("pk", filter=Q(health=Session.Health.REFUSED)),
        failed=Count("pk", filter=Q(health=Session.Health.FAILED)),
    )


def look_again() -> None:
    """Prepare the index when a server starts: its worker lists all sources once, and reads sessions that changed or were read by an older
    release."""
    Source.objects.update(listed_at=None)
    Session.objects.exclude(Q(rules=EDITION) | Q(read_state="")).update(read_state="")
    note_changes()


def stop(team: Team) -> None:
    """Stop reading the sources of a team until somebody continues. Read sessions stay."""
    Source.objects.filter(team=team).update(is_stopped=True)
    for job in _jobs():
        if job.args.get("team") == team.pk:
            lease.cancel(job)


def go_on(team: Team) -> Job | None:
    Source.objects.filter(team=team).update(is_stopped=False)
    return scan(team)


def _jobs() -> list[Job]:
    return list(Job.objects.unfinished().filter(function=SCAN))


SCAN = "scan-sessions"
HEADS = 100
"""The number of sessions whose beginnings are read at once."""


def scan_sessions(context: JobContext, team: int) -> int:
    """Read the sessions of a team. Return the number of sessions read."""
    for source in Source.objects.filter(team=team):
        list_source(source)
        context.report(0, "Looking for sessions")
    _show_heads(context, team)
    waiting = list(unread_first(team))
    for place, key in enumerate(waiting):
        context.report(place / len(waiting), f"Session {place + 1:,} of {len(waiting):,}")
        row = Session.objects.select_related("source").filter(pk=key).first()
        if row is not None:
            read_session(row)
        if Job.objects.filter(state=Job.State.QUEUED).exists():
            return place + 1
    return len(waiting)


def _show_heads(context: JobContext, team: int) -> None:
    """Read the titles of all sessions first, so that the rows of a page can be told apart before the sessions are read."""
    rows = Session.objects.filter(team=team, read_state="", title="", in_database=False, source__is_stopped=False)
    keys = list(rows.order_by("-changed_at").values_list("pk", flat=True))
    for start in range(0, len(keys), HEADS):
        context.report(0, "Reading titles")
        fill_heads(Session.objects.select_related("source").filter(pk__in=keys[start : start + HEADS]))


def start_scan(team: int) -> Job | None:
    """Start the job for a team, and delete its older ones. Return None if one is already running."""
    jobs = [job for job in Job.objects.filter(function=SCAN) if job.args.get("team") == team]
    if any(not job.is_finished for job in jobs):
        return None
    Job.objects.filter(pk__in=[job.pk for job in jobs]).delete()
    return start_job(SCAN, owner=None, team=team)


def go_on_where_unread() -> Job | None:
    """Start a job for unread sessions and sources that were never listed. Idle workers call this."""
    unread = Session.objects.unread().filter(source__is_stopped=False).order_by("team").values_list("team", flat=True)
    unlisted = Source.objects.filter(listed_at=None).order_by("team").values_list("team", flat=True)
    team = unread.first() or unlisted.first()
    return None if team is None else start_scan(team)


def is_due(team: int) -> bool:
    """Return True if the sources were not listed within the pause."""
    listed = list(Source.objects.filter(team=team).values_list("listed_at", flat=True))
    now = timezone.now()
    past = [math.inf if at is None else (now - at).total_seconds() for at in listed]
    return any(seconds > SECONDS for seconds in past) and any(seconds > _pause(team) for seconds in past)


def _pause(team: int) -> float:
    """Return the seconds to wait after a check: longer after one that took long."""
    jobs = [job for job in Job.objects.filter(function=SCAN).exclude(finished_at=None) if job.args.get("team") == team]
    took = max(((job.finished_at - job.created_at).total_seconds() for job in jobs if job.finished_at), default=0)
    return min(MOST_SECONDS, max(SECONDS, REST * took))
