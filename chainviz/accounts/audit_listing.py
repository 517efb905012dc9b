"""Rows of the audit log for a person: filters, and cells for the page and for files."""

from __future__ import annotations

import json
from collections.abc import Container, Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Any

from django.db.models import Q, QuerySet
from django.http import Http404, HttpRequest, HttpResponse, QueryDict, StreamingHttpResponse
from django.shortcuts import render
from django.utils.http import urlencode
from django.views.decorators.http import require_safe

from chainviz.accounts.audit import OUTCOMES, first_fault
from chainviz.accounts.models import AuditRow, Team, initials_of, member_of
from chainviz.accounts.permissions import requires
from chainviz.web import formatting as csv
from chainviz.web.http import small_number

FILE = ("sha256", "bytes")
"""Keys of the facts about a download."""
FIELDS = ("number", "at", "who", "act", "outcome", "chain", "details", "previous", "digest")


@dataclass(frozen=True, slots=True)
class AuditFilter:
    q: str = ""
    """The number of a chain, or the first letters of the digest of a row or file."""
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
    """Return an act for each label in the team's log, with the label, in the order of the labels."""
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
    """The name of the person; empty if nobody was signed in."""
    email: str
    facts: str
    """The facts without the digest and the size of a file."""

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


# What the acts of the audit log are called on the page. One that is not listed shows the name of its address.


ACTS = {
    "sealed": "Log started",
    "local": "Local record",
    "accounts:sign_in": "Sign-in",
    "accounts:oidc_callback": "Sign-in with the provider",
    "accounts:sign_out": "Sign-out",
    "accounts:join": "Joined",
    "accounts:account": "Password changed",
    "accounts:choose_team": "Team opened",
    "accounts:tokens": "API token created",
    "accounts:revoke_token": "API token revoked",
    "webhooks:webhooks": "Webhook created",
    "webhooks:webhook": "Webhook changed",
    "accounts:invite": "Invitation",
    "accounts:revoke": "Invitation revoked",
    "accounts:member": "Member changed",
    "accounts:audit_export": "Audit log exported",
    "added": "Chain added",
    "chains:upload": "Upload",
    "chains:pick": "Chains chosen",
    "chains:keep": "File kept",
    "chains:forget": "File dismissed",
    "chains:dismiss_all": "Files dismissed",
    "chains:retry_failed": "Files retried",
    "chains:undo_added": "Moved to the bin",
    "chains:original": "File downloaded",
    "chains:samples": "Samples added",
    "chains:add_folder": "Folder added",
    "chains:remove_folder": "Folder removed",
    "chains:open_file": "File opened from a folder",
    "chains:refresh_folder": "Folder read again",
    "chains:refresh_library": "Files followed",
    "chains:follow": "File followed",
    "chains:save_filter": "Filter saved",
    "chains:saved_filter": "Filter changed",
    "chains:secrets": "Library scanned",
    "chains:to_bin": "Moved to the bin",
    "chains:from_bin": "Restored from the bin",
    "chains:delete": "Deleted permanently",
    "chains:rename": "Renamed",
    "chains:restore": "Version restored",
    "chains:branch": "Branch created",
    "chains:export": "Export",
    "chains:share": "Share link created",
    "chains:revoke_share": "Share link revoked",
    "chains:shared": "Share link opened",
    "chains:audit_entry": "Record downloaded",
    "drafts:explore_export": "Draft exported",
    "drafts:state_document": "State exported",
    "drafts:state_import": "State imported",
    "drafts:summaries_do": "Summaries taken or discarded",
    "drafts:summary_do": "Summary changed",
    "drafts:restore_text": "Text restored",
    "drafts:conflict": "Conflict decided",
    "drafts:edit": "Edit",
    "drafts:operation": "Operation",
    "drafts:repair": "Fix problems",
    "drafts:save": "Version saved",
    "drafts:branch": "Saved as a branch",
    "drafts:draft": "Draft opened",
    "drafts:discard": "Draft discarded",
    "drafts:undo": "Step undone",
    "drafts:redo": "Step redone",
    "drafts:rebase": "Draft rebased",
    "drafts:restore": "Draft restored",
    "review:new_thread": "Comment",
    "review:comment": "Comment opened",
    "review:thread": "Replied in a thread",
    "review:edit_comment": "Comment edited",
    "review:delete_comment": "Comment deleted",
    "review:pending": "Pending comments sent",
    "review:suggestions": "Suggestions taken",
    "review:request": "Review requested",
    "review:verdict": "Verdict",
    "review:dismiss": "Verdict dismissed",
    "review:search_secrets": "Scan for secrets",
    "review:labels": "Label set",
    "review:unlabel": "Label removed",
    "review:labels_export": "Labels exported",
    "review:comments_export": "Comments exported",
    "review:rules": "Rules changed",
    "review:sign_off": "Sign-off requested",
    "signed off": "Signed off",
    "exported outside": "Exported outside the team",
    "review:certify": "Certificate requested",
    "review:certificate": "Certificate downloaded",
    "drafts:recipe": "Recipe run",
    "recipes:home": "Recipe created",
    "recipes:recipe": "Recipe changed",
    "recipes:step": "Recipe changed",
    "recipes:download": "Recipe downloaded",
    "recipes:new_list": "Word list created",
    "recipes:word_list": "Word list changed",
    "bulk": "Done in bulk",
    "bulk:runs": "Chains chosen in bulk",
    "bulk:run": "Bulk run",
    "bulk:download": "Many chains exported",
    "purge": "Purge",
    "fix_session": "Session file fixed or restored",
    "fix_sessions": "Session files fixed together",
    "fixed_session": "Fixed session downloaded",
    "mcp": "Chain opened by an agent (MCP)",
    "purged": "Purge carried out",
    "token": "API token created on the server",
    "createowner": "Owner created on the server",
    "changepassword": "Password set on the server",
}


def act_label(act: str) -> str:
    """Return the label of an act. Calls of the API are named like their addresses."""
    app, _, name = act.rpartition(":")
    words = name.replace("_", " ")
    return ACTS.get(act) or (f"API: {words}" if app == "api" else words.capitalize())


# The audit log for owners: filters, pages of rows, files of all of them, and the check of the chain.


ROWS = 100
FILES = {"csv": (csv_lines, "text/csv; charset=utf-8"), "jsonl": (json_lines, "application/x-ndjson")}


@requires("audit", team_mode=True)
@require_safe
def audit(request: HttpRequest) -> HttpResponse:
    team = member_of(request).team
    wanted = read_filter(request.GET)
    rows = wanted.rows(team)
    before = small_number(request.GET.get("before", ""))
    if before:
        rows = rows.filter(number__lt=before)
    found = list(rows[: ROWS + 1])
    context = {
        "team": team,
        "filter": wanted,
        "entries": [entry_of(row) for row in found[:ROWS]],
        "older": found[ROWS - 1].number if len(found) > ROWS else None,
        "outcomes": OUTCOMES,
        "acts": kinds_of_acts(team),
        "is_checked": "check" in request.GET,
        "fault": first_fault(team) if "check" in request.GET else "",
    }
    return render(request, "accounts/audit.html", context)


@requires("audit", team_mode=True)
@require_safe
def audit_export(request: HttpRequest, kind: str) -> StreamingHttpResponse:
    """Export the rows that match the filter, oldest first."""
    if kind not in FILES:
        raise Http404
    lines, content_type = FILES[kind]
    rows = read_filter(request.GET).rows(member_of(request).team).order_by("number")
    response = StreamingHttpResponse(lines(rows.iterator(chunk_size=1000)), content_type=content_type)
    response.headers["Content-Disposition"] = f'attachment; filename="audit.{kind}"'
    return response
