"""Actions on recipes and word lists, and the check of their rows. All writes of this app start here; each raises a ChainError
with one sentence.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from django.db import IntegrityError, transaction
from django.utils import timezone

from chainviz.accounts.models import Membership, Team
from chainviz.core import recipes as core
from chainviz.core.errors import ChainError, OptionsError, Refused
from chainviz.core.recipes import PURGE
from chainviz.core.secrets import word_lists as core_lists
from chainviz.jobs.lease import storable
from chainviz.recipes.models import OfTeam, Recipe, Shelf, WordList
from chainviz.store.checksums import renew_checksums
from chainviz.store.fsck import Finding, changed_rows, guarded

MOST = 500
"""The most recipes, and the most word lists, of a team."""
LONGEST_LIST = 200_000
"""The most characters of a list."""
MOVED_ON = "Somebody saved it after you opened this form. Your text is still here; compare it, then save again."
Row = TypeVar("Row", bound=OfTeam)


class MovedOn(Refused):
    """Raised if somebody else saved it since the form was created."""

    def __init__(self) -> None:
        super().__init__(MOVED_ON)


def lists_of(team: Team | int) -> dict[str, core_lists.WordList]:
    return {each.name: each.value for each in WordList.objects.filter(team=team)}


def value_of(recipe: Recipe) -> core.Recipe:
    """Return the recipe in the form that core runs, with the word lists that it names. Raises OptionsError if one of
    them was deleted."""
    return _runnable(without_lists(recipe), recipe.team_id)


def _runnable(recipe: core.Recipe, team: int) -> core.Recipe:
    """Return the recipe with its word lists. Raises OptionsError, with one sentence, if it cannot run."""
    named = dict.fromkeys(name for step in recipe.steps for name in step.lists)
    return replace(recipe, word_lists=core_lists.chosen_lists(named, lists_of(team))).checked()


def steps_of(recipe: Recipe) -> tuple[core.Step, ...]:
    """Return the steps without the purge, which is not an operation."""
    return tuple(core.make_step(name, options) for name, options in recipe.steps[: -1 if recipe.purges else None])


def without_lists(recipe: Recipe) -> core.Recipe:
    """Return the recipe without its word lists, which only a run needs."""
    return core.Recipe(recipe.name, steps_of(recipe), purges=recipe.purges)


def save_list(row: WordList, typed: core_lists.WordList, *, by: Membership, seen: int) -> WordList:
    """Save a new list, or the next edition of one. Raises MovedOn if somebody else saved it meanwhile."""
    row.name = _name(typed.name, core_lists.LONGEST_NAME)
    row.words, row.patterns = (storable(text.replace("\r\n", "\n")).strip("\n") for text in (typed.words, typed.patterns))
    if len(row.words) + len(row.patterns) > LONGEST_LIST:
        raise Refused(f"A word list has at most {LONGEST_LIST:,} characters.")
    if not row.value.rules():
        raise Refused("Enter a word or a pattern.")
    row.purged_lines = None
    return _saved(row, by, seen)


def create(name: str, steps: Sequence[core.Step], *, by: Membership, purges: bool = False) -> Recipe:
    """Raise OptionsError if the recipe could not run."""
    recipe = _runnable(core.Recipe(_name(name, core.LONGEST_NAME), tuple(steps), purges=purges), by.team_id)
    return _saved(Recipe(team=by.team, name=recipe.name, steps=_packed(recipe)), by, 0)


def create_numbered(name: str, steps: Sequence[core.Step], *, by: Membership, purges: bool = False) -> Recipe:
    """Create a recipe under the name, numbered if the name is taken."""
    taken = set(Recipe.objects.filter(team=by.team).values_list("name", flat=True))
    wanted = _name(name, core.LONGEST_NAME - 5)
    free = next(name for name in (wanted, *(f"{wanted} {n}" for n in range(2, MOST + 3))) if name not in taken)
    return create(free, steps, by=by, purges=purges)


@transaction.atomic
def import_recipe(recipe: core.Recipe, *, by: Membership) -> Recipe:
    """Import a recipe with its word lists. If the team has one with the same name, it must be equal."""
    known = lists_of(by.team_id)
    for each in recipe.word_lists:
        if each.name not in known:
            save_list(WordList(team=by.team), each, by=by, seen=0)
        elif known[each.name] != each:
            raise Refused(f"The team has another word list “{each.name}”. Rename one of them first.")
    return create_numbered(recipe.name, recipe.steps, by=by, purges=recipe.purges)


def change(row: Recipe, to: core.Recipe, *, by: Membership, seen: int) -> Recipe:
    """Save the next edition. Raises MovedOn if somebody else saved it meanwhile, or OptionsError if the recipe could
    not run."""
    row.name, row.steps = _name(to.name, core.LONGEST_NAME), _packed(_runnable(to, row.team_id))
    row.purged_steps = None
    return _saved(row, by, seen)


@transaction.atomic
def delete(row: Recipe | WordList) -> None:
    """Raise Refused for a word list that a recipe names."""
    team = row.team_id
    if isinstance(row, WordList):
        for recipe in Recipe.objects.filter(team=team):
            if any(row.name in step.lists for step in steps_of(recipe)):
                raise Refused(f"The recipe “{recipe.name}” uses this word list. Change the recipe first.")
    shelf = _shelf(team)
    row.delete()
    renew_checksums(Shelf, (shelf.pk,))


def _shelf(team: int) -> Shelf:
    """Lock the recipes and word lists of the team until the transaction ends."""
    Shelf.objects.get_or_create(team_id=team)
    return Shelf.objects.select_for_update().get(pk=team)


def _saved(row: Row, by: Membership, seen: int) -> Row:
    """Save a row. `seen` is the edition that the person changed; 0 for a new row."""
    row.changed_at, row.changed_by, row.edition = timezone.now(), by.user, seen + 1
    model = type(row)
    try:
        with transaction.atomic():
            shelf = _shelf(by.team_id)
            if row.pk is None and model.objects.filter(**{"team": by.team_id}).count() >= MOST:
                raise Refused(f"A team keeps at most {MOST} of them. Delete some first.")
            if row.pk is not None and not model.objects.filter(pk=row.pk, edition=seen).exists():
                raise MovedOn
            if isinstance(row, WordList) and row.pk is not None:
                _rename_in_recipes(row)
            row.save()
            renew_checksums(Shelf, (shelf.pk,))
    except IntegrityError:
        raise Refused(f"The name “{row}” is taken.") from None
    return row


def _rename_in_recipes(row: WordList) -> None:
    """Rename a list in the recipes that use it."""
    before = WordList.objects.values_list("name", flat=True).get(pk=row.pk)
    for recipe in Recipe.objects.filter(team=row.team) if before != row.name else ():
        renamed = [[name, _renamed(options, before, row.name)] for name, options in recipe.steps]
        if renamed != recipe.steps:
            recipe.steps, recipe.edition = renamed, recipe.edition + 1
            recipe.save()


def _renamed(options: Mapping[str, object], old: str, new: str) -> dict[str, object]:
    names = options.get("word_lists")
    if not isinstance(names, list):
        return dict(options)
    return {**options, "word_lists": [new if name == old else name for name in names]}


def _packed(recipe: core.Recipe) -> list[list[object]]:
    return [*([step.operation.name, step.changed_options] for step in recipe.steps), *([[PURGE, {}]] if recipe.purges else ())]


def _name(text: str, longest: int) -> str:
    name = " ".join(storable(text).split())
    if not name or len(name) > longest:
        raise OptionsError(f"A name has 1 to {longest} characters.")
    return name


# The texts of a team's word lists and recipes, for the scan of the library (settings.TEAM_TEXTS).


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
