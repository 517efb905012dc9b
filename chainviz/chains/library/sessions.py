"""The sessions of the index that match a filter of the library. A session that a person has worked on is shown as a chain instead."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from datetime import timedelta
from functools import lru_cache, reduce
from typing import Any, TypeVar

from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils import timezone

from chainviz.accounts.models import Membership
from chainviz.chains.folders.choose_folders import beginning_of_files
from chainviz.chains.folders.opening import RUNNING
from chainviz.chains.library.agents import AgentView, agent_of_format, agent_view, formats_of_agent
from chainviz.chains.library.filter import Filter, bytes_of, day_of, end_of
from chainviz.chains.models import Chain, ChainQuerySet, WorkingCopy
from chainviz.chains.working_copies.kept import unused
from chainviz.sessions_index.models import Session, SessionDay, SessionError, SessionQuerySet, SessionRepeat, SessionTool, revision_of
from chainviz.store.prepared_query import PreparedQuery

T = TypeVar("T")
Days = TypeVar("Days", bound=QuerySet[Any])
MOST_STATES = 64
"""The number of states of libraries whose sums a process keeps."""
OF_SESSIONS = ("only_secrets", "only_sessions", "ending", "error", "repeated", "usage", "first_day", "last_day")
"""Fields of a filter that apply only to sessions of the index and to chains that came from them."""

HEALTH_WORDS = {
    "refused": "needs fixing", "secrets": "secrets found", "part": "not fully checked", "accepted": "accepted", "failed": "cannot be read",
    "unread": "not read yet",
}  # fmt: skip
"""Values of the filter `health`. A row has the first value that applies, as in its column."""
ENDING_WORDS = {"finished": "finished", "interrupted": "interrupted", "api-error": "stopped by an API error", "unrecorded": "not recorded"}
"""Values of the filter `ending`."""
USAGE_WORDS = {"unrecorded": "not recorded", "unpriced": "model without a list price"}
"""Values of the filter `usage`."""
LACKS_USAGE = {"unrecorded": Q(tokens=None) & ~Q(health=Session.Health.UNREAD), "unpriced": Q(cost=None, tokens__gt=0)}
"""The conditions for these values."""
_STATE_OF_VERDICT = {"rejected": "refused", "accepted": "accepted", "unchecked": "part"}


@dataclass(frozen=True)
class Library:
    """All rows of the library that a person may see."""

    chains: ChainQuerySet
    """The chains in the library."""
    sessions: SessionQuerySet
    """The sessions that are not shown as chains."""
    copies: ChainQuerySet
    """The chains of these sessions that were opened."""
    state: Hashable = None
    """A value that differs after every change of these sessions; None if it is not known."""

    def keep(self, name: str, work: Callable[[SessionQuerySet], T]) -> T:
        """Return what `work` finds out about all sessions, kept under a name until one of them changes."""
        return keep_result(self.state, name, lambda: work(self.sessions))


def keep_result(state: Hashable, name: str, work: Callable[[], T]) -> T:
    """Return what `work` returned the first time in this state of the sessions. It must not depend on the time of day."""
    if state is None:
        return work()
    found = _results_of(state)
    if name not in found:
        found[name] = work()
    value: T = found[name]
    return value


@lru_cache(maxsize=MOST_STATES)
def _results_of(state: Hashable) -> dict[str, Any]:
    return {}


def library_of(member: Membership) -> Library:
    chains = Chain.objects.visible_to(member).in_library()
    copies = WorkingCopy.objects.filter(Exists(Chain.objects.visible_to(member).filter(pk=OuterRef("chain"))))
    opened = dict(_opened(member.team_id))
    hidden = [copy.pk for copy in unused(copies).only("pk")] if opened else []
    shown = sorted(session for copy, session in opened.items() if session is not None and copy not in set(hidden))
    sessions = indexed_sessions(member)
    if shown:
        of_chains = copies.exclude(pk__in=hidden).exclude(session=None)
        sessions = sessions.exclude(pk__in=of_chains.values("session"))
    state = (member.team_id, member.may("files"), revision_of(member.team_id), tuple(shown))
    return Library(chains.exclude(pk__in=hidden), sessions, chains.filter(pk__in=hidden), state)


_opened = PreparedQuery[Any](lambda team: WorkingCopy.objects.filter(chain__team=team).values_list("pk", "session"))
"""Return the opened sessions of a team, each with the key of its chain."""


def indexed_sessions(member: Membership) -> SessionQuerySet:
    """Return the sessions that the library shows. A file in a folder that cannot be read is not one."""
    return Session.objects.visible_to(member).exclude(agent="", health=Session.Health.FAILED)


def agents_in(library: Library) -> list[AgentView]:
    """Return the agents of the filter, by name."""
    formats = library.chains.order_by().values_list("format", flat=True).distinct()
    of_sessions = library.keep("agents", lambda sessions: set(sessions.order_by().values_list("agent", flat=True).distinct()))
    names = {*of_sessions, *map(agent_of_format, formats)}
    return sorted(filter(None, map(agent_view, names)), key=lambda agent: agent.label.lower())


def fitting_sessions(sessions: SessionQuerySet, wanted: Filter, copies: ChainQuerySet) -> SessionQuerySet:
    """Return the sessions that match a filter. `copies` are their chains whose content matches the words."""
    if wanted.only_drafts or wanted.label:
        return sessions.none()
    at_least, at_most = bytes_of(wanted.larger), bytes_of(wanted.smaller)
    since, until = day_of(wanted.since), end_of(wanted.until)
    conditions = (
        (wanted.only_problems, Q(structure_problems__gt=0)),
        (wanted.is_running, Q(changed_at__gte=timezone.now() - timedelta(seconds=RUNNING))),
        (wanted.agent, Q(agent=wanted.agent) | Q(agent="", format__in=formats_of_agent(wanted.agent))),
        (wanted.health, health_of_sessions(wanted.health)),
        (wanted.format, Q(format=wanted.format)),
        (wanted.model, Q(model=wanted.model) | Q(pk__in=in_days(SessionDay.objects.filter(model=wanted.model), wanted).values("session"))),
        (wanted.problem, Q(pk__in=_breaking(wanted.problem).values("pk"))),
        (wanted.verdict, _judged(wanted.verdict)),
        (wanted.folder, in_project(wanted.folder) | Q(path__startswith=beginning_of_files(wanted.folder))),
        (at_least is not None, Q(size__gte=at_least or 0)),
        (at_most is not None, Q(size__lte=at_most or 0)),
        (since, Q(changed_at__gte=since)),
        (until, Q(changed_at__lt=until)),
    )
    found = sessions.filter(recorded(wanted), *(condition for is_asked, condition in conditions if is_asked))
    return found.filter(_words(wanted) | Q(copies__chain__in=copies.values("pk"))) if wanted.terms else found


def recorded(wanted: Filter) -> Q:
    """Return the condition for the part of a filter that only the index of sessions knows."""
    tools = SessionTool.objects.filter(name=wanted.tool) if wanted.tool else SessionTool.objects.all()
    conditions = (
        (wanted.only_errors, Q(pk__in=in_days(tools.filter(errors__gt=0), wanted).values("session"))),
        (wanted.tool and not wanted.repeated, Q(pk__in=in_days(tools, wanted).values("session"))),
        (wanted.only_secrets, Q(secrets__gt=0)),
        (wanted.ending, Q(ending="" if wanted.ending == "unrecorded" else wanted.ending)),
        (wanted.usage, LACKS_USAGE.get(wanted.usage, Q())),
        (wanted.error, Q(pk__in=SessionError.objects.filter(text=wanted.error).values("session"))),
        (wanted.repeated, Q(pk__in=_repeats(wanted).values("session"))),
        (wanted.first_day or wanted.last_day, _active(wanted)),
    )
    return reduce(Q.__and__, (condition for is_asked, condition in conditions if is_asked), Q())


def in_days(rows: Days, wanted: Filter) -> Days:
    """Select the rows of a table by day that are in the days of the filter."""
    first, last = day_of(wanted.first_day), day_of(wanted.last_day)
    rows = rows.filter(day__gte=first.date()) if first else rows
    return rows.filter(day__lte=last.date()) if last else rows


def _active(wanted: Filter) -> Q:
    """Select the sessions of the chosen days. A session without recorded times belongs to the day of its last change."""
    first, end = day_of(wanted.first_day), end_of(wanted.last_day)
    changed = Q(began_at=None) & (Q(changed_at__gte=first) if first else Q()) & (Q(changed_at__lt=end) if end else Q())
    return changed | Q(pk__in=in_days(SessionDay.objects.exclude(day=None), wanted).values("session"))


def _repeats(wanted: Filter) -> QuerySet[SessionRepeat]:
    rows = SessionRepeat.objects.all()
    rows = rows.filter(tool=wanted.tool) if wanted.tool else rows
    return rows if wanted.repeated == "1" else rows.filter(arguments=wanted.repeated)


def chains_of_sessions(wanted: Filter) -> Q:
    """Return the chains of sessions that match the part of a filter that only the index knows."""
    is_asked = any(getattr(wanted, name) for name in OF_SESSIONS)
    return Q(working_copy__session__in=Session.objects.filter(recorded(wanted))) if is_asked else Q()


HAS_SECRETS = Q(version=1, working_copy__session__secrets__gt=0)
"""The condition for a chain that still equals its session."""


def health_of_chains(health: str) -> Q:
    if health == "secrets":
        return HAS_SECRETS & ~Q(health=Session.Health.REFUSED)
    if health in (Session.Health.PART, Session.Health.ACCEPTED):
        return Q(health=health) & ~HAS_SECRETS
    return Q(health=None if health == "unread" else health)


def health_of_sessions(health: str) -> Q:
    if health == "secrets":
        return Q(secrets__gt=0) & ~Q(health=Session.Health.REFUSED)
    if health in (Session.Health.PART, Session.Health.ACCEPTED):
        return Q(health=health, secrets=0)
    return Q(health="" if health == "unread" else health)


def in_project(folder: str) -> Q:
    """Return the condition for a working folder and the folders below it."""
    root = folder.rstrip("/")
    return Q(project=folder) | Q(project=root) | Q(project__startswith=f"{root}/")


def _words(wanted: Filter) -> Q:
    """Return the condition for words in the title, project or path. The content of a session is searched only after it was opened."""
    found = Q()
    for term in wanted.terms:
        named = Q(title__icontains=term.text) | Q(project__icontains=term.text) | Q(path__icontains=term.text)
        found &= ~named if term.is_excluded else named
    return found


def _breaking(problem: str) -> SessionQuerySet:
    provider, _, rule = problem.rpartition(":")
    found = Session.objects.filter(problem_rows__rule=rule)
    return found.filter(provider=provider) if provider else found


def _judged(verdict: str) -> Q:
    """Return the condition for a verdict. A session is checked only against its own API."""
    provider, _, state = verdict.partition(":")
    return Q(provider=provider, health=_STATE_OF_VERDICT.get(state, "-"))
