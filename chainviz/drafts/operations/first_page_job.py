"""The job that works out the first page of an operation. What it returns is JSON, which the page's choices read again."""

from __future__ import annotations

from typing import Any

from chainviz.core.operations import operation_named
from chainviz.core.operations.redact import RedactOptions
from chainviz.core.operations.summarize import SummarizeOptions
from chainviz.drafts.operations.redact import first_page as redact
from chainviz.drafts.summaries import plan_outline
from chainviz.drafts.target import target_of_job
from chainviz.jobs.tasks import JobContext


def read(context: JobContext, *, operation: str, options: dict[str, Any], **args: Any) -> Any:
    found = operation_named(operation)
    assert found is not None
    chosen = found.Options.model_validate(options)
    target = target_of_job(context.job)
    if isinstance(chosen, RedactOptions):
        return redact.FIRST.dump_python(redact.first_page(target, chosen), mode="json")
    assert isinstance(chosen, SummarizeOptions)
    page = plan_outline.first_page(target.stored, chosen, target.explorer)
    return plan_outline.PLAN_PAGE.dump_python(page, mode="json")
