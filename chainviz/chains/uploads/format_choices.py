"""In which format a person wants a file read, and what they decided about reading it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.http import QueryDict

from chainviz.core.formats import FORMATS, get_format

_PREFIX = "read-"


@dataclass(frozen=True, slots=True)
class ChoiceView:
    name: str
    """Of the form's field."""
    label: str
    values: Sequence[tuple[str, str, bool]]
    """Name, label, and whether it is chosen."""


def format_in(form: QueryDict) -> str:
    """The name of the format that a form asks for, with the choices; "" where it asks for none."""
    name = form.get("format", "").partition(":")[0]
    format = next((each for each in FORMATS if each.name == name), None)
    if format is None:
        return ""
    return format.chosen([form.get(_PREFIX + choice.name, "") for choice in format.choices]).name


def choices_of(name: str) -> list[ChoiceView]:
    """What can be decided about reading a format, as `name` has it."""
    given = set(name.partition(":")[2].split(","))
    views = []
    for choice in get_format(name).choices:
        chosen = next((value for value, _ in choice.values if value in given), choice.values[0][0])
        values = [(value, label, value == chosen) for value, label in choice.values]
        views.append(ChoiceView(_PREFIX + choice.name, choice.label, values))
    return views
