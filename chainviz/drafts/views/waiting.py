"""A step that a worker makes: how far it is, in a page that can be left and found again, and then the draft it made."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from chainviz.drafts.models import Draft
from chainviz.drafts.views.answers import see_other, to_draft
from chainviz.jobs import lease
from chainviz.jobs.models import Job
from chainviz.web.htmx import wants_fragment


def waiting(
    request: HttpRequest, job: Job, home: str, address: str, head: Mapping[str, Any], warnings: Iterable[str] = ()
) -> HttpResponse:
    """`home`: the page that asked for it; `head`: its name (`name`, `heading`), what is done (`doing`) and the way back."""
    if request.method == "POST" and request.POST.get("act") == "stop":
        lease.cancel(job)
        return see_other(home)
    if not job.is_finished:
        page = {**head, "job": job, "job_href": address}
        name = "drafts/_waiting.html" if wants_fragment(request) else "drafts/waiting.html"
        return render(request, name, {"page": page})
    if wants_fragment(request):
        return HttpResponse(status=204, headers={"HX-Redirect": address})
    draft = Draft.objects.open().filter(pk=job.result["draft"]).first() if job.state == Job.State.DONE else None
    if draft is not None:
        return to_draft(request, draft, (*warnings, *job.result.get("warnings", ())))
    if job.state != Job.State.CANCELLED and job.message:
        messages.error(request, job.message)
    return see_other(home)
