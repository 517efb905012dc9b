"""Signing off a version, and the record of it as a page or as JSON."""

from __future__ import annotations

import json
from typing import Any

from django import forms
from django.contrib import messages
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from chainviz.accounts.audit.record import note, recorded_together
from chainviz.accounts.models import Team, member_of
from chainviz.accounts.permissions import requires
from chainviz.chains.access import chain_for
from chainviz.chains.models import Chain
from chainviz.core.errors import Refused
from chainviz.core.formats import format_label
from chainviz.review.export_lock import is_signed_off
from chainviz.review.models import SignOff, TeamRules, rules_of
from chainviz.review.models.requests import MOST_APPROVALS
from chainviz.review.sign_off.services import sign_off as sign_version_off
from chainviz.web.http import see_other, small_number


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
    """Show the record of a sign-off, which outlives its chain; `?as=json` has the same facts."""
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


# The team's rules. Every member may view them, owners may change them.


class RulesForm(forms.ModelForm):  # type: ignore[type-arg]
    class Meta:
        model = TeamRules
        fields = ["approvals", "no_open_threads", "no_problems", "no_secrets", "locks_export", "external_writers"]
        labels = {
            "approvals": "Approvals needed",
            "no_open_threads": "No open threads",
            "no_problems": "No errors",
            "no_secrets": "No secrets",
            "locks_export": "Export only after sign-off",
            "external_writers": "Summaries by a language model",
        }
        help_texts = {
            "approvals": "For this version only: a newer version makes approvals stale. Members cannot approve a version they saved.",
            "no_open_threads": "Outdated threads count as open until somebody resolves them.",
            "no_problems": "Its structure has no errors, and its format's API accepts it.",
            "no_secrets": "Every message was searched and nothing was found. Share links to versions with secrets are refused.",
            "locks_export": "Downloads, share links and the API refuse versions that are not signed off.",
            "external_writers": "Editors can have this installation's model write summaries. The folded content is sent to it.",
        }
        widgets = {"approvals": forms.NumberInput(attrs={"class": "input", "min": 0, "max": MOST_APPROVALS})}


@requires("read", to_post="rules", team_mode=True)
@require_http_methods(["GET", "HEAD", "POST"])
@recorded_together
def rules(request: HttpRequest) -> HttpResponse:
    team = member_of(request).team
    if request.method != "POST":
        return _page(request, RulesForm(instance=rules_of(team.pk), label_suffix=""))
    current = _locked(team)
    form = RulesForm(request.POST, instance=current, label_suffix="")
    if request.POST.get("edition") != str(TeamRules.objects.values_list("edition", flat=True).get(pk=team.pk)):
        return _page(request, form, 409)
    if not form.is_valid():
        return _page(request, form, 422)
    current.edition += 1
    form.save()
    note(request, **form.cleaned_data)
    messages.success(request, "The rules were saved.")
    return see_other("review:rules")


@transaction.atomic
def _locked(team: Team) -> TeamRules:
    TeamRules.objects.get_or_create(team=team)
    return TeamRules.objects.select_for_update().get(pk=team.pk)


def _page(request: HttpRequest, form: RulesForm, status: int = 200, **more: Any) -> HttpResponse:
    stored = rules_of(member_of(request).team_id)
    context = {
        "form": form,
        "stored": stored,
        "may_change": member_of(request).may("rules"),
        "is_conflict": status == 409,
    }
    return render(request, "review/rules.html", context, status=status)
