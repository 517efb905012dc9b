"""Answer immediately for a slow page: a job prepares its data, and a page shows the progress."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse

from chainviz.chains.models import Chain
from chainviz.jobs.models import Job
from chainviz.jobs.tasks import JobContext, start_job
from chainviz.store.models import Snapshot
from chainviz.store.outline.build import OutlineMissing, rebuild_outline
from chainviz.store.outline.edition import RULES_EDITION
from chainviz.store.quick_only import quick_only
from chainviz.web.http import working_page
from chainviz.web.middleware import PROGRAMS, Middleware

REBUILD = "rebuild-outline"
COMPARE = "compare-versions"
COMPARE_RUNS = "compare-runs"
COMPARE_FILES = "compare-files"
TITLES = {
    REBUILD: "This chain is being checked with the current rules",
    COMPARE: "These versions are being compared",
    COMPARE_RUNS: "These chains are being compared",
    COMPARE_FILES: "These files are being compared",
}


class JobNeeded(Exception):
    """Raised if a page needs the result of a job first."""

    def __init__(self, function: str, history: int, **args: Any) -> None:
        super().__init__(function)
        self.function = function
        chain = Chain.objects.filter(history=history).values_list("pk", flat=True).first()
        self.job_args: dict[str, Any] = {"chain": chain, **args}

    @property
    def jobs(self) -> Any:
        return Job.objects.filter(function=self.function, args=self.job_args)


class PageJobMiddleware(Middleware):
    """Answers JobNeeded with a page that shows the progress. A submitted form or a call of the API does the work itself."""

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if request.method not in ("GET", "HEAD") or request.path.startswith(PROGRAMS):
            return self.get_response(request)
        with quick_only():
            return self.get_response(request)

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        if isinstance(exception, OutlineMissing):
            snapshot = exception.snapshot
            exception = JobNeeded(REBUILD, snapshot.history_id, snapshot=snapshot.pk, rules=RULES_EDITION)
        if not isinstance(exception, JobNeeded):
            return None
        job = _job_for(exception)
        return None if job.state == Job.State.FAILED else working_page(request, TITLES[job.function], job)


def _job_for(needed: JobNeeded) -> Job:
    """Return the running job for this work, or the one that failed."""
    known = needed.jobs.unfinished() | needed.jobs.filter(state=Job.State.FAILED)
    job: Job = known.order_by("-pk").first() or start_job(needed.function, owner=None, **needed.job_args)
    return job


def rebuild(context: JobContext, *, snapshot: int, chain: int | None, rules: int) -> None:
    """Rebuild an outline in a job. `chain` names the job's chain, `rules` the edition that needs it."""
    found = Snapshot.objects.filter(pk=snapshot).first()
    if found is not None:
        rebuild_outline(found, context.report)
