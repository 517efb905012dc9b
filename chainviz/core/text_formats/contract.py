"""The contract of a text format: sections are registered, described to a model, read from its text and written for it.

Offsets count characters of the text. A format is an immutable value: registering a section returns a new one.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import ClassVar, Self

from chainviz.core.errors import ChainError

LEAD = "Write your reply in these sections:"
OBSERVATION = "observation"
"""The section around the results of one action."""


class NoSections(ChainError):
    """Raised if the text has no section with content."""


class AmbiguousTags(ChainError):
    """Raised in strict mode if a section contains the tag of another one."""


class ReferencePanic(RuntimeError):
    """Raised with `reference=True` if the reference implementation would crash."""


@dataclass(frozen=True, slots=True)
class Section:
    """A section to write."""

    name: str
    content: str = ""
    children: tuple[Section, ...] = ()
    """Sections that are written after the content, one level deeper."""


@dataclass(frozen=True, slots=True)
class RegisteredSection:
    name: str
    guidance: str = ""
    """The instruction for the model."""


@dataclass(frozen=True, slots=True)
class FoundSection:
    """A section in a text."""

    name: str
    """The registered name, or the name in the text if no sections are registered."""
    text: str = field(repr=False)
    """The whole text."""
    start: int
    end: int
    """The range of the content, without the white space around it."""
    outer_start: int
    """The start of its header or opening tag."""
    outer_end: int
    """The end of its closing tag, or the start of the next header."""

    @property
    def content(self) -> str:
        """The text of the section, cut out on demand: nested sections share their text."""
        return self.text[self.start : self.end]


@dataclass(frozen=True, slots=True)
class IgnoredRange:
    """Text that belongs to no section, without the white space around it."""

    start: int
    end: int
    header: str = ""
    """The name of its first header if it is not registered or its section is blank."""


@dataclass(frozen=True, slots=True)
class Ambiguity:
    """A section that strict mode refuses, and the tag in it."""

    section: FoundSection
    tag: str
    start: int


@dataclass(frozen=True, slots=True)
class ParsedText:
    sections: tuple[FoundSection, ...]
    """The sections in the order in which they end."""
    ignored: tuple[IgnoredRange, ...]
    """The ignored ranges in the order of the text."""
    ambiguities: tuple[Ambiguity, ...] = ()

    def values(self) -> dict[str, list[str]]:
        """Return the contents by name, those of one name in order."""
        values: dict[str, list[str]] = {}
        for section in self.sections:
            values.setdefault(section.name, []).append(section.content)
        return values


@dataclass(frozen=True)
class TextFormat(ABC):
    sections: tuple[RegisteredSection, ...] = ()
    """The sections to find; if empty, every section of the text is found."""
    strict: bool = False
    reference: bool = False
    """True to behave like the reference implementation even if its result is a bug."""

    name: ClassVar[str]
    label: ClassVar[str]
    is_wrapped: ClassVar[bool]
    """True if results in this format are wrapped in an outer `<observation>`."""
    separator: ClassVar[str]
    """The text between two sections."""

    def register(self, name: str, guidance: str = "") -> Self:
        """Return the format with one more section. Upper and lower case are the same; the first spelling and guidance
        of a name stay."""
        if name.lower() in self._spellings:
            return self
        return replace(self, sections=(*self.sections, RegisteredSection(name, guidance)))

    def register_all(self, names: Iterable[str]) -> Self:
        sections = {section.name.lower(): section for section in self.sections}
        for name in names:
            sections.setdefault(name.lower(), RegisteredSection(name))
        return replace(self, sections=tuple(sections.values()))

    def parse(self, text: str) -> dict[str, list[str]]:
        """Return the contents of all sections by name. Raises NoSections or, if strict, AmbiguousTags."""
        parsed = self.scan(text)
        if self.strict and parsed.ambiguities:
            first = parsed.ambiguities[0]
            raise AmbiguousTags(f"Ambiguous tags: the section {first.section.name} holds {first.tag}.")
        if not parsed.sections:
            names = ", ".join(section.name for section in self.sections)
            raise NoSections(f"No sections found in the {self.label} text{f'; looked for {names}' if names else ''}.")
        return parsed.values()

    @abstractmethod
    def scan(self, text: str) -> ParsedText:
        """Return everything that `parse` finds, with its place, and what it ignores. Never fails."""

    def describe_structure(self) -> str:
        """Return the instruction for a model; "" if no section is registered."""
        if not self.sections:
            return ""
        described = (self.format_section(each.name, each.guidance) + self.separator for each in self.sections)
        return f"{LEAD}\n\n{''.join(described)}"

    @abstractmethod
    def format_section(self, name: str, content: str) -> str:
        """Return one section. Name and content are written unchanged, so they may read back differently."""

    @abstractmethod
    def format_sections(self, sections: Sequence[Section]) -> str: ...

    def wrap(self, sections: str) -> str:
        """Return the text of several sections inside one section."""
        return self.format_section(OBSERVATION, sections)

    @cached_property
    def _spellings(self) -> dict[str, str]:
        return {section.name.lower(): section.name for section in self.sections}


def trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    """Return the range without the white space around it; empty at `start` if there is nothing else."""
    piece = text[start:end]
    length = len(piece.rstrip())
    return (start + len(piece) - len(piece.lstrip()), start + length) if length else (start, start)


_LINE_START = re.compile("^", re.MULTILINE)


class LineIndex:
    def __init__(self, text: str) -> None:
        self._starts = [found.start() for found in _LINE_START.finditer(text)]

    def place(self, offset: int) -> tuple[int, int]:
        """Return line and column, both from 1."""
        line = bisect_right(self._starts, offset)
        return line, offset - self._starts[line - 1] + 1
