"""Rows of the audit log as a person asks for them: filters, and cells for the page and for files."""

from __future__ import annotations

import json
from collections.abc import Container, Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Any

from django.db.models import Q, QuerySet
from django.http import QueryDict
from django.utils.http import urlencode

from chainviz.accounts.audit.models import AuditRow
from chainviz.accounts.audit.words import act_label
from chainviz.accounts.models import Team, initials_of
from chainviz.web.formatting import csv_lines as csv
from chainviz.web.query_params import small_number

FILE = ("sha256", "bytes")
"""Facts of a download."""
FIELDS = ("number", "at", "who", "act", "outcome", "chain", "details", "previous", "digest")


@dataclass(frozen=True, slots=True)
class AuditFilter:
    q: str = ""
    """Number of a chain, or how a digest of a row or of a file begins."""
    act: str = ""
    who: str = ""
    outcome: str = ""
    since: date | None = None
    until: date | None = None

    @property
    def query(self) -> str:
        """The filter as the query of an address."""
        given = {"q": self.q, "act": self.act, "who": self.who, "outcome": self.outcome, "since": self.since, "until": self.until}
        return urlencode({name: str(value) for name, value in given.items() if value})

    def rows(self, team: Team) -> QuerySet[AuditRow]:
        rows = AuditRow.objects.filter(team=team)
        if self.q:
            rows = rows.filter(_matches(self.q))
        if self.act:
            rows = rows.filter(act__in=[act for act in _acts_of(team) if act_label(act) == act_label(self.act)])
        if self.who:
            rows = rows.filter(who_name__icontains=self.who)
        if self.outcome:
            rows = rows.filter(outcome=self.outcome)
        if self.since:
            rows = rows.filter(at__gte=_midnight(self.since))
        if self.until:
            rows = rows.filter(at__lt=_midnight(self.until) + timedelta(days=1))
        return rows


def read_filter(asked: QueryDict) -> AuditFilter:
    """Invalid values are left out."""
    words = {name: asked.get(name, "").replace("\0", "")[:100] for name in ("q", "act", "who", "outcome")}
    return AuditFilter(**words, since=_day(asked.get("since", "")), until=_day(asked.get("until", "")))


def _matches(asked: str) -> Q:
    digest = asked.strip().lower()
    of_row_or_file = Q(digest__startswith=digest) | Q(details__contains=f'"sha256": "{digest}')
    number = small_number(digest.removeprefix("chain").strip())
    return of_row_or_file if number is None else of_row_or_file | Q(chain_key=number)


def kinds_of_acts(team: Team) -> list[tuple[str, str]]:
    """An act for each label that its log holds, with the label, in the order of the labels."""
    by_label = {act_label(act): act for act in _acts_of(team)}
    return [(by_label[label], label) for label in sorted(by_label)]


def _acts_of(team: Team) -> QuerySet[AuditRow, str]:
    return AuditRow.objects.filter(team=team).order_by("-act").values_list("act", flat=True).distinct()


def _day(text: str) -> date | None:
    try:
        return date.fromisoformat(text)
    except ValueError:
        return None


def _midnight(day: date) -> datetime:
    return datetime(day.year, day.month, day.day, tzinfo=UTC)


def facts_text(row: AuditRow, left_out: Container[str] = ()) -> str:
    facts = ((name, value) for name, value in row.facts.items() if name not in left_out)
    return ", ".join(f"{name.removesuffix('_id').replace('_', ' ')} {_words_of(value)}" for name, value in facts)


def _words_of(value: Any) -> str:
    return " ".join(map(str, value)) if isinstance(value, list) else str(value)


@dataclass(frozen=True, slots=True)
class Entry:
    """A row as the page shows it."""

    row: AuditRow
    label: str
    name: str
    """Of the person; empty where nobody was signed in."""
    email: str
    facts: str
    """Without the digest and the size of a file."""

    @property
    def initials(self) -> str:
        return initials_of(self.name)


def entry_of(row: AuditRow) -> Entry:
    name, separator, email = row.who_name.removesuffix(">").rpartition(" <")  # a name may hold another “<”
    name, email = (name, email) if separator else (email, "")
    return Entry(row, act_label(row.act), name, email, facts_text(row, left_out=FILE))


def cells(row: AuditRow) -> dict[str, object]:
    return {
        "number": row.number,
        "at": row.at.astimezone(UTC).isoformat(),
        "who": row.who_name,
        "act": act_label(row.act),
        "outcome": row.outcome,
        "chain": row.chain_key,
        "details": row.facts,
        "previous": row.previous,
        "digest": row.digest,
    }


def json_lines(rows: Iterable[AuditRow]) -> Iterator[str]:
    for row in rows:
        yield json.dumps({**cells(row), "address": row.act}) + "\n"


def csv_lines(rows: Iterable[AuditRow]) -> Iterator[str]:
    values = ({**cells(row), "details": facts_text(row)} for row in rows)
    return csv.csv_lines(FIELDS, ([each[name] for name in FIELDS] for each in values))
