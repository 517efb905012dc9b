"""What the page of an operation shows first of a long chain: a job works it out once for each content and options, and
every look at the page is served from there."""

from __future__ import annotations

from chainviz.core.operations.contract import Operation, Options
from chainviz.drafts.target import Target
from chainviz.jobs.models import Job
from chainviz.jobs.tasks import start_job

READING = "read-first-page"


def job_of(target: Target, operation: Operation[Options], options: Options) -> Job:
    """Returns the last one for exactly this, and starts it where there is none."""
    args = {**target.job_args, "operation": operation.name, "options": options.model_dump(mode="json")}
    jobs = Job.objects.visible_to(target.person).filter(function=READING, args=args)
    return jobs.order_by("-pk").first() or start_job(READING, owner=target.person, **args)
