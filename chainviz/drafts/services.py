"""What a person does to a draft: begin it, add steps, undo, save, discard, rebase, branch. All writes start here."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from random import SystemRandom
from typing import Any

from django.db import IntegrityError, transaction
from django.http import QueryDict
from django.utils import timezone

from chainviz.chains.audit import records as audit
from chainviz.chains.models import Chain
from chainviz.chains.services import TITLE_LENGTH, branched
from chainviz.chains.versions.heads import head_moved, store_name
from chainviz.core.chain.messages import Text
from chainviz.core.chain.paths import parse_path
from chainviz.core.documents.context import Surroundings
from chainviz.core.errors import ChainError, Refused
from chainviz.core.formats import get_format
from chainviz.core.load import blank
from chainviz.core.operations.contract import Context, Operation, Options, Outcome
from chainviz.core.operations.edit import Edit
from chainviz.core.operations.edit.options import EditOptions
from chainviz.drafts.edit.form import Shown, act_in, edits_in, part_at
from chainviz.drafts.models import Draft
from chainviz.drafts.stored import snapshot_of, stored_draft
from chainviz.drafts.target import Ground, version_of
from chainviz.jobs.lease import storable
from chainviz.store.content.chain import StoredChain
from chainviz.store.history import drafts as store
from chainviz.store.history import rebase as rebasing
from chainviz.store.history import versions
from chainviz.store.history.steps import NewStep, written_step
from chainviz.store.models import Draft as StoreDraft
from chainviz.store.models import Version
from chainviz.store.transfer.document_context import place_of
from chainviz.store.transfer.leases import held_edition
from chainviz.web.formatting.text_fields import place_in

MOST_NOTE = 500
MOST_KEPT = 300
"""Characters of an option that a step keeps: a long new text is in the chain already."""
EDIT = Edit()
Report = Callable[[float, str], None]


class MovedOn(Refused):
    """The content a form was made for is no longer what the draft holds."""


class StepRefused(Refused):
    """One edit of several was refused, so none was made."""

    def __init__(self, text: str, path: str) -> None:
        super().__init__(text)
        self.path = path
        """The node it is about."""


def open_draft(chain: Chain, user: Any, base: int) -> Draft | None:
    return Draft.objects.open().filter(chain=chain, author=user, base=base).first()


def ground_of_draft(draft: Draft) -> Ground:
    return Ground(draft.chain, version_of(draft.chain, draft.base), draft, StoredChain(snapshot_of(draft)))


def change(ground: Ground, user: Any, operation: Operation[Any], options: Options) -> tuple[Draft, tuple[str, ...]]:
    """One step of an operation; its draft and what the person should know. The work is done before anything is held."""
    outcome = worked_out(ground, operation, options)
    return take(ground, user, operation, options, outcome), warnings_of(ground, outcome)


def worked_out(
    ground: Ground, operation: Operation[Any], options: Options, progress: Report = lambda done, text: None
) -> Outcome:
    """What the operation proposes; Refused where that is nothing."""
    outcome = operation.run(ground.stored, options, Context(random=SystemRandom(), progress=progress))
    if not outcome.changes:
        raise Refused(" ".join(outcome.warnings) or "There is nothing to change with these choices.")
    return outcome


def warnings_of(ground: Ground, outcome: Outcome) -> tuple[str, ...]:
    """What the person should know of it."""
    return (*outcome.warnings, *_leaving(ground, outcome))


def _leaving(ground: Ground, outcome: Outcome) -> tuple[str, ...]:
    """Said where a chain of a larger file becomes one that cannot stand in it any more."""
    format = get_format(outcome.target[0]) if outcome.target else None
    place = place_of(ground.stored.snapshot) if format and format.lines else None
    if format is None or place is None or not place.is_part:
        return ()
    return (
        f"{format.label} is a file of lines and cannot stand inside {ground.chain.file_name}: it is exported alone, "
        "and the whole file holds this chain as it was uploaded.",
    )


def take(ground: Ground, user: Any, operation: Operation[Any], options: Options, outcome: Outcome) -> Draft:
    """What an operation proposes for this ground becomes a step of the person's draft."""
    with taking(ground, user, operation, options, outcome) as draft:
        return draft


@contextmanager
def taking(
    ground: Ground, user: Any, operation: Operation[Any], options: Options, outcome: Outcome
) -> Iterator[Draft]:
    """As `take`; the block is part of the transaction that makes the step."""
    with adding(ground, user, _step(operation, options, outcome)) as draft:
        yield draft


@contextmanager
def adding(ground: Ground, user: Any, step: NewStep) -> Iterator[Draft]:
    """A step of the person's draft on this ground; the block is part of the transaction that makes it."""
    with written_step(ground.stored.snapshot, ground.edition, step) as add, transaction.atomic():
        kept, draft = held(ground, user)
        store.add(kept, add)
        yield draft
        audit.took_place(draft.pk, kept.cursor - 1)


@transaction.atomic
def edit(ground: Ground, user: Any, page: Shown, form: QueryDict) -> tuple[Draft, tuple[str, ...]]:
    """All that a form says, one step each: first its values, then what its button asks for."""
    act = act_in(form)
    edits = edits_in(form, ground.stored, page)
    if not edits and act is None:
        raise Refused("Nothing is different yet: change a text, or press one of the buttons.")
    kept, draft = held(ground, user)
    warnings: list[str] = []
    for options in edits:
        warnings += _edit(kept, options)
    if act is not None:
        warnings += _edit(kept, _placed(kept, act))
    return draft, tuple(dict.fromkeys(warnings))


def _edit(kept: StoreDraft, options: EditOptions) -> tuple[str, ...]:
    chain = StoredChain(store.current(kept))
    try:
        outcome = EDIT.run(chain, options, Context())
    except ChainError as refused:
        raise StepRefused(str(refused), options.path) from refused
    if outcome.changes:
        store.add_step(kept, _step(EDIT, options, outcome))
    return outcome.warnings


def _placed(kept: StoreDraft, options: EditOptions) -> EditOptions:
    """A browser counts the characters of its field, which are not always those of the text."""
    if options.action != "split":
        return options
    part = part_at(StoredChain(store.current(kept)), parse_path(options.path))
    if not isinstance(part, Text):
        return options
    return options.model_copy(update={"offset": place_in(part.text, options.offset)})


def held(ground: Ground, user: Any) -> tuple[StoreDraft, Draft]:
    """The person's draft on this ground, which nobody else changes until the transaction ends."""
    draft = ground.draft or open_draft(ground.chain, user, ground.version.number) or _begin(ground, user)
    kept = StoreDraft.objects.select_for_update().get(pk=draft.key)
    if (store.current(kept).pk, held_edition(kept.history_id)) != (ground.stored.snapshot.pk, ground.edition):
        raise MovedOn("The draft changed since this form was made, perhaps in another window; look at it again.")
    return kept, draft


def _begin(ground: Ground, user: Any) -> Draft:
    # a draft that was discarded can be brought back until the next one begins
    Draft.objects.filter(chain=ground.chain, author=user).exclude(discarded_at=None).delete()
    kept = store.start_draft(ground.version, author=store_name(user))
    try:
        with transaction.atomic():
            return Draft.objects.create(chain=ground.chain, author=user, key=kept.pk, base=ground.version.number)
    except IntegrityError as error:
        raise MovedOn("You began to change this version in another window just now; look at that draft.") from error


def _step(operation: Operation[Any], options: Options, outcome: Outcome) -> NewStep:
    said = {name: _short(value) for name, value in options.model_dump(exclude_defaults=True).items()}
    step = NewStep(outcome.changes, operation.name, said, outcome.report)
    if outcome.target is None:
        return step
    name, _ = outcome.target
    return replace(step, format=name, surroundings=Surroundings(*blank(get_format(name))))


def _short(value: Any) -> Any:
    if isinstance(value, str) and len(value) > MOST_KEPT:
        return f"{value[:MOST_KEPT]}… ({len(value):,} characters)"
    return value


def undo(draft: Draft) -> bool:
    return store.undo(stored_draft(draft))


def redo(draft: Draft) -> bool:
    return store.redo(stored_draft(draft))


def save(draft: Draft, *, note: str, by: Any) -> Version:
    """Conflict where somebody was faster; then the note is kept with the draft."""
    kept = stored_draft(draft)
    keep_note(kept, note)
    if not kept.cursor:
        raise Refused("The draft changes nothing yet, so there is nothing to save.")
    with transaction.atomic():
        version = versions.save(kept, author=store_name(by))
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
    """Refused where another draft of the same version was begun in the meantime."""
    draft.discarded_at = None
    try:
        with transaction.atomic():
            draft.save(update_fields=["discarded_at"])
            audit.draft_became(draft.pk)
    except IntegrityError as error:
        raise Refused("You have begun another draft of this version; discard that one first.") from error


@transaction.atomic
def rebase(draft: Draft) -> None:
    """The same changes on the newest version; Overlap where both sides changed the same pairs."""
    head = version_of(draft.chain, Chain.objects.values_list("version", flat=True).get(pk=draft.chain_id))
    rebasing.rebase(stored_draft(draft), head)
    draft.base = head.number
    try:
        with transaction.atomic():
            draft.save(update_fields=["base"])
    except IntegrityError as error:
        raise Refused(
            f"You have begun another draft of version {head.number}; save or discard that one first."
        ) from error


def branch(draft: Draft, *, title: str, note: str, by: Any) -> Chain:
    """A chain of its own whose first version is what the draft proposes."""
    if not title:
        raise Refused("A branch needs a name.")
    kept = stored_draft(draft)
    if note.strip():
        keep_note(kept, note)
    with versions.saved_as_branch(kept, author=store_name(by), note=kept.note) as version:
        made = branched(draft.chain, version, by=by)
        made.title = storable(title)[:TITLE_LENGTH]
        made.save(update_fields=["title"])
        discard(draft)
        audit.draft_became(draft.pk, branch=made.pk)
    return made
