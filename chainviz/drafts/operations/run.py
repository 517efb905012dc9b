"""Run an operation on a target, and add its proposal to the person's draft."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from chainviz.core.operations import operation_named
from chainviz.core.operations.contract import Operation, Options
from chainviz.core.operations.execute import execute
from chainviz.core.progress import Progress, ignore_progress
from chainviz.drafts import services
from chainviz.drafts.models import Draft
from chainviz.drafts.operations.proposal import Proposal, context_for, proposal_of
from chainviz.drafts.services import add_step
from chainviz.drafts.target import Target, target_of_job
from chainviz.jobs import lease
from chainviz.jobs.models import Job
from chainviz.jobs.tasks import Cancelled, JobContext, start_job
from chainviz.recipes.services import lists_of
from chainviz.store.content.chain import StoredChain


def propose(
    target: Target,
    operation: Operation[Any],
    options: Options,
    progress: Progress = ignore_progress,
    texts: Mapping[str, str] | None = None,
) -> Proposal:
    """Return the proposal of an operation. `texts` are summaries that a model wrote before. Raises NothingToDo if nothing changes, or
    Refused if the operation is not possible."""
    context = replace(context_for(target.stored, progress, lists_of(target.chain.team_id)), summaries=texts)
    outcome = execute(operation.name, options, target.stored, context)
    return proposal_of(target, operation, options, outcome)


@contextmanager
def changing(target: Target, operation: Operation[Any], options: Options, texts: Mapping[str, str] | None = None) -> Iterator[Draft]:
    """Yield the draft with its new step, inside the transaction that adds it. The operation runs before anything is locked."""
    proposal = propose(target, operation, options, texts=texts)
    with services.add_step(target, proposal) as draft:
        yield draft


def change(target: Target, operation: Operation[Any], options: Options, texts: Mapping[str, str] | None = None) -> Draft:
    with changing(target, operation, options, texts) as draft:
        return draft


# The job that runs any operation on a long chain and adds its proposal to a draft.


FUNCTION = "run-operation"
MESSAGES_AT_ONCE = 20_000
BYTES_AT_ONCE = 20_000_000
"""The largest chain, in messages and bytes, for which an operation runs without a job. Reading it takes about a second."""
WRITING = 0.7
"""The progress of a job when its proposal is computed."""


def is_long(chain: StoredChain) -> bool:
    return len(chain) > MESSAGES_AT_ONCE or chain.snapshot.stored > BYTES_AT_ONCE


def start(target: Target, operation: Operation[Any], options: Options) -> Job:
    """Start a job, or return the one that is running for this content."""
    args = {**target.job_args, "operation": operation.name, "options": options.model_dump()}
    return find(target, operation) or start_job(FUNCTION, owner=target.person, **args)


def find(target: Target, operation: Operation[Any], number: int | None = None) -> Job | None:
    """Return the person's job with this number or, without a number, the running job for this content."""
    jobs = Job.objects.about(target.chain).visible_to(target.person).filter(function=FUNCTION)
    jobs = jobs.unfinished() if number is None else jobs.filter(pk=number)
    for job in jobs:
        if job.args["operation"] == operation.name and (number or job.args["seen"] == target.content):
            return job
    return None


def stop(job: Job) -> None:
    """Cancel a job. A waiting job loses the person's own patterns immediately; a running one drops them when it ends."""
    lease.cancel(job)
    job.refresh_from_db()
    operation = operation_named(job.args["operation"])
    if job.is_finished and operation is not None:
        _drop_secrets(job, operation.Options.model_validate(job.args["options"]))


def run_operation(context: JobContext, **args: Any) -> dict[str, Any]:
    """Return the key of the draft, as JSON."""
    job = context.job
    operation = operation_named(args["operation"])
    assert operation is not None
    options = operation.Options.model_validate(args["options"])
    try:
        target = target_of_job(job)
        proposal = propose(target, operation, options, lambda done, text: context.report(done * WRITING, text))
        result = _take(context, target, proposal)
    except Exception:
        _drop_secrets(job, options)
        raise
    # after SystemExit, when a worker was stopped, the next attempt needs the patterns
    _drop_secrets(job, options)
    return result


def _drop_secrets(job: Job, options: Options) -> None:
    """Remove the person's own patterns from the arguments, unless the job waits for another attempt or another worker has it."""
    kept = options.without_secrets()
    if kept != options:
        over = Job.objects.filter(pk=job.pk, attempts=job.attempts).exclude(state=Job.State.QUEUED)
        over.update(args={**job.args, "options": kept.model_dump()})


def _take(context: JobContext, target: Target, proposal: Proposal) -> dict[str, Any]:
    context.report(WRITING, f"Writing {len(proposal.step.changes):,} changes")
    with add_step(target, proposal) as draft:
        result = {"draft": draft.pk}
        # in the same transaction, so that a worker that takes over this job does not make the step again
        if context.is_cancelled() or not lease.finish(context.job, Job.State.DONE, result=result):
            raise Cancelled
    return result
