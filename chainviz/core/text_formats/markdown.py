"""Sections under `# name` headers. A header that is not registered ends the section before it, also in a code fence."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from chainviz.core.text_formats.contract import FoundSection, IgnoredRange, ParsedText, Section, TextFormat, trimmed

_HEADER = re.compile(r"^#[\t\n\f\r ]+(.+)$", re.MULTILINE)
"""Like the reference: the white space may be a line break."""


class Markdown(TextFormat):
    name = "markdown"
    label = "Markdown"
    is_wrapped = False
    separator = "\n\n"

    def scan(self, text: str) -> ParsedText:
        sections: list[FoundSection] = []
        ignored: list[IgnoredRange] = []
        for header, outer_start, inner, outer_end in _blocks(text):
            name = self._spellings.get(header.lower(), "") if self.sections else header
            start, end = trimmed(text, inner, outer_end)
            if name and start < end:
                sections.append(FoundSection(name, text, start, end, outer_start, outer_end))
                continue
            start, end = trimmed(text, outer_start, outer_end)
            if start < end:
                ignored.append(IgnoredRange(start, end, header))
        return ParsedText(tuple(sections), tuple(ignored))

    def format_section(self, name: str, content: str) -> str:
        return self._section(Section(name, content), 1)

    def format_sections(self, sections: Sequence[Section]) -> str:
        return self._sections(sections, 1)

    def _sections(self, sections: Sequence[Section], depth: int) -> str:
        return self.separator.join(self._section(section, depth) for section in sections)

    def _section(self, section: Section, depth: int) -> str:
        lines = [f"{'#' * depth} {section.name}"]
        # the reference ends the header's line even before an empty content
        if section.content or not (section.children or self.reference):
            lines.append(section.content)
        if section.children:
            lines.append(self._sections(section.children, depth + 1))
        return "\n".join(lines)


def _blocks(text: str) -> Iterator[tuple[str, int, int, int]]:
    """Yield the header of each section, its start, its end, and the start of the next one; first the text without a header."""
    headers = list(_HEADER.finditer(text))
    yield "", 0, 0, headers[0].start() if headers else len(text)
    for header, following in pairwise([*headers, None]):
        assert header is not None
        yield header[1].strip(), header.start(), header.end(), following.start() if following else len(text)
