"""Sections in `<name>` tags without attributes. Each closing tag belongs to the last opening one that is still open."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from chainviz.core.text_formats.contract import (
    Ambiguity,
    FoundSection,
    IgnoredRange,
    ParsedText,
    ReferencePanic,
    Section,
    TextFormat,
    trimmed,
)

MOST_NESTED = 32
"""The deepest nesting of sections of one name. Opening tags further out are text, so that a short text cannot contain
huge sections."""
_TAG = re.compile(r"<(/?)([^<>]+)>")
_TAG_NAME = re.compile(r"[^\W\d][\w.-]*")


@dataclass(frozen=True, slots=True)
class _Tag:
    start: int
    end: int
    name: str
    is_closing: bool


class Xml(TextFormat):
    name = "xml"
    label = "XML"
    is_wrapped = True
    separator = "\n"

    def scan(self, text: str) -> ParsedText:
        tags = list(self._tags(text))
        following = _next_of_another_name(tags)
        sections: list[FoundSection] = []
        blank: list[IgnoredRange] = []
        ambiguities: list[Ambiguity] = []
        for first, last in _pairs(tags):
            opening, closing = tags[first], tags[last]
            start, end = trimmed(text, opening.end, closing.start)
            if start == end:
                blank.append(IgnoredRange(opening.start, closing.end, opening.name))
                continue
            section = FoundSection(opening.name, text, start, end, opening.start, closing.end)
            sections.append(section)
            other = first + 1 if self._takes_own_tags_for_others(section) else following[first]
            if other < last:
                found = tags[other]
                ambiguities.append(Ambiguity(section, text[found.start : found.end], found.start))
        ignored = _between(text, sections, blank)
        return ParsedText(tuple(sections), tuple(ignored), tuple(ambiguities if self.sections else ()))

    def _takes_own_tags_for_others(self, section: FoundSection) -> bool:
        """Return True if the reference mistakes a section's own tags for others, because it compares the registered
        spelling with one in lower case."""
        return self.reference and section.name != section.name.lower()

    def _tags(self, text: str) -> Iterator[_Tag]:
        if self.reference:
            yield from self._tags_of_reference(text)
            return
        for found in _TAG.finditer(text):
            name = found[2].lower()
            if self.sections:
                name = self._spellings.get(name, "")
            elif not _TAG_NAME.fullmatch(name):
                continue
            if name:
                yield _Tag(found.start(), found.end(), name, bool(found[1]))

    def _tags_of_reference(self, text: str) -> list[_Tag]:
        """Find tags like the reference, which treats names as regular expressions, and crashes if none is registered."""
        if not self.sections:
            raise ReferencePanic("the regular expression for any tag does not compile")
        tags = [
            _Tag(found.start(), found.end(), section.name, bool(found[1]))
            for section in self.sections
            for found in re.finditer(f"<(/?){section.name}>", text, re.IGNORECASE)
        ]
        return sorted(tags, key=lambda tag: tag.start)

    def format_section(self, name: str, content: str) -> str:
        return self._section(Section(name, content))

    def format_sections(self, sections: Sequence[Section]) -> str:
        written = self.separator.join(map(self._section, sections))
        # the text ends with a line break, except with the reference and its sections with children
        ends = sections and not self.reference and not any(section.children for section in sections)
        return written + self.separator if ends else written

    def wrap(self, sections: str) -> str:
        return super().wrap(sections.removesuffix(self.separator))

    def _section(self, section: Section) -> str:
        lines = [section.content] if section.content or not section.children else []
        lines += map(self._section, section.children)
        return "\n".join([f"<{section.name}>", *lines, f"</{section.name}>"])


def _pairs(tags: Sequence[_Tag]) -> Iterator[tuple[int, int]]:
    """Yield the indexes of each opening and closing tag, in the order of the closing ones."""
    opened: dict[str, deque[int]] = {}
    for index, tag in enumerate(tags):
        waiting = opened.setdefault(tag.name, deque(maxlen=MOST_NESTED))
        if not tag.is_closing:
            waiting.append(index)
        elif waiting:
            yield waiting.pop(), index


def _next_of_another_name(tags: Sequence[_Tag]) -> list[int]:
    """Return for each tag the index of the next one with another name."""
    following = [len(tags)] * len(tags)
    for index in range(len(tags) - 2, -1, -1):
        same = tags[index].name == tags[index + 1].name
        following[index] = following[index + 1] if same else index + 1
    return following


def _between(text: str, sections: Sequence[FoundSection], blank: Sequence[IgnoredRange]) -> Iterator[IgnoredRange]:
    """Yield the text outside all sections, and blank sections, in the order of the text."""
    taken = [(section.outer_start, section.outer_end, "") for section in sections]
    taken += [(each.start, each.end, each.header) for each in blank]
    place = 0
    for outer_start, outer_end, header in sorted(taken):
        start, end = trimmed(text, place, max(place, outer_start))
        if start < end:
            yield IgnoredRange(start, end)
        if header and outer_start >= place:
            yield IgnoredRange(outer_start, outer_end, header)
        place = max(place, outer_end)
    start, end = trimmed(text, place, len(text))
    if start < end:
        yield IgnoredRange(start, end)
