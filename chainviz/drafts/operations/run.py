"""Runs an operation on a target, and makes its proposal a step of the person's draft."""

from __future__ import annotations

from typing import Any

from chainviz.core.operations.contract import Operation, Options
from chainviz.core.operations.execute import execute
from chainviz.core.progress import Progress, ignore_progress
from chainviz.drafts import services
from chainviz.drafts.models import Draft
from chainviz.drafts.operations.context import context_for
from chainviz.drafts.operations.proposal import Proposal, proposal_of
from chainviz.drafts.target import Target


def propose(
    target: Target, operation: Operation[Any], options: Options, progress: Progress = ignore_progress
) -> Proposal:
    """Raises Refused where nothing changes."""
    outcome = execute(operation.name, options, target.stored, context_for(target.stored, progress))
    return proposal_of(target, operation, options, outcome)


def change(target: Target, operation: Operation[Any], options: Options) -> Draft:
    """Returns the draft with its new step. The work is done before anything is locked."""
    proposal = propose(target, operation, options)
    with services.taking(target, proposal) as draft:
        return draft
