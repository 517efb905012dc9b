"""Changes: operations, the drafts they make, and versions saved from them. Long work is a job to ask for."""

from __future__ import annotations

from collections import Counter
from typing import Any

from django.db import transaction
from django.http import Http404, HttpRequest
from django.shortcuts import get_object_or_404
from ninja import Router, Status
from ninja.decorators import decorate_view

from chainviz.accounts.audit import note, recorded_together
from chainviz.accounts.models import person_of
from chainviz.accounts.permissions import requires
from chainviz.chains.access import chain_for, version_of
from chainviz.core.formats import read_only
from chainviz.core.operations import OPERATIONS, operation_named
from chainviz.core.operations.contract import Operation, Options
from chainviz.core.operations.execute import read_options
from chainviz.drafts import services
from chainviz.drafts.models import Draft
from chainviz.drafts.operations.run import FUNCTION, changing, is_long, start
from chainviz.drafts.stored_draft import steps_of
from chainviz.drafts.target import Target, draft_for, open_draft_for, target_of_draft, target_of_version
from chainviz.http_api.errors import NotPossible, note_created, repeatable
from chainviz.http_api.shapes import (
    REFUSALS,
    ConflictList,
    ConflictShape,
    DraftList,
    DraftShape,
    Error,
    JobShape,
    OperationCall,
    OperationShape,
    RebaseCall,
    SaveCall,
    VersionShape,
    draft_shape,
    job_shape,
    version_shape,
)
from chainviz.jobs.models import Job
from chainviz.store.history.drafts import undo
from chainviz.store.history.rebase import merge_of

router = Router(tags=["changes"])
DRAFT = "/chains/{int:chain_id}/drafts/{int:draft_id}"


@router.get("/operations", response={200: list[OperationShape], REFUSALS: Error})
@requires("read")
def operations(request: HttpRequest) -> list[OperationShape]:
    """The operations and their options."""
    return [OperationShape(name=each.name, label=each.label, options=each.Options.model_json_schema()) for each in OPERATIONS]


def _changed_before(
    request: HttpRequest, ids: dict[str, int], chain_id: int, **path: object
) -> Status[VersionShape] | Status[DraftShape] | Status[JobShape]:
    if "job" in ids:
        return Status(202, job(request, ids["job"]))
    if "draft" in ids:
        return Status(201, draft(request, chain_id, ids["draft"]))
    chain = chain_for(request, chain_id)
    return Status(200, version_shape(request, chain, version_of(chain, ids["version"])))


@router.post("/chains/{int:chain_id}/operations/{slug:name}", response={200: VersionShape, 201: DraftShape, 202: JobShape, REFUSALS: Error})
@repeatable(_changed_before)
@requires("save")
def run_operation(
    request: HttpRequest, chain_id: int, name: str, call: OperationCall
) -> Status[VersionShape] | Status[DraftShape] | Status[JobShape]:
    """Runs an operation.

    Answers 201 with the draft that has the new step, 200 with the version if `save` is set, and 202 with a job if the chain
    is long: poll the job until it is done, then save its draft.
    """
    operation = operation_named(name)
    if operation is None:
        raise Http404
    note(request, operation=name)
    options = read_options(operation, call.options)
    target = _target(request, chain_id, call)
    sentence = read_only(target.stored.format)
    if sentence and name != "convert":
        raise NotPossible(sentence)
    if is_long(target.stored):
        return Status(202, _started(request, target, operation, options))
    with changing(target, operation, options) as draft:
        note(request, draft=draft.pk)
        if not call.save:
            note_created(request, draft=draft.pk)
    if not call.save:
        return Status(201, draft_shape(request, draft, steps_of(draft)))
    services.keep_note(draft.stored, call.note)  # outlives a conflict
    with transaction.atomic():
        return Status(200, _saved(request, draft, call.note))


@transaction.atomic
def _started(request: HttpRequest, target: Target, operation: Operation[Any], options: Options) -> JobShape:
    job = start(target, operation, options)
    note_created(request, job=job.pk)
    return job_shape(request, job)


def _target(request: HttpRequest, chain_id: int, call: OperationCall) -> Target:
    if call.draft is not None:
        return target_of_draft(open_draft_for(request, chain_id, call.draft))
    chain = chain_for(request, chain_id)
    number, person = call.version or chain.version, person_of(request)
    begun = services.open_draft(chain, person, number)
    if begun is not None and steps_of(begun).all:
        raise NotPossible(f"You already have draft {begun.pk} of version {number}: pass it as `draft`, or save or discard it.")
    return target_of_version(chain, number, person)


@router.get("/chains/{int:chain_id}/drafts", response={200: DraftList, REFUSALS: Error})
@requires("draft")
def drafts(request: HttpRequest, chain_id: int) -> DraftList:
    """Your open drafts of a chain."""
    found = Draft.objects.visible_to(person_of(request)).open().filter(chain=chain_for(request, chain_id))
    return DraftList(drafts=[draft_shape(request, draft, steps_of(draft)) for draft in found.order_by("pk")])


@router.get(DRAFT, response={200: DraftShape, REFUSALS: Error})
@requires("draft")
def draft(request: HttpRequest, chain_id: int, draft_id: int) -> DraftShape:
    """One draft of yours, with its steps."""
    found = draft_for(request, chain_id, draft_id)
    return draft_shape(request, found, steps_of(found))


@router.post(f"{DRAFT}/save", response={200: VersionShape, REFUSALS: Error})
@repeatable(_changed_before)
@decorate_view(recorded_together)
@requires("save")
def save_draft(request: HttpRequest, chain_id: int, draft_id: int, call: SaveCall) -> VersionShape:
    """Saves a draft as the next version; 409 if somebody saved one meanwhile: rebase the draft, then save it."""
    return _saved(request, open_draft_for(request, chain_id, draft_id), call.note)


def _saved(request: HttpRequest, draft: Draft, text: str) -> VersionShape:
    version = services.save(draft, note=text, by=person_of(request))
    note(request, version=version.number)
    note_created(request, version=version.number)
    return version_shape(request, draft.chain, version_of(draft.chain, version.number))


@router.get(f"{DRAFT}/conflicts", response={200: ConflictList, REFUSALS: Error})
@requires("draft")
def draft_conflicts(request: HttpRequest, chain_id: int, draft_id: int) -> ConflictList:
    """The nodes that a draft and a newer version both changed; all other changes merge automatically."""
    found = open_draft_for(request, chain_id, draft_id)
    head = version_of(found.chain, found.chain.version)
    conflicts = [
        ConflictShape(key=each.key, path=str(each.path or ""), choices=list(each.choices))
        for each in merge_of(found.stored, head).conflicts
    ]
    return ConflictList(base=found.base, head=head.number, conflicts=conflicts)


@router.post(f"{DRAFT}/rebase", response={200: DraftShape, REFUSALS: Error})
@decorate_view(recorded_together)
@requires("draft")
def rebase_draft(request: HttpRequest, chain_id: int, draft_id: int, call: RebaseCall) -> DraftShape:
    """Applies a draft's changes to the newest version. Answers 409, without any change, if a conflict has no choice."""
    found = open_draft_for(request, chain_id, draft_id)
    services.rebase(found, call.choices)
    note(request, version=found.base, chosen=dict(Counter(call.choices.values())))
    return draft_shape(request, found, steps_of(found))


@router.post(f"{DRAFT}/undo", response={200: DraftShape, REFUSALS: Error})
@decorate_view(recorded_together)
@requires("draft")
def undo_step(request: HttpRequest, chain_id: int, draft_id: int) -> DraftShape:
    """Undoes the last step of a draft."""
    found = open_draft_for(request, chain_id, draft_id)
    undo(found.stored)
    return draft_shape(request, found, steps_of(found))


@router.post(f"{DRAFT}/discard", response={200: DraftShape, REFUSALS: Error})
@decorate_view(recorded_together)
@requires("draft")
def discard_draft(request: HttpRequest, chain_id: int, draft_id: int) -> DraftShape:
    """Discards a draft. It can be restored on its page until another draft is started."""
    found = open_draft_for(request, chain_id, draft_id)
    services.discard(found)
    return draft_shape(request, found, steps_of(found))


@router.get("/jobs/{int:job_id}", response={200: JobShape, REFUSALS: Error})
@requires("draft")
def job(request: HttpRequest, job_id: int) -> JobShape:
    """The progress of an operation on a long chain."""
    found = Job.objects.visible_to(person_of(request)).filter(function=FUNCTION)
    return job_shape(request, get_object_or_404(found, pk=job_id))
