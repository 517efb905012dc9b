"""The fields of a redaction, which the redact page of a chain, a step of a recipe and a bulk run share: plain rules come first."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django import forms
from django.http import QueryDict

from chainviz.core.operations.redact import RedactOptions
from chainviz.core.operations.redact.policies.by_hand import ByHand
from chainviz.web.forms import options_form

PLAIN = {
    "seed": ("Old results", "Results that an answer of the agent follows. Results that no answer follows yet are kept."),
    "every": ("Every result", "Including those that no answer follows yet."),
    ByHand.name: ("By hand", "Only what you choose, in the list or in the bytes chart."),
}
"""By policy: label and hint. Other policies are advanced."""


@dataclass(frozen=True, slots=True)
class PlainChoice:
    name: str
    radio: Any
    """The form's radio button."""
    label: str
    hint: str
    count: str | None
    """What it comes to; "" where it was not counted, None where it cannot be."""


class RuleForm(options_form(RedactOptions)):  # type: ignore[misc]
    def __init__(
        self, data: QueryDict | None = None, *, fixed: dict[str, Any] | None = None, of_one_chain: bool = True
    ) -> None:
        """What is chosen by hand is of one chain."""
        super().__init__(data, fixed=fixed)
        policy = self.fields["policy"]
        policy.widget = forms.RadioSelect()
        policy.choices = [each for each in policy.choices if of_one_chain or each[0] != ByHand.name]
        policy.required = True

    def plain_choices(self, counts: Mapping[str, str] | None = None) -> list[PlainChoice]:
        """`counts`: what the choices come to, by policy."""
        count = {} if counts is None else {name: counts.get(name, "") for name in PLAIN}
        radios = {radio.data["value"]: radio for radio in self["policy"]}
        return [PlainChoice(name, radios[name], *words, count.get(name)) for name, words in PLAIN.items() if name in radios]

    @property
    def other_rules(self) -> list[Any]:
        return [radio for radio in self["policy"] if radio.data["value"] not in PLAIN]

    @property
    def is_advanced(self) -> bool:
        """Whether the fields that are folded at first need a look."""
        return bool(self.errors) or self["policy"].value() not in PLAIN
