"""Checks recipes and word lists: rows against their checksums, and that each recipe can still be run."""

from __future__ import annotations

from collections.abc import Iterator

from chainviz.core.errors import ChainError
from chainviz.recipes.models import Recipe, Shelf, WordList
from chainviz.recipes.services import value_of
from chainviz.store.fsck import Finding, changed_rows, guarded


def fsck_recipes() -> Iterator[Finding]:
    yield from changed_rows((Shelf, WordList, Recipe))
    for model in (WordList, Recipe):
        for key in model._base_manager.filter(team__shelf=None).values_list("pk", flat=True):
            yield Finding("error", f"{str(model._meta.verbose_name).capitalize()} {key} is on no shelf of a team.")
    yield from guarded("The recipes", _recipes())


def _recipes() -> Iterator[Finding]:
    for recipe in Recipe.objects.order_by("pk"):
        try:
            value_of(recipe)
        except ChainError as refused:
            yield Finding("error", f"Recipe {recipe.pk} cannot be run: {refused}")
