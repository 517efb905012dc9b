"""Compute the proposal of an operation for a target, before anything is written."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from random import SystemRandom
from typing import Any

from chainviz.core.documents.document_context import DocumentContext, in_memory
from chainviz.core.errors import Refused
from chainviz.core.formats import get_format
from chainviz.core.load import blank
from chainviz.core.operations.contract import WARNING, Context, Decision, Operation, Options, Outcome, read_redaction_switch
from chainviz.core.progress import Progress, ignore_progress
from chainviz.core.secrets import WordList
from chainviz.drafts.target import Target
from chainviz.store.content.chain import StoredChain
from chainviz.store.history.steps import NewStep
from chainviz.store.lineage import redacted_places
from chainviz.store.transfer.document_context import place_of

MOST_KEPT = 300
"""The most characters of an option that a step stores, because a long new text is already in the chain."""


class NothingToDo(Refused):
    """Raised if the operation changes nothing."""


@dataclass(frozen=True, slots=True)
class Proposal:
    step: NewStep
    record: Mapping[str, Any] | None = None
    """The record for the audit log; None if there is none."""


def proposal_of(target: Target, operation: Operation[Any], options: Options, outcome: Outcome) -> Proposal:
    """Return the proposal of an operation. Raises NothingToDo if it changes nothing."""
    if outcome.is_empty:
        raise NothingToDo(" ".join(outcome.warnings) or operation.nothing)
    said = replace(outcome, warnings=(*outcome.warnings, *_leaving(target, outcome)))
    return Proposal(step_of(operation, options, said), said.audit)


def step_of(operation: Operation[Any], options: Options, outcome: Outcome) -> NewStep:
    kept = outcome.kept_options if outcome.kept_options is not None else options.model_dump(exclude_defaults=True)
    said = {name: _short(value) for name, value in kept.items()}
    warnings = [Decision("", WARNING, text) for text in outcome.warnings]
    step = NewStep(outcome.changes, operation.name, said, (*outcome.report, *warnings))
    if outcome.target is None:
        assert outcome.surroundings is None or isinstance(outcome.surroundings, DocumentContext)
        return replace(step, surroundings=outcome.surroundings)
    new, stored = outcome.target, sum(len(change.messages) for change in outcome.changes)
    return replace(step, format=new.name, surroundings=in_memory(*blank(get_format(new.name), stored, new.document)))


def _short(value: Any) -> Any:
    if isinstance(value, str) and len(value) > MOST_KEPT:
        return f"{value[:MOST_KEPT]}… ({len(value):,} characters)"
    return value


def _leaving(target: Target, outcome: Outcome) -> tuple[str, ...]:
    """Yield a warning if a chain of a larger file is converted to a format that cannot be part of that file."""
    format = get_format(outcome.target.name) if outcome.target else None
    place = place_of(target.stored.snapshot) if format and format.lines else None
    if format is None or place is None or not place.is_part:
        return ()
    return (
        f"{format.label} is a file of lines and cannot be part of {target.chain.file_name}: it is exported alone, "
        "and the whole file keeps this chain as uploaded.",
    )


# The context of an operation on a stored chain.


def context_for(chain: StoredChain, progress: Progress = ignore_progress, word_lists: Mapping[str, WordList] | None = None) -> Context:
    return Context(
        random=SystemRandom(),
        progress=progress,
        redaction=read_redaction_switch(os.environ),
        word_lists=word_lists or {},
        redacted=lambda: redacted_places(chain),
    )
