"""Signing off a version, and the record of it as a page or as JSON."""

from __future__ import annotations

import json

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_POST, require_safe

from chainviz.accounts.models import member_of
from chainviz.accounts.permissions import requires
from chainviz.chains.access import chain_for
from chainviz.chains.models import Chain
from chainviz.core.errors import Refused
from chainviz.core.formats import format_label
from chainviz.review.export_lock import is_signed_off
from chainviz.review.models import SignOff
from chainviz.review.sign_off.services import sign_off as sign_version_off
from chainviz.web.query_params import small_number
from chainviz.web.responses import see_other


@requires("request review", team_mode=True)
@require_POST
def sign_off(request: HttpRequest, chain_id: int) -> HttpResponse:
    chain = chain_for(request, chain_id)
    try:
        row = sign_version_off(chain, small_number(request.POST.get("version", "")) or 0, by=member_of(request))
    except Refused as refused:
        messages.error(request, str(refused))
        return see_other("review:review", chain.pk)
    request.is_recorded = True  # type: ignore[attr-defined] # with the sign-off itself
    messages.success(request, f"Version {row.version} is signed off.")
    return see_other("review:record", row.number)


@requires("read", team_mode=True)
@require_safe
def record(request: HttpRequest, sign_off: int) -> HttpResponse:
    """The record outlives its chain; `?as=json` has the same facts."""
    member = member_of(request)
    row = get_object_or_404(SignOff.objects.sign_offs(), team=member.team, number=sign_off)
    if request.GET.get("as") == "json":
        headers = {"Content-Disposition": f'attachment; filename="sign-off {row.number}.json"'}
        return HttpResponse(json.dumps(_fields(row), indent=1), content_type="application/json", headers=headers)
    chain = Chain.objects.visible_to(member).in_library().filter(pk=row.chain_key).first()
    context = {
        "row": row,
        "facts": row.record,
        "chain": chain,
        "format": format_label(row.format),
        "is_valid": chain is not None and is_signed_off(chain, row.version),
    }
    return render(request, "review/sign_off.html", context)


def _fields(row: SignOff) -> dict[str, object]:
    return {
        "sign_off": row.number,
        "chain": row.chain_key,
        "version": row.version,
        "who": row.who_name,
        "at": row.at.isoformat(),
        "format": row.format,
        "sha256": row.sha256,
        "bytes": row.size,
        **row.record,
    }
