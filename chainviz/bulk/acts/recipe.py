"""The act that runs a recipe of the team on each chain."""

from __future__ import annotations

from typing import Any

from django import forms
from pydantic import Field

from chainviz.accounts.models import Membership
from chainviz.accounts.permissions import Permission
from chainviz.bulk.acts.change import HINT, new_version, version_before
from chainviz.bulk.acts.contract import Act, Finish, Work
from chainviz.bulk.models import BulkRow, BulkRun
from chainviz.core.errors import ChainError, Refused
from chainviz.core.operations.contract import Options
from chainviz.recipes.models import Recipe
from chainviz.recipes.services import value_of, without_lists
from chainviz.recipes.step_form import replace_field
from chainviz.web.forms import OptionsForm

CHANGED = "The recipe was changed or deleted after this run started."


class RecipeOptions(Options):
    recipe: str = Field("", title="Recipe", description="Its steps run on each chain, from first to last.")
    """The key and edition of the recipe, such as `4.2`, so that all chains of a run get the same steps."""


class RunRecipe(Act):
    name, label, doing, done, icon = "recipe", "Run a recipe", "Running the recipe", "changed", "edit"
    permission: Permission = "save"
    hint = HINT
    first: tuple[str, ...] = ("recipe",)
    Options = RecipeOptions

    def adapt(self, form: OptionsForm[Any], member: Membership) -> None:
        rows = Recipe.objects.visible_to(member)
        choices = [(f"{row.pk}.{row.edition}", f"{row.name}: {' → '.join(without_lists(row).labels)}") for row in rows]
        select = forms.Select(attrs={"class": "select"})

        def can_run(key: str) -> None:
            if (row := _recipe_of(member.team_id, key)) is not None:
                try:
                    value_of(row)
                except ChainError as refused:
                    raise forms.ValidationError(str(refused)) from None

        replace_field(form, "recipe", forms.ChoiceField(choices=choices, widget=select, validators=[can_run]))
        form.fields["recipe"].required = True
        if not choices:
            form.fields["recipe"].help_text = "No recipes yet. Create one under Recipes in the library first."

    def title_of(self, run: BulkRun) -> str:
        row = _recipe_of(run.team_id, str(run.options.get("recipe", "")))
        return f"Recipe “{row.name}”" if row is not None else self.label

    def prepare(self, work: Work) -> Finish:
        assert isinstance(work.options, RecipeOptions)
        row = _recipe_of(work.chain.team_id, work.options.recipe)
        if row is None or work.options.recipe != f"{row.pk}.{row.edition}":
            raise Refused(CHANGED)
        return new_version(work, value_of(row), f"Recipe “{row.name}”", "No step changes anything.")

    def undo(self, work: Work, made: BulkRow) -> Finish:
        return version_before(work, made)


def _recipe_of(team: int, text: str) -> Recipe | None:
    key = text.partition(".")[0]
    return Recipe.objects.filter(team=team, pk=int(key)).first() if key.isdecimal() and len(key) < 10 else None
