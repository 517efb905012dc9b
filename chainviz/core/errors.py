"""Errors that a person's input can cause, each one sentence: what is wrong, where, and what can be done. Texts of a transcript
are shown with invisible characters written out, so that none of them reaches a terminal."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic_core import ErrorDetails


class ChainError(Exception):
    """The base of every refusal; its text is shown to the person as it is."""


@dataclass(frozen=True, slots=True)
class FaultPlace:
    """The place at which a document is invalid. Line and column count from 1, the offset counts bytes; each is 0 if it
    has no meaning."""

    line: int = 0
    column: int = 0
    offset: int = 0
    what: str = ""
    """The problem there; "" if it has no place."""


NOWHERE = FaultPlace()


class DocumentError(ChainError):
    """The bytes cannot be read.

    `salvage` counts the complete messages before the fault; `raw` says that the text can still be kept as raw text.
    """

    def __init__(self, text: str, fault: FaultPlace = NOWHERE, *, salvage: int = 0, raw: bool = False) -> None:
        super().__init__(text)
        self.fault = fault
        self.salvage = salvage
        self.raw = raw


class PathError(ChainError):
    """A path that names no node of this chain."""


class OptionsError(ChainError):
    """Options that an operation cannot take."""


class Refused(ChainError):
    """An operation that cannot be done on this chain, and why."""


class NotFullyRead(Refused):
    """An operation that could lose content which was not understood."""


class OutcomeError(Refused):
    """Raised if an operation returns something that breaks its contract: a bug of the operation, not of the chain or
    the options."""


SHOWN = 40
"""The number of characters of a wrong value that the sentence repeats."""

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
    """Return one sentence with the option's name."""
    place = ".".join(map(str, error["loc"]))
    what = value_error(error)
    return f"The option {place} is invalid: {what}." if place else f"{what}."


def value_error(error: ErrorDetails | Mapping[str, Any]) -> str:
    """Return half a sentence, such as “it needs at least 0, not “-1””; the value is left out where the error has no `input`."""
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


# C0 and C1 controls but tab, bidirectional controls, invisible spaces and tags, line separators, lone surrogates
_INVISIBLE = re.compile(
    "[\x00-\x08\x0a-\x1f\x7f-\x9f\xad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2064\u2066-\u206f\ufeff"
    "\ud800-\udfff\ufff9-\ufffb\ufffe\uffff\U000e0000-\U000e007f]"
)


def visible(text: str) -> str:
    """Return the text in one line, with invisible characters as escapes in the form of JSON and Python."""
    return _INVISIBLE.sub(lambda found: _escape(ord(found[0])), text)


def visible_lines(lines: Iterable[str]) -> str:
    """Return the lines as one text, with invisible characters as escapes; only the breaks between the lines stay."""
    return "\n".join(map(visible, lines))


def _escape(code: int) -> str:
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def excerpt(text: str, most: int) -> str:
    """Return the beginning of a text on one line, white space folded."""
    short = " ".join(text[: most * 2].split())
    return visible(short if len(short) <= most and len(text) <= most * 2 else f"{short[: most - 1]}…")
