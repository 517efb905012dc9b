"""Runs an operation on a target, and makes its proposal a step of the person's draft."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from chainviz.core.operations.contract import Operation, Options
from chainviz.core.operations.execute import execute
from chainviz.core.progress import Progress, ignore_progress
from chainviz.drafts import services
from chainviz.drafts.models import Draft
from chainviz.drafts.operations.context import context_for
from chainviz.drafts.operations.proposal import Proposal, proposal_of
from chainviz.drafts.target import Target
from chainviz.recipes.services import lists_of


def propose(
    target: Target, operation: Operation[Any], options: Options, progress: Progress = ignore_progress
) -> Proposal:
    """Raises NothingToDo where nothing changes, Refused where it cannot be done."""
    context = context_for(target.stored, progress, lists_of(target.chain.team_id))
    outcome = execute(operation.name, options, target.stored, context)
    return proposal_of(target, operation, options, outcome)


@contextmanager
def changing(target: Target, operation: Operation[Any], options: Options) -> Iterator[Draft]:
    """Yields the draft with its new step, in the transaction that adds it. The work is done before anything is locked."""
    proposal = propose(target, operation, options)
    with services.taking(target, proposal) as draft:
        yield draft


def change(target: Target, operation: Operation[Any], options: Options) -> Draft:
    with changing(target, operation, options) as draft:
        return draft
