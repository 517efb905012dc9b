"""One list of chains and sessions, which are counted, summed, sorted and paginated together although they are in two tables."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from django.db.models import Case, Count, F, IntegerField, Max, Q, QuerySet, Sum, Value, When, Window
from django.db.models.functions import Coalesce, RowNumber
from django.utils import timezone

from chainviz.chains.folders.opening import RUNNING
from chainviz.chains.library.columns import BY_NAME, Column
from chainviz.chains.library.sessions import keep_result
from chainviz.chains.models import Chain
from chainviz.sessions_index.models import SessionQuerySet

CHAIN, SESSION = 0, 1
PER_GROUP = 14
"""The number of rows of a project that are shown at first."""
HEALTH = Case(
    When(health="refused", then=3),
    When(secrets__gt=0, then=2),
    When(health__in=["part", "failed"], then=1),
    When(health="accepted", then=0),
    default=None,
    output_field=IntegerField(),
)
"""The order of a session's health, with the worst first in descending order."""
HEALTH_OF_CHAIN = Case(When(health="refused", then=3), When(health="part", then=1), default=0, output_field=IntegerField())
PROJECT_OF_CHAIN = Coalesce("project", Value(""))


_SUMMED = ("count", "messages", "tokens", "cost", "duration", "unrecorded", "refused", "running")


class Key(NamedTuple):
    kind: int
    pk: int


@dataclass(frozen=True)
class Totals:
    """The totals of a filter or of a project."""

    count: int = 0
    messages: int = 0
    tokens: int = 0
    cost: int = 0
    duration: int = 0
    unrecorded: int = 0
    """The number of rows without recorded tokens, which the sums leave out."""
    refused: int = 0
    running: int = 0
    """The number of sessions that have just changed."""
    newest: datetime | None = None

    def __add__(self, other: Totals) -> Totals:
        newest = max(filter(None, (self.newest, other.newest)), default=None)
        return Totals(**{name: getattr(self, name) + getattr(other, name) for name in _SUMMED}, newest=newest)


@dataclass(frozen=True)
class Entries:
    """The chains and sessions that match a filter."""

    chains: QuerySet[Chain]
    sessions: SessionQuerySet
    state: Hashable = None
    """The state of the library if these are all its sessions; None if a filter applies."""

    def count(self) -> int:
        return self.chains.count() + self.sessions.count()

    def totals(self) -> Totals:
        sessions = keep_result(self.state, "totals", lambda: Totals(**_sums(self.sessions.aggregate(**_totals()))))
        running = _running(self.sessions).count() if _may_run(sessions) else 0
        return Totals(**_sums(self.chains.aggregate(**_totals()))) + replace(sessions, running=running)

    def by_project(self) -> dict[str, Totals]:
        """Return the totals of each project. The project with the newest row comes first."""
        found = dict(keep_result(self.state, "projects", lambda: _by_project(self.sessions)))
        for project, totals in _by_project(self.chains).items():
            found[project] = found.get(project, Totals()) + totals
        if any(map(_may_run, found.values())):
            for project in set(found).intersection(running := list(_running(self.sessions).values_list("project", flat=True))):
                found[project] = replace(found[project], running=running.count(project))
        return dict(sorted(found.items(), key=lambda item: item[1].newest or timezone.now(), reverse=True))

    def keys(self, order: str, start: int, stop: int) -> list[Key]:
        """Return one page in the order of a column. A minus before the name means descending."""
        column, is_falling = BY_NAME[order.removeprefix("-")], order.startswith("-")
        first = F("first").desc(nulls_last=True) if is_falling else F("first").asc(nulls_last=True)
        parts = [self._sortable(CHAIN, column), self._sortable(SESSION, column)]
        both = parts[0].union(parts[1], all=True).order_by(first, "-second", "-pk")
        return [Key(kind, pk) for kind, pk, *_ in both[start:stop]]

    def newest_of(self, projects: Sequence[str]) -> dict[str, list[Key]]:
        """Return the first rows of some projects, by time."""
        found: dict[str, list[tuple[datetime, Key]]] = {project: [] for project in projects}
        sessions = _ranked(self.sessions.filter(project__in=projects).annotate(at=F("project")))
        named = Q(project__in=projects) | (Q(project=None) if "" in projects else Q())
        chains = _ranked(self.chains.filter(named).annotate(at=PROJECT_OF_CHAIN))
        for kind, rows in ((SESSION, sessions), (CHAIN, chains)):
            for project, pk, changed in rows:
                found[project].append((changed, Key(kind, pk)))
        return {project: [key for _, key in sorted(rows, reverse=True)[:PER_GROUP]] for project, rows in found.items()}

    def _sortable(self, kind: int, column: Column) -> Any:
        rows: Any = self.chains if kind == CHAIN else self.sessions
        return (
            rows.order_by()
            .annotate(kind=Value(kind), first=sort_expression(column, is_session=kind == SESSION), second=F("changed_at"))
            .values_list("kind", "pk", "first", "second")
        )


def sort_expression(column: Column, *, is_session: bool) -> Any:
    if column.name == "health":
        return HEALTH if is_session else HEALTH_OF_CHAIN
    if not is_session:
        return F(column.fields[0])
    if column.session_field:
        return F(column.session_field)
    field: Any = Chain._meta.get_field(column.fields[0])
    return Value(None, output_field=type(field)())


def _by_project(rows: Any) -> dict[str, Totals]:
    """Return the totals of each project, without the number of running sessions."""
    found = dict[str, Totals]()
    for each in rows.order_by().values(at=F("project")).annotate(**_totals()):
        project = each.pop("at") or ""
        found[project] = found.get(project, Totals()) + Totals(**_sums(each))
    return found


def _running(sessions: SessionQuerySet) -> SessionQuerySet:
    return sessions.filter(changed_at__gte=timezone.now() - timedelta(seconds=RUNNING)).order_by()


def _may_run(totals: Totals) -> bool:
    """Return True if one of the rows has just changed."""
    return totals.newest is not None and totals.newest >= timezone.now() - timedelta(seconds=RUNNING)


def _totals() -> dict[str, Any]:
    return {
        "count": Count("pk"),
        "total_messages": Sum("messages", default=0),
        "total_tokens": Sum("tokens", default=0),
        "total_cost": Sum("cost", default=0),
        "total_duration": Sum("duration", default=0),
        "unrecorded": Count("pk", filter=Q(tokens=None)),
        "refused": Count("pk", filter=Q(health="refused")),
        "newest": Max("changed_at"),
    }


def _sums(row: dict[str, Any]) -> dict[str, Any]:
    return {name.removeprefix("total_"): value for name, value in row.items()}


def _ranked(rows: Any) -> Any:
    rank = Window(RowNumber(), partition_by=F("at"), order_by=F("changed_at").desc())
    return rows.order_by().annotate(rank=rank).filter(rank__lte=PER_GROUP).values_list("at", "pk", "changed_at")
