"""The form of an operation for chains in general: its options without those of one chain, the usual ones first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django import forms
from django.conf import settings
from django.http import QueryDict
from django.utils.module_loading import import_string

from chainviz.accounts.models import Membership
from chainviz.core.formats.vendors import PROVIDERS
from chainviz.core.operations.compact import CompactOptions, parse_strategy, print_strategy, strategy_words
from chainviz.core.operations.contract import Options
from chainviz.core.operations.mask import MaskOptions
from chainviz.core.operations.redact import RedactOptions
from chainviz.core.operations.redact.policies import ByHand
from chainviz.core.operations.repair import RepairOptions
from chainviz.core.operations.repair.fixes import OWN
from chainviz.core.recipes import OF_ONE_CHAIN
from chainviz.recipes.services import lists_of
from chainviz.web.forms import Group, OptionsForm, options_form

FIRST = {
    "repair": ("goal", "resumes"),
    "mask": ("strategy", "look_for", "word_lists", "own_words", "own_patterns"),
    "summarize": ("preset",),
    "compact": ("strategy", "max_messages", "max_tokens", "target_tokens"),
    "observations": ("to", "roles"),
    "convert": ("to", "provider", "drop_reasoning"),
}
"""The options that are shown first, by operation; the others are advanced. A redaction has its own fields."""
NO_LISTS = "No word lists yet."
SAVE_ONE = "Strategies that you save on the Compact page of a chain are offered here."
GOALS = [
    (OWN, "Valid for each chain’s own API"),
    ("", "Structure problems only"),
    *((each.name, f"Valid for {each.label}") for each in PROVIDERS),
]


def step_form(model: type[Options], member: Membership, data: QueryDict | None = None, chosen: Options | None = None) -> OptionsForm[Any]:
    """Offer the word lists of the member's team and the strategies that the member saved.

    `chosen`: the options before, which the form begins with.
    """
    form = RuleForm(data, of_one_chain=False) if model is RedactOptions else options_form(model)(data)
    for name in OF_ONE_CHAIN & set(form.fields):
        del form.fields[name]
    if model is RepairOptions:
        replace_field(form, "goal", forms.ChoiceField(choices=GOALS, widget=forms.Select(attrs={"class": "select"})))
        form.initial["goal"] = OWN
        form.fields["goal"].help_text = "Only what this API would refuse is fixed."
    if model is MaskOptions:
        replace_field(form, "word_lists", _boxes([(name, name) for name in sorted(lists_of(member.team_id))]))
    if chosen is not None:
        form.begin_with(chosen)
    if issubclass(model, CompactOptions):
        _offer_strategies(form, member, chosen)
    return form


def _offer_strategies(form: OptionsForm[Any], member: Membership, chosen: Options | None) -> None:
    saved: dict[str, str] = dict(import_string(settings.SAVED_STRATEGIES)(member.user))
    hint = "Replaces the limits below." if saved else SAVE_ONE
    if isinstance(chosen, CompactOptions) and chosen.strategy.strip():
        strategy = parse_strategy(chosen.strategy)
        form.initial["strategy"] = print_strategy(strategy)
        saved.setdefault(form.initial["strategy"], strategy_words(strategy))
    select = forms.Select(attrs={"class": "select"})
    replace_field(form, "strategy", forms.ChoiceField(choices=[("", "The limits below"), *saved.items()], widget=select))
    form.fields["strategy"].help_text = hint


def context_of(form: OptionsForm[Any], first: Sequence[str]) -> dict[str, Any]:
    """Return the template that shows the options, and its context: the fields that are shown first and the groups that
    are advanced."""
    if isinstance(form, RuleForm):
        return {"form": form, "options_template": "recipes/_redaction.html"}
    advanced: list[Group[Any]] = []
    for group in form.groups():
        rest = tuple(field for field in group.fields if field.name not in first)
        if rest:
            advanced.append(Group(group.legend, rest))
    shown = [form[name] for name in first if name in form.fields]
    return {"form": form, "options_template": "recipes/_options.html", "first": shown, "advanced": advanced}


def _boxes(choices: list[tuple[str, str]]) -> forms.MultipleChoiceField:
    return forms.MultipleChoiceField(choices=choices, widget=forms.CheckboxSelectMultiple)


def replace_field(form: OptionsForm[Any], name: str, field: Any) -> None:
    """Put a field with choices in the place of one, under the same label."""
    old = form.fields[name]
    field.label, field.help_text, field.initial, field.required = old.label, old.help_text, old.initial, False
    field.legend, field.unit, field.default_text = "", "", ""
    if isinstance(field, forms.MultipleChoiceField):
        field.initial = []
        field.help_text = old.help_text if field.choices else NO_LISTS
    form.fields[name] = field


# The fields of a redaction, which the redact page of a chain, a step of a recipe and a bulk run share: plain rules
# come first.


PLAIN = {
    "seed": ("Old results", "Results that an answer of the agent follows. Results that no answer follows yet are kept."),
    "every": ("Every result", "Including those that no answer follows yet."),
    ByHand.name: ("By hand", "Only what you choose, in the list or in the bytes chart."),
}
"""The label and hint of each plain policy. The other policies are advanced."""


@dataclass(frozen=True, slots=True)
class PlainChoice:
    name: str
    radio: Any
    """The form's radio button."""
    label: str
    hint: str
    count: str | None
    """The expected result; "" if it was not counted, None if it cannot be."""


class RuleForm(options_form(RedactOptions)):  # type: ignore[misc]
    def __init__(self, data: QueryDict | None = None, *, fixed: dict[str, Any] | None = None, of_one_chain: bool = True) -> None:
        """Set up the form. The policy by hand is offered for one chain only, since it names nodes of that chain."""
        super().__init__(data, fixed=fixed)
        policy = self.fields["policy"]
        policy.widget = forms.RadioSelect()
        policy.choices = [each for each in policy.choices if of_one_chain or each[0] != ByHand.name]
        policy.required = True

    def plain_choices(self, counts: Mapping[str, str] | None = None) -> list[PlainChoice]:
        """Return the plain choices. `counts` contains the expected result of each, by policy."""
        count = {} if counts is None else {name: counts.get(name, "") for name in PLAIN}
        radios = {radio.data["value"]: radio for radio in self["policy"]}
        return [PlainChoice(name, radios[name], *words, count.get(name)) for name, words in PLAIN.items() if name in radios]

    @property
    def other_rules(self) -> list[Any]:
        return [radio for radio in self["policy"] if radio.data["value"] not in PLAIN]

    @property
    def is_advanced(self) -> bool:
        """Return True if the initially folded fields need attention."""
        return bool(self.errors) or self["policy"].value() not in PLAIN
