"""Search in the help. A hit is a section of a page, so that its link leads to the place."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from django.utils.text import slugify

from chainviz.help.pages import Page, all_pages
from chainviz.help.tables import Table

MOST = 40
"""The most hits that are listed."""
_MARKS = re.compile(r"[`*|]+|\]\([^)]*\)|<!--.*?-->|\[")


@dataclass(frozen=True, slots=True)
class Section:
    """The text below a heading, or in a table row with an address, as plain lines."""

    page: Page
    heading: str
    anchor: str
    lines: tuple[str, ...]

    def matches(self, words: list[str]) -> bool:
        text = f"{self.page.title} {self.heading} {' '.join(self.lines)}".casefold()
        return all(word in text for word in words)


@dataclass(frozen=True, slots=True)
class Hit:
    """A section that contains every word, and its first line with one of them."""

    section: Section
    excerpt: str


def find_in_help(query: str) -> list[Hit]:
    """Return the sections that contain every word: those with a word in a heading first, then in reading order."""
    words = query.casefold().split()
    sections = [section for section in all_sections() if section.matches(words)] if words else []
    sections.sort(
        key=lambda section: not any(word in f"{section.page.title} {section.heading}".casefold() for word in words)
    )
    return [Hit(section, _excerpt(section, words)) for section in sections[:MOST]]


def _excerpt(section: Section, words: list[str]) -> str:
    lines = [line for line in section.lines if any(word in line.casefold() for word in words)] or [*section.lines, ""]
    start = max(
        0, min((lines[0].casefold().find(word) for word in words if word in lines[0].casefold()), default=0) - 80
    )
    end = start + 240
    return f"{'…' if start else ''}{lines[0][start:end]}{'…' if len(lines[0]) > end else ''}"


@cache
def all_sections() -> tuple[Section, ...]:
    """Split every page at its headings."""
    return tuple(section for page in all_pages().values() for section in _sections(page))


def _sections(page: Page) -> Iterator[Section]:
    heading = ""
    for block in page.blocks():
        if isinstance(block, Table):
            for row in block.rows:
                line = " · ".join(map(_plain, row.cells))
                yield Section(page, heading, row.anchor or slugify(heading), (line,))
            continue
        for index, piece in enumerate(re.split(r"^##+ (.+)$", block, flags=re.MULTILINE)):
            if index % 2:
                heading = _plain(piece)
            elif lines := tuple(_plain(line) for line in piece.splitlines() if line.strip()):
                yield Section(page, heading, slugify(heading), lines)


def _plain(markdown: str) -> str:
    return _MARKS.sub("", markdown).replace("\\", "").strip(" -#")
