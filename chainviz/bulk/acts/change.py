"""Acts that change content: an operation on each chain, saved as its next version."""

from __future__ import annotations

from collections import Counter
from typing import Any

from pydantic import model_validator

from chainviz.accounts.permissions import Permission
from chainviz.bulk.acts.contract import Act, Finish, Outcome, Result, Work
from chainviz.bulk.models import PURGES, BulkRow, BulkRun
from chainviz.chains import services as chains
from chainviz.chains.access import version_of
from chainviz.chains.models import Chain
from chainviz.chains.verdicts import next_call_errors, provider_of, verdicts_by_provider
from chainviz.chains.versions.history import changed_rows, describe_step
from chainviz.core.chain.surroundings import refuse_unread
from chainviz.core.counts import count_text
from chainviz.core.errors import Refused
from chainviz.core.operations.compact import NO_LIMIT, CompactOptions
from chainviz.core.operations.contract import Operation
from chainviz.core.operations.execute import get_operation
from chainviz.core.operations.mask import MASK
from chainviz.core.operations.repair import OPERATION as REPAIR
from chainviz.core.operations.repair.fixes import FIX_LABELS
from chainviz.core.recipes import Recipe, Step
from chainviz.core.secrets.word_lists import chosen_lists
from chainviz.drafts import services
from chainviz.drafts.models import Draft
from chainviz.drafts.operations.recipe import run_recipe
from chainviz.drafts.services import delete_drafts
from chainviz.drafts.stored_draft import steps_of
from chainviz.drafts.target import Target, target_of_version
from chainviz.recipes.services import lists_of
from chainviz.recipes.step_form import FIRST
from chainviz.store.content.chain import StoredChain
from chainviz.store.content.codec import unpack
from chainviz.store.errors import Conflict
from chainviz.store.models import Snapshot
from chainviz.store.outline.build import outline_of
from chainviz.store.transfer.document_context import context_of
from chainviz.web.formatting import byte_text

OPEN_DRAFT = "You have an open draft of it. Save or discard the draft first."
HINT = "Each changed chain gets a new version; undo restores the version before."
SAVED_SINCE = "Version {} was saved since. Restore an older version on its versions page."


class Change(Act):
    """An act that runs one operation, as a recipe with one step."""

    permission: Permission = "save"
    hint = HINT

    def __init__(self, operation: Operation[Any], done: str, nothing: str) -> None:
        self.operation, self.nothing = operation, nothing
        self.name, self.label, self.doing = operation.name, operation.label, operation.doing
        self.icon, self.Options = operation.badge.icon, operation.Options
        self.done, self.first = done, FIRST.get(operation.name, ())

    def prepare(self, work: Work) -> Finish:
        step = Step(self.operation, work.options)
        lists = chosen_lists(step.lists, lists_of(work.chain.team_id))
        return new_version(work, Recipe(self.label, (step,), lists), f"{self.label}, in bulk", self.nothing)

    def undo(self, work: Work, made: BulkRow) -> Finish:
        return version_before(work, made)


def new_version(work: Work, recipe: Recipe, note: str, nothing: str) -> Finish:
    """Run a recipe in a draft of the person, which finishing saves as a version. `nothing` is the sentence of the row if nothing
    changes."""
    target = target_of_version(work.chain, work.chain.version, work.member.user)
    draft = services.open_draft(work.chain, work.member.user, target.version.number)
    if draft is not None and steps_of(draft).all:
        raise Refused(OPEN_DRAFT)
    if any(step.operation.name == REPAIR.name for step in recipe.steps):
        refuse_unread(context_of(target.version.snapshot).unread)
    made = run_recipe(target, recipe, work.progress, lambda begun: _keep(work, begun))
    number = target.version.number
    if made is target or made.draft is None:
        return lambda: Result(Outcome.UNCHANGED, nothing, number)
    begun, text = made.draft, _words(target, made.draft)
    masked = any(step.snapshot.operation == MASK.name for step in steps_of(begun).all)

    def finish() -> Result:
        try:
            version = services.save(begun, note=note, by=work.member.user)
        except Conflict as conflict:
            raise Refused(f"Version {conflict.head.number} was saved meanwhile. Run it again on this chain.") from None
        if not masked:
            return Result(Outcome.CHANGED, text, number, version.number)
        if recipe.purges:
            BulkRun.objects.filter(pk=work.row.run_id).update(awaits_purge=True)
        facts = {"masked": True, **({PURGES: True} if recipe.purges else {})}
        return Result(Outcome.CHANGED, text, number, version.number, facts)

    return finish


def _keep(work: Work, draft: Draft) -> None:
    """Store the draft in the row, so that a worker that takes over the job can start this chain again."""
    BulkRow.objects.filter(pk=work.row.pk).update(draft=draft)
    work.progress(1.0, "")


def _words(target: Target, draft: Draft) -> str:
    steps = [step.snapshot for step in steps_of(draft).all]
    found = [_name_and_detail(step) for step in steps]
    named = [detail or name for name, detail in found] if len(found) == 1 else [": ".join(filter(None, each)) for each in found]
    said = "; ".join(each.removesuffix(".") for each in named)
    left = _errors_left(steps[-1]) if any(step.operation == REPAIR.name for step in steps) else ""
    return f"{said}. {byte_text(target.version.snapshot.size)} → {byte_text(steps[-1].size)}.{left}"


def _errors_left(snapshot: Snapshot) -> str:
    """Return a sentence on the errors that no fix ends; "" if the API of the chain accepts it."""
    chain = StoredChain(snapshot)
    provider = provider_of(chain)
    errors = next_call_errors(chain, provider, verdicts_by_provider(unpack(outline_of(snapshot).verdicts))[provider].errors)
    return f" {provider.speaker} still refuses it: {count_text(errors, 'error')}." if errors else ""


def _name_and_detail(step: Snapshot) -> tuple[str, str]:
    name, detail = describe_step(step)
    if step.operation != REPAIR.name:
        return name, detail
    fixes = Counter(str(row["action"]) for row in changed_rows(unpack(step.report)))
    return name, ", ".join(f"{FIX_LABELS.get(each, each)}{f' ({count:,})' if count > 1 else ''}" for each, count in fixes.items())


def drop_draft(row: BulkRow) -> None:
    """Delete the draft of an unfinished chain."""
    for draft in Draft.objects.open().filter(pk=row.draft_id or 0):
        services.discard(draft)
        delete_drafts(Draft.objects.filter(pk=draft.pk))


def version_before(work: Work, made: BulkRow) -> Finish:
    """Save the content before the run as the newest version, unless somebody has saved another version since."""
    assert made.before is not None
    before = made.before

    def finish() -> Result:
        chain = Chain.objects.select_for_update().get(pk=work.chain.pk)
        if chain.version != made.after:
            raise Refused(SAVED_SINCE.format(chain.version))
        version = chains.restore(chain, version_of(chain, before), by=work.member.user)
        return Result(Outcome.CHANGED, f"Version {before} is back.", made.after, version.number)

    return finish


# The act Compact, with a saved strategy of the person or with limits.


class LimitedOptions(CompactOptions):
    @model_validator(mode="after")
    def _has_limit(self) -> LimitedOptions:
        if self.compactor is None:
            raise ValueError(NO_LIMIT.rstrip("."))
        return self


class CompactAll(Change):
    def __init__(self) -> None:
        super().__init__(get_operation("compact"), "compacted", "Nothing to compact.")
        self.Options = LimitedOptions
