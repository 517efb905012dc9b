"""A step that a worker makes: how far it is, in a page that can be left and found again, and then the draft it made."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render

from chainviz.drafts.models import Draft
from chainviz.drafts.operations.responses import see_other, to_draft
from chainviz.drafts.target import Ground
from chainviz.jobs import lease
from chainviz.jobs.models import Job
from chainviz.web.htmx import wants_fragment
from chainviz.web.query_params import small_number

STOPPED = "This was stopped, and nothing was changed. Your choices are still here."
Find = Callable[[Ground, Any, int | None], Job | None]


def step_of(request: HttpRequest, ground: Ground, find: Find, *, is_long: bool) -> Job | None:
    """The job that the address names; without that, a look at the page of a long chain finds the one under way."""
    asked = small_number(request.GET.get("step", ""))
    job = find(ground, request.user, asked) if asked or (is_long and request.method != "POST") else None
    if asked and job is None:
        raise Http404
    return job


def at_step(home: str, job: Job) -> str:
    """Its address, where it can be found again."""
    return f"{home}&step={job.pk}"


def ended_in_vain(job: Job) -> bool:
    return job.is_finished and job.state != Job.State.DONE


def waiting(request: HttpRequest, job: Job, home: str, head: Mapping[str, Any]) -> HttpResponse:
    """`home`: the page that asked for it; `head`: its name (`name`, `heading`), what is done (`doing`) and the way back."""
    address = at_step(home, job)
    if request.method == "POST" and request.POST.get("act") == "stop":
        lease.cancel(job)
        return see_other(address)
    if not job.is_finished:
        page = {**head, "job": job, "job_href": address}
        name = "drafts/operations/_waiting.html" if wants_fragment(request) else "drafts/operations/waiting.html"
        return render(request, name, {"page": page})
    if wants_fragment(request):
        return HttpResponse(status=204, headers={"HX-Redirect": address})
    draft = Draft.objects.open().filter(pk=job.result["draft"]).first() if job.state == Job.State.DONE else None
    if draft is not None:
        return to_draft(request, draft, job.result["warnings"])
    if job.state != Job.State.CANCELLED and job.message:
        messages.error(request, job.message)
    return see_other(home)
