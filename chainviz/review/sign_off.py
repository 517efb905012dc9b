"""Signing off a version, and the record of it as a page or as JSON.

The rules are checked once more, the file is digested, and a row is written that nobody can change.
"""

from __future__ import annotations

import json
from hashlib import sha256
from typing import Any

from django import forms
from django.contrib import messages
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from chainviz.accounts.audit import note, record, recorded_together
from chainviz.accounts.models import Membership, Team, member_of
from chainviz.accounts.permissions import requires
from chainviz.chains.access import chain_for
from chainviz.chains.audit import describe_entry, whereabouts
from chainviz.chains.models import AuditEntry, Chain
from chainviz.core.counts import count_text
from chainviz.core.errors import Refused
from chainviz.core.formats import format_label
from chainviz.core.secrets import RULES
from chainviz.review.csv_and_jsonl import is_signed_off
from chainviz.review.fsck import SIGNED
from chainviz.review.models import SignOff, TeamRules, Verdict, rules_of
from chainviz.review.models.requests import MOST_APPROVALS
from chainviz.review.notices import version_signed_off
from chainviz.review.requests.services import Standing, review_lock, standing_of
from chainviz.store.content.chain import StoredChain
from chainviz.store.content.codec import pack
from chainviz.store.models import Snapshot, Version
from chainviz.store.transfer import exports
from chainviz.web.http import see_other, small_number


def sign_off_version(chain: Chain, version: int, *, by: Membership) -> SignOff:
    """Sign off the newest version. Raises Refused if it is no longer the newest, or does not meet every rule."""
    standing = standing_of(chain)
    if version != chain.version:
        raise Refused(f"Version {chain.version} exists; sign off that one.")
    if standing.sign_off is not None:
        raise Refused(f"Version {version} is already signed off.")
    if not standing.is_ready:
        unmet = ", ".join(check.text.lower() for check in standing.checks if check.is_asked and not check.is_met)
        raise Refused(f"The team's rules are not met: {unmet}.")
    snapshot = Version.objects.select_related("snapshot__history").get(history=chain.history, number=version).snapshot
    digest, size = _digest(snapshot)
    with transaction.atomic():
        # the file was read outside: what could have changed meanwhile is read again
        review_lock(chain)
        team = Team.objects.select_for_update().get(pk=chain.team_id)
        again = standing_of(Chain.objects.get(pk=chain.pk))
        edition = Snapshot.objects.values_list("history__edition", flat=True).get(pk=snapshot.pk)
        if again.chain.version != version or edition != snapshot.history.edition or again.sign_off or not again.is_ready:
            raise Refused("The chain or its review changed at this moment. Check it, then sign off again.")
        row = SignOff.objects.create(
            team=team,
            number=next_number(team),
            chain_key=chain.pk,
            version=version,
            edition=edition,
            who=by.user,
            who_name=by.user.display_name,
            at=timezone.now(),
            format=snapshot.format,
            sha256=digest,
            size=size,
            packed=pack({"role": by.role, **facts_of(again, StoredChain(snapshot))}),
        )
        record(team, by.user, SIGNED, chain=chain.pk, sign_off=row.number, version=version, sha256=digest, bytes=size)
        version_signed_off(chain, version, by.user)
    return row


def _digest(snapshot: Snapshot) -> tuple[str, int]:
    digest, size = sha256(), 0
    for piece in exports.export(snapshot):
        digest.update(piece)
        size += len(piece)
    return digest.hexdigest(), size


def next_number(team: Team) -> int:
    """Return the next number. Sign-offs and certificates of a team are numbered together; the team's row is locked."""
    return SignOff.objects.filter(team=team).count() + 1


# What a sign-off keeps beside its columns: approvals, rules, what was taken out and what was searched; never content.


UNSEARCHED = {"image": "image", "binary": "file", "opaque": "part of an unknown kind"}
"""Kinds of parts whose bytes are not searched."""


def facts_of(standing: Standing, stored: StoredChain) -> dict[str, Any]:
    chain = standing.chain
    return {
        "messages": chain.messages,
        "content": chain.size,
        "needed": standing.rules.approvals,
        "approvals": [_approval(each) for each in standing.approvals],
        "checks": [[check.text, check.note, check.is_met, check.is_asked] for check in standing.checks],
        "removed": list(_removed(chain)),
        "patterns": len(RULES),
        "secrets": standing.secrets,
        "unsearched": unsearched_parts(stored),
    }


def _approval(verdict: Verdict) -> list[Any]:
    return [verdict.name, verdict.version, verdict.given_at.isoformat()]


def _removed(chain: Chain) -> list[list[str]]:
    """Return the redactions, masks and purges of a version: name, sentence, place."""
    entries = AuditEntry.objects.filter(chain_key=chain.pk).prefetch_related("later").order_by("pk")
    kept = [each for each in entries if not each.draft_key or "saved_as" in each.record.get("became", {})]
    return [[describe_entry(each)[1], describe_entry(each)[2], whereabouts(each)] for each in kept]


def unsearched_parts(stored: StoredChain) -> list[str]:
    counts = dict.fromkeys(UNSEARCHED, 0)
    for shape in stored.shapes():
        for part in shape.parts:
            if part.kind in counts:
                counts[part.kind] += 1
    return [count_text(count, UNSEARCHED[kind], _plural(kind)) for kind, count in counts.items() if count]


def _plural(kind: str) -> str:
    return "parts of unknown kinds" if kind == "opaque" else ""


@requires("request review", team_mode=True)
@require_POST
def sign_off(request: HttpRequest, chain_id: int) -> HttpResponse:
    chain = chain_for(request, chain_id)
    try:
        row = sign_off_version(chain, small_number(request.POST.get("version", "")) or 0, by=member_of(request))
    except Refused as refused:
        messages.error(request, str(refused))
        return see_other("review:review", chain.pk)
    request.is_recorded = True  # type: ignore[attr-defined] # with the sign-off itself
    messages.success(request, f"Version {row.version} is signed off.")
    return see_other("review:record", row.number)


@requires("read", team_mode=True)
@require_safe
def sign_off_record(request: HttpRequest, sign_off: int) -> HttpResponse:
    """Show the record of a sign-off, which outlives its chain; `?as=json` has the same facts."""
    member = member_of(request)
    row = get_object_or_404(SignOff.objects.sign_offs(), team=member.team, number=sign_off)
    if request.GET.get("as") == "json":
        headers = {"Content-Disposition": f'attachment; filename="sign-off {row.number}.json"'}
        return HttpResponse(json.dumps(row.as_json(), indent=1), content_type="application/json", headers=headers)
    chain = Chain.objects.visible_to(member).in_library().filter(pk=row.chain_key).first()
    context = {
        "row": row,
        "facts": row.record,
        "chain": chain,
        "format": format_label(row.format),
        "is_valid": chain is not None and is_signed_off(chain, row.version),
    }
    return render(request, "review/sign_off.html", context)


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
    context = {"form": form, "stored": stored, "may_change": member_of(request).may("rules"), "is_conflict": status == 409}
    return render(request, "review/rules.html", context, status=status)
