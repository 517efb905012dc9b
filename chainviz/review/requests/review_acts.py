"""The page of a chain's review, and what its forms do: ask, give a verdict, dismiss one, mark sections as viewed."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from chainviz.accounts.audit import not_recorded, note, recorded_together
from chainviz.accounts.models import member_of, person_of
from chainviz.accounts.permissions import requires
from chainviz.chains.access import chain_for
from chainviz.chains.explorer.views import version_subject
from chainviz.core.counts import count_text
from chainviz.core.errors import Refused
from chainviz.review.models import ReviewRequest, Verdict, rules_of
from chainviz.review.panel import panel_answer
from chainviz.review.requests import services
from chainviz.review.requests.review_page import activity_of, review_page, section_marks, set_viewed
from chainviz.review.requests.services import start_search
from chainviz.web.http import see_other, small_number, small_numbers, wants_fragment

ROWS = 100
"""The number of activities on a page."""


@requires("read", team_mode=True)
@require_safe
def review(request: HttpRequest, chain_id: int) -> HttpResponse:
    """Show the review. `?v=3` shows another version than the newest, `?from=51` other sections."""
    return _page(request, chain_id, small_number(request.GET.get("v", "")))


@requires("request review", team_mode=True)
@require_POST
@recorded_together
def request_review(request: HttpRequest, chain_id: int) -> HttpResponse:
    """Request a review of the ticked people; `act=close` ends the request, `take_back=7` takes it back from one person."""
    chain, by = chain_for(request, chain_id), person_of(request)
    opened = services.open_request(chain)
    taken_back = small_number(request.POST.get("take_back", ""))
    if request.POST.get("act") == "close" or taken_back is not None:
        found = get_object_or_404(ReviewRequest, pk=opened.pk if opened else None)
        if taken_back is None:
            services.close(found, by=by)
            note(request, closed=found.pk)
        else:
            services.take_back(found, taken_back)
            note(request, taken_back=taken_back)
        return see_other("review:review", chain.pk)
    people = small_numbers(request.POST.getlist("person"))
    purpose = request.POST.get("purpose", "")
    try:
        found = services.ask(chain, people, purpose, by=by)
    except Refused as refused:
        return _page(request, chain_id, request_error=str(refused), typed_purpose=purpose, ticked=people)
    if rules_of(chain.team_id).no_secrets:
        start_search(chain, by)
    note(request, version=found.version, people=people)
    messages.success(request, f"A review of version {found.version} was requested.")
    return see_other("review:review", chain.pk)


@requires("export", team_mode=True)
@require_POST
@recorded_together
def search_secrets(request: HttpRequest, chain_id: int) -> HttpResponse:
    """Start the job that searches a long chain for secrets."""
    started = start_search(chain_for(request, chain_id), person_of(request))
    note(request, started=started)
    return see_other(f"{reverse('review:review', args=[chain_id])}#checks")


@requires("verdict", team_mode=True)
@require_POST
@recorded_together
def give_verdict(request: HttpRequest, chain_id: int) -> HttpResponse:
    """Store a verdict on the version for which the form was made, even if a newer one exists by now."""
    number, kind, summary = (request.POST.get(name, "") for name in ("version", "kind", "summary"))
    subject = version_subject(request, chain_id, small_number(number))
    version = subject.version or subject.chain.version
    try:
        verdict, comments = services.send_review(subject.chain, version, kind, summary, by=person_of(request))
    except Refused as refused:
        return _page(request, chain_id, version, verdict_error=str(refused), typed_summary=summary, typed_kind=kind)
    note(request, version=version, verdict=verdict.kind, comments=comments)
    sent = f" with {count_text(comments, 'comment')}" if comments else ""
    messages.success(request, f"Your review of version {version} was sent{sent}.")
    return see_other("review:review", chain_id)


@requires("request review", team_mode=True)
@require_POST
@recorded_together
def dismiss(request: HttpRequest, chain_id: int, verdict_id: int) -> HttpResponse:
    chain, reason = chain_for(request, chain_id), request.POST.get("reason", "")
    verdict = get_object_or_404(Verdict, chain=chain, pk=verdict_id, dismissed_at=None)
    try:
        services.dismiss(verdict, reason, by=person_of(request))
    except Refused as refused:
        return _page(request, chain_id, dismiss_error=str(refused), dismissing=verdict.pk)
    note(request, of=verdict.name)
    return see_other("review:review", chain.pk)


@requires("read", team_mode=True)
@require_POST
@not_recorded
def viewed(request: HttpRequest, chain_id: int, number: int, section: int) -> HttpResponse:
    """Mark a section of a version for this person, or take the mark back (`viewed=0`).

    The panel beside the chain, which names the node as `at`, gets itself back.
    """
    subject = version_subject(request, chain_id, number)
    marks = section_marks(subject.stored)
    if 1 <= section <= len(marks):
        set_viewed(subject.chain, person_of(request), marks[section - 1], request.POST.get("viewed") != "0")
    if wants_fragment(request):
        return panel_answer(request, subject, request.POST.get("at", ""))
    back = reverse("review:review", args=[chain_id])
    first = small_number(request.POST.get("from", "")) or 1
    return see_other(f"{back}?v={number}&from={first}#s{section}")


@requires("read", team_mode=True)
@require_safe
def activity(request: HttpRequest, chain_id: int) -> HttpResponse:
    chain = chain_for(request, chain_id)
    rows = activity_of(chain, ROWS + 1, small_number(request.GET.get("before", "")))
    older = rows[ROWS - 1].number if len(rows) > ROWS else None
    return render(request, "review/activity.html", {"chain": chain, "rows": rows[:ROWS], "older": older})


def _page(request: HttpRequest, chain_id: int, number: int | None = None, **more: object) -> HttpResponse:
    """Show the page. `more`: errors, and typed texts."""
    subject = version_subject(request, chain_id, number)
    page = review_page(subject, member_of(request), small_number(request.GET.get("from", "")) or 1)
    status = 422 if any(name.endswith("error") for name in more) else 200
    return render(request, "review/review.html", {"page": page, "kinds": Verdict.Kind.choices, **more}, status=status)
