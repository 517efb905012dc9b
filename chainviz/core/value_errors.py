"""What is wrong with the value of an option or a setting, in words of ours instead of pydantic's."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from pydantic_core import ErrorDetails

from chainviz.core.terminal import visible

SHOWN = 40
"""Characters of a wrong value that the sentence repeats."""

_NEEDS: dict[str, Callable[[Mapping[str, Any]], str]] = {
    "int_parsing": lambda limits: "a whole number",
    "int_parsing_size": lambda limits: "a whole number",
    "int_type": lambda limits: "a whole number",
    "int_from_float": lambda limits: "a whole number",
    "float_parsing": lambda limits: "a number",
    "float_type": lambda limits: "a number",
    "finite_number": lambda limits: "a finite number",
    "bool_parsing": lambda limits: "true or false",
    "bool_type": lambda limits: "true or false",
    "string_type": lambda limits: "text",
    "tuple_type": lambda limits: "a list",
    "list_type": lambda limits: "a list",
    "dict_type": lambda limits: "an object",
    "model_type": lambda limits: "an object",
    "model_attributes_type": lambda limits: "an object",
    "literal_error": lambda limits: f"one of {str(limits['expected']).replace(chr(39), '').replace(' or ', ', ')}",
    "greater_than": lambda limits: f"more than {limits['gt']}",
    "greater_than_equal": lambda limits: f"at least {limits['ge']}",
    "less_than": lambda limits: f"less than {limits['lt']}",
    "less_than_equal": lambda limits: f"at most {limits['le']}",
    "string_too_long": lambda limits: f"at most {limits['max_length']} characters",
    "string_too_short": lambda limits: f"at least {limits['min_length']} characters",
}


def option_error(error: ErrorDetails) -> str:
    """Returns one sentence with the option's name."""
    place = ".".join(map(str, error["loc"]))
    what = value_error(error)
    return f"The option {place} is invalid: {what}." if place else f"{what}."


def value_error(error: ErrorDetails | Mapping[str, Any]) -> str:
    """Returns half a sentence, such as “it needs at least 0, not “-1””; the value is left out where the error has no `input`."""
    kind = error["type"]
    if kind == "value_error":
        return str(error["msg"]).removeprefix("Value error, ").rstrip(".")
    if kind == "missing":
        return "it is missing"
    needs = _NEEDS.get(kind)
    given = f"“{visible(str(error['input'])[:SHOWN])}”" if "input" in error else ""
    if needs:
        return f"it needs {needs(error.get('ctx', {}))}{given and f', not {given}'}"
    return f"it cannot be {given or 'this value'}"
