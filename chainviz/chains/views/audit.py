"""What was redacted, masked or purged in a chain: a list, and one record as a file."""

from __future__ import annotations

import json

from django.contrib.auth import get_user_model
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.utils.http import content_disposition_header
from django.views.decorators.http import require_safe

from chainviz.chains.access import chain_for
from chainviz.chains.audit import AuditEntry, told
from chainviz.web.addresses import small_number

ENTRIES = 50


@require_safe
def audit(request: HttpRequest, chain_id: int) -> HttpResponse:
    chain = chain_for(request, chain_id)
    entries = AuditEntry.objects.filter(chain_key=chain.pk).select_related("who")
    before = small_number(request.GET.get("before", ""))
    if before:
        entries = entries.filter(pk__lt=before)
    found = list(entries[: ENTRIES + 1])
    rows = [(entry, *told(entry)) for entry in found[:ENTRIES]]
    older = found[ENTRIES - 1].pk if len(found) > ENTRIES else None
    context = {"chain": chain, "rows": rows, "older": older, "alone": get_user_model().objects.count() == 1}
    return render(request, "chains/audit.html", context)


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
