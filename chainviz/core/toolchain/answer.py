"""A model's answer read whole: its sections, what is ignored, and the calls of its action sections. Never fails."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import get_args

from chainviz.core.errors import OptionsError
from chainviz.core.text_formats import TEXT_FORMATS, get_text_format
from chainviz.core.text_formats.contract import FoundSection, ParsedText, RegisteredSection, TextFormat
from chainviz.core.text_formats.line_index import LineIndex
from chainviz.core.toolchain.calls import ReadCalls, SyntaxName, read_calls
from chainviz.core.toolchain.schemas import Schema
from chainviz.core.toolchain.section_values import CallsError

USUAL = tuple(RegisteredSection(name) for name in ("thinking", "action", "answer"))
ACTION = "action"

OUTER = ReadCalls((), CallsError("invalid_json", "another section of the same name is inside this one", LineIndex(""), 0))


@dataclass(frozen=True, slots=True)
class ParseOptions:
    format: str = ""
    """Name of a text format; "" takes the one that finds more sections."""
    sections: tuple[RegisteredSection, ...] = USUAL
    """Without any, every section is found."""
    strict: bool = False
    calls_in: str = ACTION
    """The section whose text is calls; "" is none."""
    syntax: SyntaxName = "json"
    schemas: Mapping[str, Schema] = field(default_factory=dict)
    """Of arguments, by tool."""

    def __post_init__(self) -> None:
        """OptionsError for a word that is none of the choices."""
        if self.syntax not in get_args(SyntaxName):
            raise OptionsError(f"The option syntax is one of {', '.join(get_args(SyntaxName))}.")


DEFAULT = ParseOptions()


@dataclass(frozen=True, slots=True)
class ParsedAnswer:
    format: TextFormat
    """With the sections registered: its `parse` gives the values or the error, its `describe_structure` the prompt."""
    text: ParsedText
    actions: tuple[tuple[FoundSection, ReadCalls], ...]
    """Offsets of calls count from the section's `start`."""

    @property
    def missing(self) -> tuple[str, ...]:
        """Registered sections that the text does not have."""
        found = {section.name for section in self.text.sections}
        return tuple(each.name for each in self.format.sections if each.name not in found)


def parse_answer(text: str, options: ParseOptions = DEFAULT) -> ParsedAnswer:
    chosen = (get_text_format(options.format),) if options.format else TEXT_FORMATS
    answers = [_parsed(text, text_format, options) for text_format in chosen]
    return max(answers, key=lambda answer: len(answer.text.sections))


def _parsed(text: str, text_format: TextFormat, options: ParseOptions) -> ParsedAnswer:
    registered = text_format
    for section in options.sections:
        registered = registered.register(section.name, section.guidance)
    registered = replace(registered, strict=options.strict)
    parsed = registered.scan(text)
    chosen = [section for section in parsed.sections if section.name.lower() == options.calls_in.lower()]
    actions = tuple(
        (section, OUTER if is_outer else read_calls(section.content, options.syntax, options.schemas))
        for section, is_outer in with_outer(chosen)
    )
    return ParsedAnswer(registered, parsed, actions)


def with_outer(sections: Iterable[FoundSection]) -> Iterator[tuple[FoundSection, bool]]:
    """Sections of one name, in the order in which they end, and whether each holds the one before it."""
    start = -1
    for section in sections:
        yield section, section.start < start
        start = section.start
