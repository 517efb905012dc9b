"""Rows of the audit log as a person asks for them: filters, and cells for the page and for files."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta

from django.db.models import QuerySet
from django.http import QueryDict
from django.utils.http import urlencode

from chainviz.accounts.audit.models import AuditRow
from chainviz.accounts.audit.words import act_label
from chainviz.accounts.models import Team
from chainviz.web.formatting import csv_lines as csv

FIELDS = ("number", "at", "who", "act", "outcome", "chain", "details", "previous", "digest")


@dataclass(frozen=True, slots=True)
class AuditFilter:
    act: str = ""
    who: str = ""
    outcome: str = ""
    since: date | None = None
    until: date | None = None

    @property
    def query(self) -> str:
        """The filter as the query of an address."""
        given = {"act": self.act, "who": self.who, "outcome": self.outcome, "since": self.since, "until": self.until}
        return urlencode({name: str(value) for name, value in given.items() if value})

    def rows(self, team: Team) -> QuerySet[AuditRow]:
        rows = AuditRow.objects.filter(team=team)
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
    words = {name: asked.get(name, "").replace("\0", "")[:100] for name in ("act", "who", "outcome")}
    return AuditFilter(**words, since=_day(asked.get("since", "")), until=_day(asked.get("until", "")))


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


def facts_text(row: AuditRow) -> str:
    return ", ".join(f"{name.removesuffix('_id').replace('_', ' ')} {value}" for name, value in row.facts.items())


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
