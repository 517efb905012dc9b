"""Run a recipe on one chain. Each of its steps that changes something becomes a step of the person's draft."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from chainviz.core.errors import ChainError, Refused
from chainviz.core.formats import read_only
from chainviz.core.operations.contract import Outcome
from chainviz.core.progress import Progress, ignore_progress
from chainviz.core.recipes import Recipe, Step, follow
from chainviz.drafts import services
from chainviz.drafts.models import Draft
from chainviz.drafts.operations.proposal import NothingToDo, context_for, proposal_of
from chainviz.drafts.services import delete_drafts
from chainviz.drafts.target import Target, target_of_draft, target_of_job
from chainviz.jobs.models import Job
from chainviz.jobs.tasks import Cancelled, JobContext, start_job
from chainviz.recipes import services as recipes
from chainviz.recipes.models import Recipe as KeptRecipe
from chainviz.store.content.chain import StoredChain
from chainviz.store.history.drafts import undo

FUNCTION = "run-recipe"


def run_recipe(
    target: Target, recipe: Recipe, progress: Progress = ignore_progress, on_draft: Callable[[Draft], None] = lambda draft: None
) -> Target:
    """Run a recipe. Return the draft with the new steps, or the target if no step changes anything. `on_draft` is called in the
    transaction of each step. Raises Refused with the name of the step that failed; then the draft has none of the new steps."""
    sentence = read_only(target.stored.format)
    if sentence and recipe.steps[0].operation.name != "convert":
        raise Refused(sentence)
    now = [target]

    def take(step: Step, outcome: Outcome) -> StoredChain:
        proposal = proposal_of(now[-1], step.operation, step.options, outcome)
        with services.add_step(now[-1], proposal) as draft:
            on_draft(draft)
        now.append(target_of_draft(draft))
        return now[-1].stored

    try:
        follow(recipe, target.stored, lambda chain: context_for(chain, progress), take)
    except (ChainError, Cancelled):
        _take_back(now)
        raise
    return now[-1]


def _take_back(made: Sequence[Target]) -> None:
    """Remove the new steps from the draft. `made` is the target, followed by the draft after each step."""
    draft = made[-1].draft
    if made[0].draft is None and draft is not None:
        services.discard(draft)
        delete_drafts(Draft.objects.filter(pk=draft.pk))
    elif draft is not None:
        for _ in made[1:]:
            undo(draft.stored)


def start(target: Target, recipe: KeptRecipe) -> Job:
    return start_job(FUNCTION, owner=target.person, max_attempts=1, **target.job_args, recipe=recipe.pk)


def job_of(target: Target, number: int) -> Job | None:
    """Return the person's job with this number."""
    jobs = Job.objects.about(target.chain).visible_to(target.person).filter(function=FUNCTION, pk=number)
    return jobs.first()


def run_by_job(context: JobContext, **args: Any) -> dict[str, Any]:
    """Return the key of the draft."""
    target = target_of_job(context.job)
    row = KeptRecipe.objects.filter(pk=args["recipe"], team=target.chain.team_id).first()
    if row is None:
        raise Refused("The recipe was deleted meanwhile.")

    def check_cancelled(draft: Draft) -> None:
        if context.is_cancelled():
            raise Cancelled

    made = run_recipe(target, recipes.value_of(row), context.report, check_cancelled)
    if made.draft is None or made is target:
        raise NothingToDo(nothing(row))
    return {"draft": made.draft.pk}


def nothing(row: KeptRecipe) -> str:
    return f"No step of “{row.name}” changes anything here."
