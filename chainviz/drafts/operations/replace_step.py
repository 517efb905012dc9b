"""Change a step of a draft: show its choices again and replace it with a new preview. Later steps are repeated."""

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
"""Operations whose steps are changed on other pages: an edit in its node, summaries in their run."""

SELECTING = ("kind", "since", *SELECTION)
"""Query parameters of an address that select the nodes for the operation."""


def own_step(target: Target, operation: Operation[Any], position: int | None) -> Step | None:
    """Return the step at `position` if this operation made it."""
    if target.draft is None or position is None or operation.name in CHANGED_ELSEWHERE:
        return None
    steps = steps_of(target.draft)
    made = steps.at(position) if position < steps.cursor else None
    return made if made is not None and made.snapshot.operation == operation.name else None


def chosen_in(step: Step, operation: Operation[Any]) -> Options:
    """Return the options of a step. Options that were not stored, such as the patterns of a mask, have their defaults."""
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
    """Return the address of the operation's page for an existing draft. If the only step of the draft is of this operation, the page
    changes that step, so that Back from a preview leads to the choices. Otherwise, or if the query `asked` selects nodes, it adds a
    step."""
    steps = steps_of(draft)
    if kept := {name: asked[name] for name in SELECTING if name in asked}:
        query = urlencode({"draft": draft.pk, **kept}, errors="surrogatepass")
        return f"{reverse('drafts:operation', args=[draft.chain_id, operation.name])}?{query}"
    if steps.cursor == 1 and steps.all[0].snapshot.operation == operation.name and (address := change_address(draft, steps, 0)):
        return address
    return f"{reverse('drafts:operation', args=[draft.chain_id, operation.name])}?draft={draft.pk}&at={steps.cursor}"
