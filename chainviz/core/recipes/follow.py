"""Runs a recipe: the one function for web, bulk, command line and Python."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar

from chainviz.core.chain.chain import Chain
from chainviz.core.errors import ChainError, Refused
from chainviz.core.operations.contract import Context, Outcome
from chainviz.core.operations.execute import execute
from chainviz.core.progress import Progress
from chainviz.core.recipes.recipe import Recipe, Step

C = TypeVar("C", bound=Chain)


def follow(
    recipe: Recipe, chain: C, context_of: Callable[[C], Context], take: Callable[[Step, Outcome], C]
) -> tuple[Outcome, ...]:
    """Runs each step on what the one before made of the chain.

    `take` keeps an outcome that changes something and returns the chain as it is then; a step that changes nothing is passed
    over. Returns the outcome of each step. Raises Refused, naming the step, where one cannot be done.
    """
    outcomes = []
    for number, step in enumerate(recipe.steps):
        given = context_of(chain)
        progress = _share(given.progress, number, len(recipe.steps))
        context = replace(given, word_lists={**given.word_lists, **recipe.lists}, progress=progress)
        try:
            outcome = execute(step.operation.name, step.options, chain, context)
            chain = chain if outcome.is_empty else take(step, outcome)
        except ChainError as refused:
            place = f"Step {number + 1}, {step.operation.label}: " if len(recipe.steps) > 1 else ""
            raise Refused(f"{place}{refused}") from refused
        outcomes.append(outcome)
    return tuple(outcomes)


def _share(progress: Progress, number: int, steps: int) -> Progress:
    """Progress of one step as progress of the recipe."""
    return lambda done, text: progress((number + done) / steps, text)
