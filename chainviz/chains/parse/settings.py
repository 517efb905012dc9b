"""How a text is to be parsed, as the form says it: format, sections with guidance, where the calls are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import zip_longest

from django.http import QueryDict

from chainviz.core.text_formats import TEXT_FORMATS
from chainviz.core.text_formats.contract import RegisteredSection
from chainviz.core.toolchain import ParseOptions
from chainviz.core.toolchain.answer import ACTION, USUAL
from chainviz.core.toolchain.schemas import Schema

MOST_SECTIONS = 40
LONGEST_NAME, LONGEST_GUIDANCE = 100, 2_000


@dataclass(frozen=True, slots=True)
class ParseSettings:
    format: str = ""
    """"" detects it."""
    sections: tuple[RegisteredSection, ...] = USUAL
    any_section: bool = False
    strict: bool = False
    calls_in: str = ACTION
    syntax: str = "json"

    def options(self, schemas: Mapping[str, Schema]) -> ParseOptions:
        return ParseOptions(
            format=self.format,
            sections=() if self.any_section else self.sections,
            strict=self.strict,
            calls_in=self.calls_in,
            syntax="yaml" if self.syntax == "yaml" else "json",
            schemas=schemas,
        )


def settings_in(form: QueryDict) -> ParseSettings:
    """Names that are blank or repeated are left out; a form without names is one that was not sent yet."""
    format, calls_in = form.get("format", ""), form.get("calls", ACTION)
    return ParseSettings(
        format=format if any(each.name == format for each in TEXT_FORMATS) else "",
        sections=_sections(form) if "section" in form else USUAL,
        any_section="any" in form,
        strict="strict" in form,
        calls_in=calls_in.strip()[:LONGEST_NAME],
        syntax="yaml" if form.get("syntax") == "yaml" else "json",
    )


def _sections(form: QueryDict) -> tuple[RegisteredSection, ...]:
    found: dict[str, RegisteredSection] = {}
    for name, guidance in zip_longest(form.getlist("section"), form.getlist("guidance"), fillvalue=""):
        name = name.strip()[:LONGEST_NAME]
        if name and len(found) < MOST_SECTIONS:
            found.setdefault(name.lower(), RegisteredSection(name, guidance[:LONGEST_GUIDANCE]))
    return tuple(found.values())
