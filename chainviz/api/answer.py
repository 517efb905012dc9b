"""A model's answer as the program that reads it sees it: sections, ignored text, calls."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from chainviz.core.text_formats.contract import RegisteredSection
from chainviz.core.toolchain import ParsedAnswer, ParseOptions, parse_answer
from chainviz.core.toolchain.answer import USUAL


def parse(text: str, sections: Sequence[str] | None = None, **options: Any) -> ParsedAnswer:
    """Returns the sections with their ranges, and the calls of the action sections with the error of each entry.

    `sections`: their names; None for thinking, action and answer, () for every section. Options: `format` (markdown or xml,
    else the one that finds more), `strict`, `calls_in`, `syntax` (json or yaml), `schemas` of arguments by tool. The `format`
    of what comes back gives the values or the error (`parse`), and the text of the prompt (`describe_structure`).
    """
    registered = USUAL if sections is None else tuple(map(RegisteredSection, sections))
    return parse_answer(text, ParseOptions(sections=registered, **options))
