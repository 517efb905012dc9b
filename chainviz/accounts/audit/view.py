"""The audit log for owners: filters, pages of rows, files of all of them, and the check of the chain."""

from __future__ import annotations

from django.http import Http404, HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from chainviz.accounts.audit.chain import first_fault
from chainviz.accounts.audit.listing import csv_lines, entry_of, json_lines, kinds_of_acts, read_filter
from chainviz.accounts.audit.record import OUTCOMES
from chainviz.accounts.models import member_of
from chainviz.accounts.permissions import requires
from chainviz.web.query_params import small_number

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
    """The rows that the filter leaves, oldest first."""
    if kind not in FILES:
        raise Http404
    lines, content_type = FILES[kind]
    rows = read_filter(request.GET).rows(member_of(request).team).order_by("number")
    response = StreamingHttpResponse(lines(rows.iterator(chunk_size=1000)), content_type=content_type)
    response.headers["Content-Disposition"] = f'attachment; filename="audit.{kind}"'
    return response
