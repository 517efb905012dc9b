"""The three plain choices that the redact page opens with, and what each of them comes to."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from chainviz.core.operations.redact import RedactOptions
from chainviz.drafts.operations.redact.decision_rows import Filter
from chainviz.drafts.operations.redact.first_page import decided_table, other_policy
from chainviz.drafts.operations.redact.form import Asked
from chainviz.drafts.target import Target

WORDS = {
    "seed": ("Old results", "Results that the agent has already used in an answer. The last turn is kept."),
    "every": ("Every result", "Including those of the last turn."),
    "by_hand": ("By hand", "Only what you choose, in the list or in the bytes chart."),
}
"""By policy: label and hint."""
MOST_COUNTED = 20_000
"""Messages up to which all three are counted."""


@dataclass(frozen=True, slots=True)
class PlainChoice:
    name: str
    radio: Any
    """The form's radio button."""
    label: str
    hint: str
    count: str
    """ "" where it was not counted."""


def plain_choices(radios: Iterable[Any], counts: dict[str, str]) -> list[PlainChoice]:
    named = {radio.data["value"]: radio for radio in radios}
    return [PlainChoice(name, named[name], *words, counts.get(name, "")) for name, words in WORDS.items()]


def counts_of(target: Target, options: RedactOptions, asked: Asked) -> dict[str, str]:
    """By policy, with the other options as they are."""
    if len(target.stored) > MOST_COUNTED:
        return {}
    found = {}
    for name in WORDS:
        table = decided_table(target, options.model_copy(update={"policy": name}), asked, Filter(against=other_policy(name)))
        saves = f" · saves {table.saved}" if table.redacted else ""
        found[name] = f"{table.redacted:,} of {table.decided:,}{saves}"
    return found
