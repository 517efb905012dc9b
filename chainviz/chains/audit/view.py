"""What was redacted, masked or purged in a chain: a list, and one record as a file."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import Any

from django.contrib.auth import get_user_model
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.utils.http import content_disposition_header
from django.views.decorators.http import require_safe

from chainviz.accounts.permissions import requires
from chainviz.chains.access import chain_for
from chainviz.chains.audit.records import describe_entry, whereabouts
from chainviz.chains.models import AuditEntry
from chainviz.core.chain.paths import parse_path
from chainviz.core.operations.redact.candidates import SKIPS
from chainviz.core.operations.redact.decision_matrix import REASONS, MatrixRow
from chainviz.web.http import small_number

ENTRIES = 50
ROWS = 100


@requires("audit")
@require_safe
def audit(request: HttpRequest, chain_id: int) -> HttpResponse:
    chain = chain_for(request, chain_id)
    entries = AuditEntry.objects.filter(chain_key=chain.pk).select_related("who").prefetch_related("later")
    before = small_number(request.GET.get("before", ""))
    if before:
        entries = entries.filter(pk__lt=before)
    found = list(entries[: ENTRIES + 1])
    rows = [(entry, whereabouts(entry), *describe_entry(entry)) for entry in found[:ENTRIES]]
    older = found[ENTRIES - 1].pk if len(found) > ENTRIES else None
    context = {"chain": chain, "rows": rows, "older": older, "alone": get_user_model().objects.count() == 1}
    return render(request, "chains/audit/audit.html", context)


@requires("audit")
@require_safe
def entry(request: HttpRequest, chain_id: int, entry_id: int) -> HttpResponse:
    chain = chain_for(request, chain_id)
    found = get_object_or_404(AuditEntry.objects.filter(chain_key=chain.pk), pk=entry_id)
    who = found.who.get_username() if found.who is not None else None
    whole = {
        "act": found.act,
        "chain": chain.pk,
        "version": found.version,
        "draft": found.draft_key,
        "who": who,
        "at": found.at.isoformat(),
        "record": found.record,
    }
    response = HttpResponse(json.dumps(whole, indent=1), content_type="application/json")
    name = f"audit {chain.pk}-{found.pk} {found.act}.json"
    response.headers["Content-Disposition"] = content_disposition_header(True, name) or "attachment"
    return response


@requires("audit")
@require_safe
def decisions(request: HttpRequest, chain_id: int, entry_id: int) -> HttpResponse:
    """Show the decision on each result or finding, a page of rows at a time."""
    chain = chain_for(request, chain_id)
    found = get_object_or_404(AuditEntry.objects.filter(chain_key=chain.pk).select_related("who"), pk=entry_id)
    icon, name, sentence = describe_entry(found)
    rows = rows_of(found)
    start = min(small_number(request.GET.get("from", "")) or 0, max(0, len(rows) - 1)) // ROWS * ROWS
    context = {
        "chain": chain,
        "entry": found,
        "icon": icon,
        "name": name,
        "sentence": sentence,
        "where": whereabouts(found),
        # a later step of a draft had other content before it
        "linked": found.version is not None and found.record.get("step", 0) == 0,
        "rows": rows[start : start + ROWS],
        "total": len(rows),
        "first": start + 1,
        "last": min(start + ROWS, len(rows)),
        "before": start - ROWS if start else None,
        "after": start + ROWS if start + ROWS < len(rows) else None,
        "alone": get_user_model().objects.count() == 1,
    }
    return render(request, "chains/audit/audit_entry.html", context)


# The decisions of an audit entry as rows of a table.


@dataclass(frozen=True, slots=True)
class AuditRow:
    number: int
    path: str
    node: str
    """The path of the message: a part has no page."""
    what: str
    part: str
    decision: str
    why: str
    by_hand: bool
    before: int
    after: int


def rows_of(entry: AuditEntry) -> list[AuditRow]:
    """Return the rows of a record; empty for a purge, which keeps no places."""
    row = {"redact": _redacted, "mask": _masked}.get(entry.act)
    return [row(number, each) for number, each in enumerate(entry.record.get("rows", ()), 1)] if row else []


def _redacted(number: int, row: Any) -> AuditRow:
    why = SKIPS.get(row["skip"], "") or REASONS[MatrixRow(row["matrix_row"])]
    return AuditRow(
        number,
        row["path"],
        _node(row["path"]),
        row["tool"] or row["part"],
        row["part"] if row["tool"] else "",
        row["decision"],
        why,
        bool(row["override"]),
        row["bytes_before"],
        row["bytes_after"],
    )


def _masked(number: int, row: Any) -> AuditRow:
    path, reason, before, after = row
    return AuditRow(number, path, _node(path), reason, "", "mask", "", False, before, after)


def _node(path: str) -> str:
    return str(replace(parse_path(path), part=None))
