"""Sums over the index of sessions: what the cards of the overview show, for the choice that the address states.

A choice is a filter of the library, days up to today, and what charts are stacked by. Only what sessions record is counted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from typing import Any
from urllib.parse import urlencode

from django.db.models import BigIntegerField, Count, F, FloatField, Func, Min, Q, QuerySet, Sum, Window
from django.db.models.functions import Cast, Coalesce
from django.http import QueryDict
from django.urls import reverse

from chainviz.accounts.models import Membership
from chainviz.chains.library.filter import DEFAULT_ORDER, Filter, day_of, read_filter
from chainviz.chains.library.listing import all_fitting_sessions
from chainviz.chains.library.sessions import LACKS_USAGE, in_days
from chainviz.sessions_index.models import Session, SessionDay, SessionError, SessionProblem, SessionQuerySet, SessionRepeat, SessionTool

SPANS = {"7d": 7, "30d": 30, "90d": 90}
"""The numbers of days that buttons offer, up to today."""
USUAL = "30d"
ALL = "all"
FIELDS = ("agent", "folder", "model", "from", "to")
DAY = timedelta(days=1)
STACKS = {"model": "Model", "agent": "Agent", "project": "Project"}


@dataclass(frozen=True, slots=True)
class Choice:
    today: date
    filter: Filter
    """The filter for the counted sessions, including the days."""
    since: str = USUAL
    """A name of SPANS, or ALL; "" if the filter contains the days."""
    by: str = "model"

    @property
    def begins(self) -> date | None:
        """The first day that is counted; None for all."""
        return _date(self.filter.first_day)

    @property
    def ends(self) -> date:
        return _date(self.filter.last_day) or self.today

    @property
    def before(self) -> Choice | None:
        """The period of equal length before this one, for comparison; None if all days are counted."""
        if self.begins is None:
            return None
        first, last = self.begins - (self.ends - self.begins) - DAY, self.begins - DAY
        return replace(self, since="", filter=replace(self.filter, first_day=str(first), last_day=str(last)))

    @property
    def wider(self) -> Iterator[Choice]:
        """Yield the same choice for the spans that are longer than the usual one."""
        names = [*SPANS, ALL]
        for name in names[names.index(USUAL) + 1 :]:
            days = SPANS.get(name)
            yield replace(self, since=name, filter=replace(self.filter, first_day=str(_first_of(self.today, days)) if days else ""))

    def address(self, **changes: str) -> str:
        """Return the query of this choice with changes; "" for the usual one."""
        days = {"from": "", "to": "", "since": self.since if self.since != USUAL else ""} if self.since else {}
        values = {**self.filter.values, **days, "by": self.by if self.by != "model" else "", **changes}
        return f"?{urlencode({name: value for name, value in values.items() if value})}".rstrip("?") or "?"

    def library(self, **more: str) -> str:
        """Return the library with the sessions that are counted; `more` narrows its filter."""
        return f"{reverse('chains:library')}{self.filter.address(sessions='1', **more)}"

    @property
    def hidden(self) -> dict[str, str]:
        """The parts of the address that the page has no field for."""
        return {name: value for name, value in self.filter.values.items() if name not in FIELDS}


def read_choice(asked: QueryDict | Mapping[str, str], today: date) -> Choice:
    """Read an address; what it says wrongly is as if it did not say it."""
    filter = read_filter(asked)
    first, last, since = _date(filter.first_day), _date(filter.last_day), str(asked.get("since", ""))
    if since in (*SPANS, ALL):
        filter = replace(filter, since="")
    else:
        since = "" if first or last else USUAL
    if since:
        first, last = _first_of(today, SPANS[since]) if since in SPANS else None, None
    elif first and last and first > last:
        first, last = last, first
    filter = replace(filter, first_day=str(first or ""), last_day=str(min(last, today) if last else ""), order=DEFAULT_ORDER)
    by = asked.get("by", "")
    return Choice(today, filter, since, by if by in STACKS else "model")


def _first_of(today: date, days: int) -> date:
    return today - (days - 1) * DAY


def _date(text: str) -> date | None:
    day = day_of(text)
    return day.date() if day else None


LISTED = 6
"""The number of rows of a card."""
FEWEST_CALLS = 10
"""A tool with fewer calls has no error rate."""
NEAR = 0.7
"""The share of the context window from which a session counts as near the limit."""
MOST_NAMES = 300
"""The most projects and models to choose from."""
NAMES = ("agent", "project", "model")
BYTES_PER_TOKEN = 4


@dataclass(frozen=True, slots=True)
class Totals:
    sessions: int = 0
    with_tokens: int = 0
    duration: int = 0
    """The duration in milliseconds."""
    refused: int = 0
    secrets: int = 0
    without_usage: int = 0
    without_price: int = 0
    """The number of sessions with tokens of a model without a list price."""
    health: dict[str, int] = field(default_factory=dict)
    """Sessions by health; those that are accepted and have secrets as `secrets`."""
    endings: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class DayValues:
    cost: dict[tuple[date, str], int]
    """The cost by day and series, in millionths of a dollar."""
    tokens: dict[tuple[date, str], int]
    sums: dict[str, int]
    """The totals of `cost`, `input`, `cached` and `output` over all days."""
    sums_before: dict[str, int]
    """The same of the period before."""


def sessions_of(member: Membership, choice: Choice) -> SessionQuerySet:
    return all_fitting_sessions(choice.filter, member)


def sessions_of_all_days(member: Membership, choice: Choice) -> SessionQuerySet:
    """Return the same sessions without asking for days: for tables that are asked by day anyway, which is quicker."""
    return all_fitting_sessions(replace(choice.filter, first_day="", last_day=""), member)


def count_and_duration(sessions: SessionQuerySet) -> tuple[int, int]:
    """Return the number of sessions and their duration in milliseconds."""
    found = sessions.aggregate(number=Count("pk"), time=Sum("duration", default=0))
    return found["number"], found["time"]


def totals(sessions: SessionQuerySet) -> Totals:
    """Sum over sessions by health and ending, in one query."""
    groups = (
        sessions.order_by()
        .values("health", "ending")
        .annotate(
            number=Count("pk"),
            with_tokens=Count("pk", filter=Q(tokens__gt=0)),
            time=Sum("duration", default=0),
            with_secrets=Count("pk", filter=Q(secrets__gt=0)),
            without_usage=Count("pk", filter=LACKS_USAGE["unrecorded"]),
            without_price=Count("pk", filter=LACKS_USAGE["unpriced"]),
        )
    )
    sums, health, endings = Counter[str](), Counter[str](), Counter[str]()
    for row in groups:
        is_refused = row["health"] == Session.Health.REFUSED
        secret = 0 if is_refused else row["with_secrets"]
        health.update({row["health"] or "unread": row["number"] - secret, "secrets": secret})
        endings[row["ending"] or "unrecorded"] += row["number"]
        sums.update({name: row[name] for name in ("number", "with_tokens", "time", "with_secrets", "without_usage", "without_price")})
    return Totals(
        sessions=sums["number"],
        with_tokens=sums["with_tokens"],
        duration=sums["time"],
        refused=health[Session.Health.REFUSED],
        secrets=sums["with_secrets"],
        without_usage=sums["without_usage"],
        without_price=sums["without_price"],
        health=dict(health),
        endings=dict(endings),
    )


def day_values(sessions: SessionQuerySet, choice: Choice) -> DayValues:
    """Return cost and tokens by day and by what the charts are stacked by, and the sums of the period before, in one query."""
    names = {"model": "model", "agent": "session__agent", "project": "session__project"}
    first = choice.before.filter.first_day if choice.before else ""
    rows = days_of(sessions, replace(choice, filter=replace(choice.filter, first_day=first)))
    sums = (
        rows.values("day", name=F(names[choice.by]))
        .order_by()
        .annotate(money=Coalesce(Sum("cost"), 0), into=Sum("input"), cache=Sum("cached"), out=Sum("output"))
    )
    found = DayValues({}, {}, *(dict.fromkeys(("cost", "input", "cached", "output"), 0) for _ in range(2)))
    for row in sums:
        day = row["day"]
        is_before = day is not None and choice.begins is not None and day < choice.begins
        of_period = found.sums_before if is_before else found.sums
        for name, value in (("cost", row["money"]), ("input", row["into"]), ("cached", row["cache"]), ("output", row["out"])):
            of_period[name] += value
        if day is not None and not is_before:
            key = (day, row["name"] or "not recorded")
            found.cost[key] = found.cost.get(key, 0) + row["money"]
            found.tokens[key] = found.tokens.get(key, 0) + row["into"] + row["out"]
    return found


def days_of(sessions: SessionQuerySet, choice: Choice) -> QuerySet[SessionDay]:
    found = SessionDay.objects.filter(session__in=sessions)
    return in_days(found.filter(model=choice.filter.model) if choice.filter.model else found, choice.filter)


def first_day(sessions: SessionQuerySet, choice: Choice) -> date:
    """Return the first day of the charts."""
    return choice.begins or days_of(sessions, choice).aggregate(first=Min("day"))["first"] or choice.ends


def problems(sessions: SessionQuerySet) -> list[dict[str, Any]]:
    """Return the rules that refused sessions break, and how many sessions break each."""
    rows = SessionProblem.objects.filter(session__in=sessions.refused())
    found = rows.values("rule").annotate(number=Count("session"), first=Min("text")).order_by("-number", "rule")
    return [dict(row) for row in found]


def tools(sessions: SessionQuerySet, choice: Choice) -> list[dict[str, Any]]:
    """Return all tools with their calls, errors and bytes of results."""
    rows = in_days(SessionTool.objects.filter(session__in=sessions), choice.filter)
    found = rows.values("name").annotate(number=Sum("calls"), faults=Sum("errors"), size=Sum("bytes"))
    return [dict(row) for row in found.order_by("-size", "name")]


def tools_by_errors(found: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return tools that were called often enough, the one with the largest share of errors first."""
    often = [row for row in found if row["number"] >= FEWEST_CALLS and row["faults"]]
    return sorted(often, key=lambda row: -row["faults"] / row["number"])[:LISTED]


def errors(sessions: SessionQuerySet) -> list[dict[str, Any]]:
    """Return equal error texts across sessions, the one in most sessions first."""
    rows = SessionError.objects.filter(session__in=sessions).values("text")
    found = rows.annotate(
        number=Sum("count"), sessions=Count("session", distinct=True), tools=Count("tool", distinct=True), tool=Min("tool")
    )
    return [dict(row) for row in found.order_by("-sessions", "-number", "text")[:LISTED]]


def repeats(sessions: SessionQuerySet) -> tuple[list[dict[str, Any]], dict[str, int]]:
    """Return calls that were made again with the same result, those with most bytes first, and how many there are in all."""
    rows = SessionRepeat.objects.filter(session__in=sessions).values("tool", "arguments")
    found = rows.annotate(number=Sum("count"), size=Sum("bytes"), sessions=Count("session", distinct=True)).annotate(
        all_numbers=Window(_OverAll("number")), all_sizes=Window(_OverAll("size"))
    )
    listed = [{**row, "tokens": row["size"] // BYTES_PER_TOKEN} for row in found.order_by("-size", "-number")[:LISTED]]
    whole = listed[0] if listed else {"all_numbers": 0, "all_sizes": 0}
    return listed, {"number": whole["all_numbers"], "tokens": whole["all_sizes"] // BYTES_PER_TOKEN}


class _OverAll(Func):
    """The sum of a column over all rows of a grouped query."""

    function = "SUM"
    window_compatible = True
    output_field = BigIntegerField()


def near_window(sessions: SessionQuerySet) -> list[Session]:
    near = sessions.filter(window__gt=0, context__gte=F("window") * NEAR)
    share = Cast(F("context"), FloatField()) / Cast(F("window"), FloatField())
    return _first(near.order_by(share.desc()))


def most_expensive(sessions: SessionQuerySet) -> list[Session]:
    return _first(sessions.filter(cost__gt=0).order_by("-cost"))


def _first(sessions: SessionQuerySet) -> list[Session]:
    """Return the first sessions of an order, which is found without reading their rows."""
    keys = list(sessions.values_list("pk", flat=True)[:LISTED])
    found = Session.objects.in_bulk(keys)
    return [found[key] for key in keys if key in found]


def names_of(member: Membership) -> dict[str, list[str]]:
    """Return the agents, projects and models that can be chosen."""
    rows = list(Session.objects.visible_to(member).values_list("agent", "project", "model").distinct().order_by())
    columns = zip(*rows, strict=True) if rows else [(), (), ()]
    found = {name: sorted(set(column) - {""}, key=str.casefold) for name, column in zip(NAMES, columns, strict=True)}
    return {name: values[:MOST_NAMES] for name, values in found.items()}
