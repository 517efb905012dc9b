"""A Django form made from an operation's pydantic Options: fields, hints, limits and errors come from the model alone.

What a model may say about a field beyond its type: `title` (label), `description` (hint) and, in `json_schema_extra`,
`unit` ("KB"), `group` (legend), `choices` (value to label; a list gets a box for each), `hint` (instead of the description,
which names values as a command line writes them), `long` (a text area) and `hidden` (the page fills it in, the form does
not show it).
"""

from __future__ import annotations

import types
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from typing import Any, Generic, Literal, TypeVar, Union, get_args, get_origin

from annotated_types import Ge, Gt, Le, Lt
from django import forms
from django.http import QueryDict
from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from chainviz.core.errors import value_error

O = TypeVar("O", bound=BaseModel)  # noqa: E741 - O as in Options


@dataclass(frozen=True, slots=True)
class Group(Generic[O]):
    """Fields under one legend, which may be empty."""

    legend: str
    fields: tuple[forms.BoundField, ...]


class OptionsForm(forms.Form, Generic[O]):
    """A form of options, made by `options_form`. After `is_valid()`, `options` is the model."""

    options_model: type[O]
    fixed: dict[str, Any]
    """Values of the hidden fields, given by the page."""
    options: O
    required_css_class = "required"

    def __init__(self, data: QueryDict | dict[str, Any] | None = None, *, fixed: dict[str, Any] | None = None) -> None:
        super().__init__(data, label_suffix="")
        self.fixed = fixed or {}

    def begin_with(self, options: BaseModel) -> None:
        """Show what was chosen before; a list also has boxes for values that it does not offer."""
        for name, field in self.fields.items():
            value = getattr(options, name)
            self.initial[name] = _initial_value(value, field)
            if isinstance(field, forms.MultipleChoiceField):
                known: dict[str, str] = dict(field.choices)  # type: ignore[arg-type]
                field.choices = list((known | {each: each for each in value if each not in known}).items())

    def groups(self) -> Iterator[Group[O]]:
        grouped: dict[str, list[forms.BoundField]] = {}
        for bound in self:
            grouped.setdefault(bound.field.legend, []).append(bound)  # type: ignore[attr-defined]
        for legend, fields in grouped.items():
            yield Group(legend, tuple(fields))

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        if self.errors:
            return cleaned
        given = {name: value for name, value in cleaned.items() if not _is_left_out(value, self.options_model.model_fields[name])}
        try:
            self.options = self.options_model.model_validate({**given, **self.fixed})
        except ValidationError as refused:
            for error in refused.errors():
                place = str(error["loc"][0]) if error["loc"] else None
                self.add_error(place if place in self.fields else None, sentence(error))
        return cleaned


def options_form(model: type[O]) -> type[OptionsForm[O]]:
    fields = {name: _field(name, field) for name, field in model.model_fields.items() if not _extra(field).get("hidden")}
    return type(f"{model.__name__}Form", (OptionsForm,), {**fields, "options_model": model})


def sentence(error: Any) -> str:
    """Return the errors that pydantic found, as a sentence for people."""
    limits = error.get("ctx") or {}
    known = {
        "missing": "This is required.",
        "greater_than_equal": f"This must be {limits.get('ge')} or more.",
        "greater_than": f"This must be more than {limits.get('gt')}.",
        "less_than_equal": f"This must be {limits.get('le')} or less.",
        "less_than": f"This must be less than {limits.get('lt')}.",
        "int_parsing": "This must be a whole number.",
        "int_from_float": "This must be a whole number.",
        "float_parsing": "This must be a number.",
        "string_too_short": f"This needs at least {limits.get('min_length')} characters.",
        "string_too_long": f"This can have at most {limits.get('max_length')} characters.",
    }
    text = known.get(error["type"]) or value_error(error)
    text = text[:1].upper() + text[1:]
    return text if text.endswith((".", "!", "?")) else f"{text}."


def _is_left_out(value: Any, field: FieldInfo) -> bool:
    """Return True for an empty number or choice, which means the default. An empty text is a text."""
    return value is None or (value == "" and _inner(field.annotation) is not str)


def _field(name: str, field: FieldInfo) -> forms.Field:
    extra = _extra(field)
    kind = _inner(field.annotation)
    common: dict[str, Any] = {
        "label": field.title or name.replace("_", " ").capitalize(),
        "help_text": extra.get("hint", field.description) or "",
        "required": field.is_required() and kind is not str,
    }
    made = _form_field(kind, field, extra, common)
    made.initial = None if field.default in (PydanticUndefined, None) else _initial_value(field.get_default(), made)
    made.legend = extra.get("group", "")  # type: ignore[attr-defined]
    made.unit = extra.get("unit", "")  # type: ignore[attr-defined]
    made.default_text = "" if isinstance(made, (forms.BooleanField, forms.ChoiceField)) else _default_text(made.initial)  # type: ignore[attr-defined]
    return made


def _form_field(kind: Any, field: FieldInfo, extra: dict[str, Any], common: dict[str, Any]) -> forms.Field:
    if kind is bool:
        return forms.BooleanField(**{**common, "required": False})
    if kind in (int, float):
        number = forms.IntegerField if kind is int else forms.FloatField
        return number(**common, **_limits(field), widget=forms.NumberInput(attrs={"class": "input"}))
    choices = list(extra["choices"].items()) if "choices" in extra else _choices(kind)
    is_list = get_origin(kind) in (tuple, list, frozenset, set)
    if choices and is_list:
        return forms.MultipleChoiceField(**{**common, "required": False}, choices=choices, widget=forms.CheckboxSelectMultiple)
    if choices:
        return forms.ChoiceField(**common, choices=choices, widget=forms.Select(attrs={"class": "select"}))
    if is_list:
        return WordsField(**{**common, "required": False}, widget=forms.TextInput(attrs={"class": "input mono"}))
    if extra.get("long"):
        area = forms.Textarea(attrs={"class": "textarea", "rows": 4})
        return forms.CharField(**common, strip=False, widget=area)
    return forms.CharField(**common, strip=False, widget=forms.TextInput(attrs={"class": "input"}))


class WordsField(forms.CharField):
    """A list written with commas."""

    def clean(self, value: Any) -> tuple[str, ...]:
        text = super().clean(value)
        return tuple(word.strip() for word in text.split(",") if word.strip())


def _inner(annotation: Any) -> Any:
    """Return the type that matters: without Annotated and without None."""
    if get_origin(annotation) in (Union, types.UnionType):
        rest = [each for each in get_args(annotation) if each is not type(None)]
        return _inner(rest[0]) if len(rest) == 1 else str
    return annotation


def _choices(kind: Any) -> list[tuple[Any, str]]:
    if get_origin(kind) is Literal:
        values = get_args(kind)
    elif isinstance(kind, type) and issubclass(kind, Enum):
        values = tuple(member.value for member in kind)
    else:
        return []
    return [(value, str(value).replace("_", " ").capitalize() or "None") for value in values]


def _limits(field: FieldInfo) -> dict[str, Any]:
    limits: dict[str, Any] = {}
    for each in field.metadata:
        if isinstance(each, Ge):
            limits["min_value"] = each.ge
        elif isinstance(each, Gt):
            limits["min_value"] = each.gt + 1 if field.annotation is int else each.gt  # type: ignore[operator]
        elif isinstance(each, Le):
            limits["max_value"] = each.le
        elif isinstance(each, Lt):
            limits["max_value"] = each.lt - 1 if field.annotation is int else each.lt  # type: ignore[operator]
    return limits


def _extra(field: FieldInfo) -> dict[str, Any]:
    return field.json_schema_extra if isinstance(field.json_schema_extra, dict) else {}


def _initial_value(value: Any, field: forms.Field) -> Any:
    if isinstance(value, Enum):
        return value.value
    if not isinstance(value, (tuple, list, set, frozenset)):
        return value
    return list(value) if isinstance(field, forms.MultipleChoiceField) else ", ".join(map(str, value))


def _default_text(value: Any) -> str:
    return "" if value in (None, "") else str(value)[:24]
