"""The form of an operation for chains in general: its options without those of one chain, the usual ones first."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from django import forms
from django.http import QueryDict

from chainviz.core.operations.contract import Options
from chainviz.core.operations.mask import MaskOptions
from chainviz.core.operations.redact import POLICIES, RedactOptions
from chainviz.core.operations.repair import RepairOptions
from chainviz.core.providers import PROVIDERS
from chainviz.core.recipes.recipe import OF_ONE_CHAIN
from chainviz.web.forms import Group, OptionsForm, options_form

FIRST = {
    "repair": ("goal", "resumes"),
    "mask": ("strategy", "look_for", "word_lists", "own_words", "own_patterns"),
    "redact": ("policy", "placeholder"),
    "summarize": ("preset",),
    "compact": ("strategy", "max_messages", "max_tokens"),
    "observations": ("to", "roles"),
    "convert": ("to", "call_ids", "reasoning"),
}
"""By operation; its other options are advanced."""
NO_LISTS = "No word list is kept yet."
GOALS = [("", "What the tree asks"), *((each.name, f"Valid for {each.label}") for each in PROVIDERS)]
RULES = [(each.name, each.label) for each in POLICIES if each.name != "by_hand"]


def step_form(model: type[Options], lists: Iterable[str], data: QueryDict | None = None) -> OptionsForm[Any]:
    """`lists`: names of the team's word lists."""
    form = options_form(model)(data)
    for name in OF_ONE_CHAIN & set(form.fields):
        del form.fields[name]
    if model is RepairOptions:
        replace_field(form, "goal", forms.ChoiceField(choices=GOALS, widget=forms.Select(attrs={"class": "select"})))
    if model is RedactOptions:
        replace_field(form, "policy", forms.ChoiceField(choices=RULES, widget=forms.Select(attrs={"class": "select"})))
    if model is MaskOptions:
        replace_field(form, "word_lists", _boxes([(name, name) for name in lists]))
    return form


def filled(model: type[Options], lists: Iterable[str], options: Options) -> OptionsForm[Any]:
    """With these options, which were chosen before."""
    form = step_form(model, lists)
    form.initial = {
        name: list(value) if name == "word_lists" else ", ".join(map(str, value)) if isinstance(value, tuple) else value
        for name, value in options.model_dump().items()
    }
    return form


def groups_of(form: OptionsForm[Any], first: Sequence[str]) -> tuple[list[forms.BoundField], list[Group[Any]]]:
    """The fields that are shown at once, and the groups that are advanced."""
    advanced: list[Group[Any]] = []
    for group in form.groups():
        rest = tuple(field for field in group.fields if field.name not in first)
        if rest:
            advanced.append(Group(group.legend, rest))
    return [form[name] for name in first if name in form.fields], advanced


def _boxes(choices: list[tuple[str, str]]) -> forms.MultipleChoiceField:
    return forms.MultipleChoiceField(choices=choices, widget=forms.CheckboxSelectMultiple)


def replace_field(form: OptionsForm[Any], name: str, field: Any) -> None:
    """Puts a field with choices in the place of one, under the same label."""
    old = form.fields[name]
    field.label, field.help_text, field.initial, field.required = old.label, old.help_text, old.initial, False
    field.legend, field.unit, field.default_text = "", "", ""
    if isinstance(field, forms.MultipleChoiceField):
        field.initial = []
        field.help_text = old.help_text if field.choices else NO_LISTS
    form.fields[name] = field
