"""The choice that the address of the overview states: a filter of the library, days up to today, and what charts are stacked by."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import date, timedelta
from urllib.parse import urlencode

from django.http import QueryDict
from django.urls import reverse

from chainviz.chains.library.filter import DEFAULT_ORDER, Filter, day_of, read_filter

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
