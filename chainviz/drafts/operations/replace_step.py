"""Change a step of a draft: its choices are shown again, and a new preview replaces it. Later steps are repeated."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

from django.urls import reverse
from pydantic import ValidationError

from chainviz.core.operations import operation_named
from chainviz.core.operations.contract import Operation, Options
from chainviz.drafts.models import Draft
from chainviz.drafts.operations.redact.form import SELECTION
from chainviz.drafts.stored_draft import Steps, steps_of
from chainviz.drafts.target import Target
from chainviz.store.content.codec import unpack
from chainviz.store.models import Step

CHANGED_ELSEWHERE = {"edit", "summarize"}
"""An edit is changed in its node; summaries are changed in their run."""

SELECTING = ("kind", "since", *SELECTION)
"""Words of an address that say on what the operation is to run."""


def own_step(target: Target, operation: Operation[Any], position: int | None) -> Step | None:
    """Returns the step at `position` where this operation made it."""
    if target.draft is None or position is None or operation.name in CHANGED_ELSEWHERE:
        return None
    steps = steps_of(target.draft)
    made = steps.at(position) if position < steps.cursor else None
    return made if made is not None and made.snapshot.operation == operation.name else None


def chosen_in(step: Step, operation: Operation[Any]) -> Options:
    """Returns the options of a step; those that were not stored, such as the patterns of a mask, are the defaults."""
    kept = {name: value for name, value in unpack(step.snapshot.options).items() if name in operation.Options.model_fields}
    try:
        return operation.Options.model_validate(kept)
    except ValidationError as refused:
        wrong = {error["loc"][0] for error in refused.errors() if error["loc"]}
        return operation.Options.model_validate({name: value for name, value in kept.items() if name not in wrong})


def change_address(draft: Draft, steps: Steps, position: int) -> str:
    """Return the address at which the choices of a step are changed; empty if they cannot be."""
    name = steps.all[position].snapshot.operation if position < steps.cursor else ""
    if operation_named(name) is None or name in CHANGED_ELSEWHERE:
        return ""
    return f"{reverse('drafts:operation', args=[draft.chain_id, name])}?draft={draft.pk}&at={position}"


def address_of(operation: Operation[Any], draft: Draft, asked: Mapping[str, str]) -> str:
    """The page of the operation for a draft that was begun: for its only step, where that is one of this operation, so
    that Back from a preview leads to the choices; else for the next step. `asked`: the query; what it selects is a next step."""
    steps = steps_of(draft)
    if kept := {name: asked[name] for name in SELECTING if name in asked}:
        query = urlencode({"draft": draft.pk, **kept}, errors="surrogatepass")
        return f"{reverse('drafts:operation', args=[draft.chain_id, operation.name])}?{query}"
    if steps.cursor == 1 and steps.all[0].snapshot.operation == operation.name and (address := change_address(draft, steps, 0)):
        return address
    return f"{reverse('drafts:operation', args=[draft.chain_id, operation.name])}?draft={draft.pk}&at={steps.cursor}"
