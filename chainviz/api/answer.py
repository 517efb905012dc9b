"""A model's answer as the program that reads it sees it: sections, ignored text, calls."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any, TypeVar

from chainviz.core.errors import OptionsError
from chainviz.core.text_formats.contract import RegisteredSection
from chainviz.core.toolchain import ParsedAnswer, ParseOptions, ResultOptions, parse_answer
from chainviz.core.toolchain.calls import USUAL

AnyOptions = TypeVar("AnyOptions", ParseOptions, ResultOptions)


def parse(text: str, sections: Sequence[str] | None = None, **options: Any) -> ParsedAnswer:
    """Returns the sections with their ranges, and the calls of the action sections with the error of each entry.

    `sections`: their names; None for thinking, action and answer, () for every section. Options: `format` (markdown or xml,
    else the one that finds more), `strict`, `calls_in`, `syntax` (json or yaml), `schemas` of arguments by tool. The `format`
    of what comes back gives the values or the error (`parse`), and the text of the prompt (`describe_structure`).
    """
    registered = USUAL if sections is None else tuple(map(RegisteredSection, sections))
    return parse_answer(text, build_options(ParseOptions, {"sections": registered, **options}))


def build_options(kind: type[AnyOptions], options: Mapping[str, Any]) -> AnyOptions:
    """Return options of a kind. Raises OptionsError for an unknown name or word."""
    known = [field.name for field in fields(kind)]
    for name in options:
        if name not in known:
            raise OptionsError(f"There is no option “{name[:40]}”; there are {', '.join(known)}.")
    return kind(**options)
