"""The page of secrets: found at once or by a job, accepted or declined one by one, and masked in a step of a draft."""

from __future__ import annotations

from collections.abc import Sequence
from typing import get_args

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from chainviz.chains.secrets.findings import Reader, Spot, is_long, scan, scan_beside, scan_own, together
from chainviz.chains.secrets.scans import (
    OWN,
    latest_scan,
    own_scan_of,
    scan_of,
    scan_under_way,
    spots_of,
    start_own_scan,
    start_scan,
    stop_own_scan,
)
from chainviz.core.chain.paths import Path
from chainviz.core.errors import ChainError, Refused
from chainviz.core.operations.mask import WARNINGS, MaskOptions
from chainviz.core.secrets import Rule, Strategy, own_rules
from chainviz.drafts.operations.mask.cards import declined_in, review_of, rules_off
from chainviz.drafts.operations.mask.job import masking_of, start_masking
from chainviz.drafts.operations.mask.step import prepare, take
from chainviz.drafts.operations.responses import begun_draft, moved_on, see_other, to_draft
from chainviz.drafts.operations.waiting import at_step, step_of, waiting
from chainviz.drafts.target import Ground, ground_of
from chainviz.jobs import lease
from chainviz.jobs.models import Job
from chainviz.web.htmx import wants_fragment
from chainviz.web.query_params import small_number

STRATEGIES: dict[Strategy, str] = {
    "pseudonym": "A numbered name a value, such as [EMAIL_1]",
    "replace": "The same word for all of a kind, such as [EMAIL]",
    "mask": "Stars, with a public prefix or last digits",
}


@require_http_methods(["GET", "HEAD", "POST"])
def secrets(request: HttpRequest, chain_id: int) -> HttpResponse:
    ground = ground_of(request, chain_id)
    masking = step_of(request, ground, masking_of, is_long=is_long(ground.stored))
    if masking is not None:
        return _of_masking(request, ground, masking)
    own = small_number(request.GET.get("own", ""))
    if own and request.method != "POST":
        return _progress_of_own(request, ground, own)
    if request.method != "POST":
        begun = begun_draft(request, ground)
        if begun is not None:
            return redirect(f"{reverse('drafts:mask', args=[chain_id])}?draft={begun.pk}")
    if not is_long(ground.stored):
        return _review(request, ground, [*scan(ground.stored), *scan_beside(ground.stored)])
    return _of_job(request, ground)


def _of_masking(request: HttpRequest, ground: Ground, job: Job) -> HttpResponse:
    head = {**_head(ground), "name": "Secrets", "heading": "Secrets and personal data", "doing": "Masking"}
    return waiting(request, job, _address(ground), head)


def _of_job(request: HttpRequest, ground: Ground) -> HttpResponse:
    snapshot = ground.stored.snapshot
    asked = small_number(request.GET.get("job", ""))
    known = scan_under_way(snapshot, request.user) or latest_scan(snapshot, request.user)
    job = scan_of(asked, snapshot, request.user) if asked else known
    if asked and job is None:
        raise Http404
    if request.method == "POST" and request.POST.get("act") == "scan":
        return see_other(f"{_address(ground)}&job={start_scan(snapshot, request.user).pk}")
    if request.method == "POST" and request.POST.get("act") == "stop" and job is not None:
        lease.cancel(job)
        return see_other(_address(ground))
    if job is None or job.state != Job.State.DONE:
        page = {**_head(ground), "job": job, "doing": "Looking through the chain"}
        if job is not None:
            page["job_href"] = f"{_address(ground)}&job={job.pk}"
        name = "drafts/mask/_scan.html" if wants_fragment(request) else "drafts/mask/scan.html"
        return render(request, name, {"page": page})
    if wants_fragment(request) and request.method != "POST":
        return HttpResponse(status=204, headers={"HX-Redirect": f"{_address(ground)}&job={job.pk}"})
    return _review(request, ground, spots_of(job))


def _review(request: HttpRequest, ground: Ground, known: list[Spot]) -> HttpResponse:
    form = request.POST
    own_patterns = form.get("own_patterns", "")
    if form.get("act") == "stop_own":
        stop_own_scan(ground.stored.snapshot, own_patterns, request.user)
        spots, used, error = known, "", ""
    else:
        try:
            spots, used, error = _with_own(request, ground, known, own_patterns, form.get("own_used", ""))
        except Looking as looking:
            return _of_own_scan(request, ground, looking.job)
    declined, off = declined_in(form, spots), rules_off(form, spots)
    asked = form.get("strategy", "")
    strategy: Strategy = next((each for each in get_args(Strategy) if each == asked), "pseudonym")
    if request.method == "POST" and form.get("act") == "apply" and not error:
        if form.get("seen") != ground.seen:
            error = moved_on(ground)
        else:
            gone = declined | {spot.id for spot in spots if spot.rule in off}
            given = {"strategy": strategy, "own_patterns": own_patterns, "decline": tuple(gone)}
            try:
                return _apply(request, ground, MaskOptions.model_validate(given))
            except ChainError as refused:
                error = str(refused)

    def at(path: Path) -> str:
        return f"{ground.explorer}at/{path}#{path.node.dom_id}"

    start = small_number(form.get("from", "")) or 0
    review = review_of(spots, declined, off, strategy, start, Reader(ground.stored), at)
    strategies = [(name, label, name == strategy) for name, label in STRATEGIES.items()]
    page = {**_head(ground), "error": error, "review": review, "strategies": strategies}
    page |= {"own_patterns": own_patterns, "own_used": used}
    return render(request, "drafts/mask/secrets.html", {"page": page}, status=422 if error else 200)


def _apply(request: HttpRequest, ground: Ground, options: MaskOptions) -> HttpResponse:
    if is_long(ground.stored):
        return see_other(at_step(_address(ground), start_masking(ground, request.user, options)))
    prepared = prepare(ground.stored, options)
    return to_draft(request, take(ground, request.user, prepared), WARNINGS)


class Looking(Exception):
    """A job still looks for the person's own patterns."""

    def __init__(self, job: Job) -> None:
        self.job = job


def _with_own(
    request: HttpRequest, ground: Ground, spots: list[Spot], patterns: str, used: str
) -> tuple[list[Spot], str, str]:
    """With what the person's own patterns find; with what the ones used before found, and why, where these cannot be
    used: so no tick is forgotten. The patterns that were used are the second."""
    try:
        own = own_rules(patterns)
        return together([*spots, *_found_by(request, ground, own, patterns)]) if own else spots, patterns, ""
    except ChainError as refused:
        if used in ("", patterns):
            return spots, "", str(refused)
        return *_with_own(request, ground, spots, used, "")[:2], str(refused)


def _found_by(request: HttpRequest, ground: Ground, own: Sequence[Rule], patterns: str) -> list[Spot]:
    """By a job in a long chain."""
    if not is_long(ground.stored):
        return list(scan_own(ground.stored, own))
    snapshot = ground.stored.snapshot
    job = own_scan_of(snapshot, patterns, request.user)
    if job is None or job.state == Job.State.CANCELLED:
        job = start_own_scan(snapshot, patterns, request.user)
        job.refresh_from_db()
    if not job.is_finished:
        raise Looking(job)
    if job.state != Job.State.DONE:
        text = job.message
        # asking again looks again
        job.delete()
        raise Refused(text)
    return spots_of(job, own)


def _of_own_scan(request: HttpRequest, ground: Ground, job: Job) -> HttpResponse:
    """The form waits with it, so that no tick and no pattern is lost."""
    kept = [(name, value) for name, values in request.POST.lists() for value in values]
    kept = [(name, value) for name, value in kept if name not in ("act", "csrfmiddlewaretoken")]
    page = {**_head(ground), "job": job, "job_href": f"{_address(ground)}&own={job.pk}", "kept": kept}
    return render(request, "drafts/mask/own_scan.html", {"page": page})


def _progress_of_own(request: HttpRequest, ground: Ground, number: int) -> HttpResponse:
    job = Job.objects.visible_to(request.user).filter(pk=number, function=OWN).first()
    if job is None:
        raise Http404
    if not wants_fragment(request):
        return see_other(_address(ground))
    page = {"job": job, "job_href": f"{_address(ground)}&own={job.pk}"}
    return render(request, "drafts/mask/_own_scan.html", {"page": page})


def _head(ground: Ground) -> dict[str, object]:
    href, words = ground.back
    return {
        "chain": ground.chain,
        "source_words": ground.words,
        "seen": ground.seen,
        "back_href": href,
        "back_words": words,
        "post_href": _address(ground),
        "size": ground.stored.snapshot.size,
        "version": None if ground.draft else ground.version.number,
    }


def _address(ground: Ground) -> str:
    return reverse("drafts:mask", args=[ground.chain.pk]) + ground.query
