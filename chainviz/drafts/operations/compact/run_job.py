"""A run of a strategy on a long chain as a job: nothing is written but its result."""

from __future__ import annotations

from typing import Any

from chainviz.core.operations.compact import CompactOptions
from chainviz.core.operations.contract import Context
from chainviz.drafts.operations.compact.run import run_strategy
from chainviz.drafts.operations.compact.tree import Value
from chainviz.drafts.target import Target, target_of_job
from chainviz.jobs.models import Job
from chainviz.jobs.tasks import Cancelled, JobContext, start_job
from chainviz.store.content.chain import StoredChain

FUNCTION = "run-strategy"
MESSAGES_AT_ONCE = 5_000
BYTES_AT_ONCE = 1_000_000
"""What a page reads while it is made: shapes of messages, and for summaries the messages themselves."""


def is_long(chain: StoredChain, tree: Value | None) -> bool:
    return len(chain) > MESSAGES_AT_ONCE or (chain.snapshot.stored > BYTES_AT_ONCE and _summarizes(tree))


def _summarizes(node: Any) -> bool:
    if isinstance(node, list):
        return any(map(_summarizes, node))
    if not isinstance(node, dict):
        return False
    return node.get("type") == "summarize" or any(map(_summarizes, node.values()))


def start(target: Target, options: CompactOptions) -> Job:
    return start_job(FUNCTION, owner=target.person, **target.job_args, options=options.model_dump())


def find(target: Target, number: int) -> Job | None:
    jobs = Job.objects.about(target.chain).visible_to(target.person).filter(function=FUNCTION, pk=number)
    return next((job for job in jobs if job.args["seen"] == target.content), None)


def run_content(context: JobContext, **args: Any) -> dict[str, Any]:
    """Returns the run as JSON."""
    target = target_of_job(context.job)
    context.report(0.0, "Reading sizes and roles")
    chosen = CompactOptions.model_validate(args["options"])
    ran = run_strategy(target.stored, chosen, Context(progress=context.report, cancelled=context.is_cancelled))
    if context.is_cancelled():
        raise Cancelled
    return ran.model_dump(mode="json")
