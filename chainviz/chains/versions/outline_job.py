"""The outline of a large snapshot is rebuilt as a job: the page that needs it answers at once and says how far the job is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.http import HttpRequest, HttpResponse

from chainviz.chains.models import Chain
from chainviz.jobs.models import Job
from chainviz.jobs.tasks import JobContext, start_job
from chainviz.store.models import Snapshot
from chainviz.store.outline.build import OutlineMissing, rebuild_outline, small_rebuilds_only
from chainviz.store.outline.edition import RULES
from chainviz.web.working_page import working_page

REBUILD = "rebuild-outline"
TITLE = "This chain is being checked with the current rules"


class OutlineMiddleware:
    """Answers OutlineMissing for whoever looks at a page. What a form sends is not put off: it rebuilds the outline itself."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if request.method not in ("GET", "HEAD"):
            return self.get_response(request)
        with small_rebuilds_only():
            return self.get_response(request)

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        if not isinstance(exception, OutlineMissing):
            return None
        job = _job_for(exception.snapshot)
        return None if job.state == Job.State.FAILED else working_page(request, TITLE, job)


def _job_for(snapshot: Snapshot) -> Job:
    """The job that rebuilds it, or that failed to."""
    chain = Chain.objects.filter(history=snapshot.history_id).values_list("pk", flat=True).first()
    args: dict[str, Any] = {"chain": chain, "snapshot": snapshot.pk, "rules": RULES}
    jobs = Job.objects.filter(function=REBUILD, args=args)
    known = jobs.unfinished() | jobs.filter(state=Job.State.FAILED)
    return known.order_by("-pk").first() or start_job(REBUILD, owner=None, **args)


def rebuild(context: JobContext, *, snapshot: int, chain: int | None, rules: int) -> None:
    """`chain` says whose job this is, `rules` which edition asked for it."""
    found = Snapshot.objects.filter(pk=snapshot).first()
    if found is not None:
        rebuild_outline(found, context.report)
