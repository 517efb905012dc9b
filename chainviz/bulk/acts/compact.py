"""A compaction strategy on each chain: one that the person saved, or limits."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django import forms
from pydantic import model_validator

from chainviz.accounts.models import Membership, User
from chainviz.bulk.acts.change import Change
from chainviz.core.errors import OptionsError
from chainviz.core.operations.compact import NO_LIMIT, CompactOptions
from chainviz.core.operations.compact.strategy_json import print_strategy
from chainviz.core.operations.execute import get_operation
from chainviz.drafts.operations.presets import presets_of
from chainviz.recipes.step_form import replace_field
from chainviz.web.forms import OptionsForm

SAVE_ONE = "Strategies that you save on the Compact page of a chain are offered here."


class LimitedOptions(CompactOptions):
    @model_validator(mode="after")
    def _has_limit(self) -> LimitedOptions:
        if self.compactor is None:
            raise ValueError(NO_LIMIT.rstrip("."))
        return self


class CompactAll(Change):
    def __init__(self) -> None:
        super().__init__(get_operation("compact"), "compacted", "Nothing to compact.")
        self.Options = LimitedOptions

    def adapt(self, form: OptionsForm[Any], member: Membership) -> None:
        saved = list(_strategies(member.user))
        select = forms.Select(attrs={"class": "select"})
        replace_field(form, "strategy", forms.ChoiceField(choices=[("", "The limits below"), *saved], widget=select))
        form.fields["strategy"].help_text = "Replaces the limits below." if saved else SAVE_ONE


def _strategies(person: User) -> Iterator[tuple[str, str]]:
    """The saved ones as JSON, each with its name; one that an older version wrote and this one cannot read is left out."""
    for preset in presets_of(person, "compact"):
        try:
            compactor = CompactOptions.model_validate(preset.options).compactor
        except (ValueError, OptionsError):
            continue
        if compactor is not None:
            yield print_strategy(compactor), preset.name
