"""The texts of a team's word lists and recipes, for the scan of the library (settings.TEAM_TEXTS)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from chainviz.accounts.models import Team
from chainviz.recipes.models import Recipe, WordList


def texts_of(team: Team | int) -> Iterator[str]:
    for row in WordList.objects.filter(team=team):
        yield from (row.name, row.words, row.patterns)
    for recipe in Recipe.objects.filter(team=team):
        yield recipe.name
        yield from _texts(recipe.steps)


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list | dict):
        for each in value.values() if isinstance(value, dict) else value:
            yield from _texts(each)
