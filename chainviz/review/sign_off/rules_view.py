"""The team's rules: every member may look, owners may change them."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import messages
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_http_methods

from chainviz.accounts.audit.record import note, recorded_together
from chainviz.accounts.models import Team, member_of
from chainviz.accounts.permissions import requires
from chainviz.review.models import TeamRules, rules_of
from chainviz.review.models.rules import MOST_APPROVALS
from chainviz.web.responses import see_other


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
            "no_secrets": "Every message was searched and nothing was found.",
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
