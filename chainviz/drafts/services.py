"""Change drafts: begin one, add steps, undo, save, discard, rebase, branch; and check them. All writes to drafts start here."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from functools import partial
from typing import NamedTuple

from django.db import IntegrityError, transaction
from django.http import QueryDict
from django.utils import timezone

from chainviz.accounts.models import User
from chainviz.chains import audit as audit
from chainviz.chains.access import version_of
from chainviz.chains.models import Chain
from chainviz.chains.services import TITLE_LENGTH, branched
from chainviz.chains.titles import branch_title
from chainviz.chains.versions.heads import head_moved, store_name
from chainviz.core.chain.messages import Text
from chainviz.core.chain.paths import parse_path
from chainviz.core.errors import ChainError, Refused
from chainviz.core.operations.edit import Edit
from chainviz.core.operations.edit.locate import EditOptions
from chainviz.core.operations.execute import execute
from chainviz.drafts.edit.acts import acts_in
from chainviz.drafts.edit.form import CardPage, edits_in, part_at
from chainviz.drafts.models import Draft, DraftQuerySet
from chainviz.drafts.operations.proposal import Proposal, context_for, step_of
from chainviz.drafts.stored_draft import steps_of
from chainviz.drafts.target import MovedOn, Target
from chainviz.jobs.lease import storable
from chainviz.store.content.chain import chain_of, chain_to_edit
from chainviz.store.errors import Overlap
from chainviz.store.fsck import Finding, changed_rows, guarded
from chainviz.store.history import drafts as store
from chainviz.store.history import rebase as rebasing
from chainviz.store.history.merge import Choices
from chainviz.store.history.steps import take_step, written_step
from chainviz.store.models import Draft as StoreDraft
from chainviz.store.models import Snapshot, Version
from chainviz.store.purge.delete import collect_all
from chainviz.web.formatting import place_in

MOST_NOTE = 500
EDIT = Edit()


class StepRefused(Refused):
    """Raised if one of several edits was refused. None of them is made."""

    def __init__(self, text: str, path: str) -> None:
        super().__init__(text)
        self.path = path
        """The node of the refused edit."""


def open_draft(chain: Chain, person: User, base: int) -> Draft | None:
    return Draft.objects.open().filter(chain=chain, author=person, base=base).first()


@contextmanager
def add_step(target: Target, proposal: Proposal) -> Iterator[Draft]:
    """Add a proposal to the person's draft. The body of the `with` statement runs in the same transaction."""
    with written_step(target.stored.snapshot, target.edition, proposal.step) as add, transaction.atomic():
        draft, replaced = lock_draft(target)
        store.append(draft.stored, add)
        position = draft.stored.cursor - 1
        _repeat_behind(draft.stored, replaced)
        if proposal.record is not None:
            act, number = proposal.step.operation, target.version.number
            audit.note(target.chain, target.person, act, proposal.record, version=number, draft_key=draft.pk)
        yield draft
        audit.took_place(draft.pk, position)


def _repeat_behind(kept: StoreDraft, replaced: Sequence[Snapshot]) -> None:
    """Add a step and repeat later ones. `replaced` are the snapshots of the replaced step and of the steps after it."""
    if len(replaced) < 2:
        return
    try:
        rebasing.repeat_behind(kept, replaced[0], replaced[1:])
    except Overlap as overlap:
        where = ", ".join(path.number for path in overlap.paths[:3]) or "the document around the messages"
        raise Refused(
            f"A later step of your draft changes the same nodes ({where}), so it cannot be repeated after this one. "
            "Undo the later steps first, or add this as another step."
        ) from overlap


@transaction.atomic
def edit(target: Target, page: CardPage, form: QueryDict) -> tuple[Draft, Sequence[Snapshot]]:
    """Apply the edits of a form, one step each: first its values, then additions, then the act of its button. Return the draft and the
    snapshots of the steps."""
    acts = acts_in(form, page)
    edits = edits_in(form, target.stored, page)
    if not edits and not acts:
        raise Refused("Nothing has changed yet: change a text, or press one of the buttons.")
    draft, _ = lock_draft(target)
    kept, before = draft.stored, draft.stored.cursor
    for options in edits:
        _edit(kept, options)
    for act in acts:
        _edit(kept, _with_text_offset(kept, act))
    return draft, steps_of(draft).snapshots[before:]


def _edit(kept: StoreDraft, options: EditOptions) -> None:
    chain = chain_to_edit(store.current(kept))
    try:
        outcome = execute(EDIT.name, options, chain, context_for(chain))
    except ChainError as refused:
        raise StepRefused(str(refused), options.path) from refused
    if outcome.changes:
        store.append(kept, partial(take_step, step=step_of(EDIT, options, outcome)))


def _with_text_offset(kept: StoreDraft, options: EditOptions) -> EditOptions:
    """Return the options of a split with its offset in the stored text, because a browser counts the characters of a field differently."""
    if options.action != "split":
        return options
    part = part_at(chain_of(store.current(kept)), parse_path(options.path))
    if not isinstance(part, Text):
        return options
    return options.model_copy(update={"offset": place_in(part.text, options.offset)})


class LockedDraft(NamedTuple):
    draft: Draft
    replaced: Sequence[Snapshot]
    """The snapshots of the step that the target replaces, and of the steps after it."""


def lock_draft(target: Target) -> LockedDraft:
    """Return the person's draft of the target, locked until the transaction ends. The step that the target replaces, and the steps after
    it, are undone."""
    draft = target.draft or open_draft(target.chain, target.person, target.version.number) or _begin(target)
    edition = store.lock(draft.stored)
    if draft.base == target.version.number:
        draft.stored.base = target.version  # the same row, with everything read of it
    replaced = [] if target.position is None else store.go_back(draft.stored, target.position)
    if store.current(draft.stored).pk != target.stored.snapshot.pk or edition != target.edition:
        raise MovedOn("The draft changed after this form was opened, perhaps in another window. Check it again.")
    return LockedDraft(draft, replaced)


def _begin(target: Target) -> Draft:
    # a discarded draft can be restored until the person begins another one
    delete_drafts(Draft.objects.filter(chain=target.chain, author=target.person))
    kept = store.start_draft(target.version, author=store_name(target.person))
    try:
        with transaction.atomic():
            return Draft.objects.create(chain=target.chain, author=target.person, key=kept.pk, base=target.version.number)
    except IntegrityError as error:
        raise MovedOn("You just started a draft of this version in another window. Open that draft.") from error


def save(draft: Draft, *, note: str, by: User) -> Version:
    """Save a draft. Raises Conflict, and stores the note with the draft, if somebody else saved a version first."""
    kept = draft.stored
    keep_note(kept, note)
    if not kept.cursor:
        raise Refused("The draft changes nothing yet, so there is nothing to save.")
    with transaction.atomic():
        version = store.save(kept, author=store_name(by))
        _done(draft, version.number)
        operations = [step.snapshot.operation for step in store.steps(kept)[: kept.cursor]]
        audit.draft_saved(draft.pk, version.number, operations)
        chain = Chain.objects.select_for_update().get(pk=draft.chain_id)
        head_moved(chain, version, by)
    return version


def keep_note(kept: StoreDraft, note: str) -> None:
    kept.note = note.strip()[:MOST_NOTE].replace("\x00", "")
    kept.save(update_fields=["note"])


def _done(draft: Draft, number: int) -> None:
    draft.saved_as = number
    draft.save(update_fields=["saved_as"])


@transaction.atomic
def discard(draft: Draft) -> None:
    draft.discarded_at = timezone.now()
    draft.save(update_fields=["discarded_at"])
    audit.draft_became(draft.pk, discarded=True)


def bring_back(draft: Draft) -> None:
    """Restore a discarded draft. Raises Refused if another draft of the same version was begun in the meantime."""
    draft.discarded_at = None
    try:
        with transaction.atomic():
            draft.save(update_fields=["discarded_at"])
            audit.draft_became(draft.pk)
    except IntegrityError as error:
        raise Refused("You have another draft of this version; discard that one first.") from error


@transaction.atomic
def rebase(draft: Draft, choices: Choices | None = None) -> None:
    """Apply the same changes to the newest version. Raises Overlap if both sides changed the same content and `choices`
    does not decide it."""
    head = version_of(draft.chain, Chain.objects.values_list("version", flat=True).get(pk=draft.chain_id))
    if head.number == draft.base:
        return
    draft.stored = rebasing.rebase(draft.stored, head, choices)
    draft.base = head.number
    try:
        with transaction.atomic():
            draft.save(update_fields=["base"])
    except IntegrityError as error:
        raise Refused(f"You have another draft of version {head.number}; save or discard that one first.") from error


def branch(draft: Draft, *, title: str, note: str, by: User) -> Chain:
    """Save the draft as a new chain, whose first version has the content of the draft."""
    if not title:
        raise Refused("A branch needs a name.")
    kept = draft.stored
    if note.strip():
        keep_note(kept, note)
    with store.saved_as_branch(kept, author=store_name(by), note=kept.note) as version:
        made = branched(draft.chain, version, by=by)
        if title not in (made.title, branch_title(draft.chain)):
            made.title, made.titled_by = storable(title)[:TITLE_LENGTH], Chain.TitledBy.PERSON
            made.save(update_fields=["title", "titled_by"])
        discard(draft)
        audit.draft_became(draft.pk, branch=made.pk)
    return made


# Deletion of discarded drafts, with content that only they used.


KEPT_DAYS = 7
"""The number of days for which a discarded draft can be restored."""


def collect_discarded() -> None:
    """Delete drafts that were discarded KEPT_DAYS ago, then content that no draft uses any more. The worker calls this regularly."""
    delete_drafts(Draft.objects.filter(discarded_at__lt=timezone.now() - timedelta(days=KEPT_DAYS)))
    collect_all()


@transaction.atomic
def delete_drafts(drafts: DraftQuerySet) -> None:
    """Delete discarded drafts here and in the store. Garbage collection removes their content."""
    for draft in drafts.exclude(discarded_at=None).select_for_update():
        store.discard(StoreDraft.objects.get(pk=draft.key))
        draft.delete()


def fsck_drafts() -> Iterator[Finding]:
    yield from changed_rows((Draft,))
    yield from guarded("The drafts", _drafts())


def _drafts() -> Iterator[Finding]:
    stored = {key: (history, number) for key, history, number in StoreDraft.objects.values_list("pk", "history", "base__number")}
    for draft in Draft.objects.select_related("chain").order_by("pk"):
        kept = stored.pop(draft.key, None)
        if kept is None:
            yield Finding("error", f"Draft {draft.pk} of chain {draft.chain_id} has no steps in the store.")
        elif kept != (draft.chain.history, draft.base):
            yield Finding("error", f"Draft {draft.pk} of chain {draft.chain_id} does not begin with version {draft.base}.")
    for key in stored:
        yield Finding("error", f"Draft {key} of the store belongs to nobody.")
