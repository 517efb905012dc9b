"""The pages of the help: Markdown as HTML, and the search in them.

The files are the project's own, so their HTML is trusted; table cells are escaped. A hit of the search is a section of a page, so that
its link leads to the place.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe
from django.utils.text import slugify
from django.views.decorators.http import require_safe
from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markdown_it.utils import OptionsDict

from chainviz.help.pages import GROUPS, Page, all_pages
from chainviz.help.tables import Row, Table


def _groups() -> list[tuple[str, list[Page]]]:
    pages = all_pages()
    return [(title, [pages[name] for name in names]) for title, names in GROUPS.items()]


@require_safe
def index(request: HttpRequest) -> HttpResponse:
    """List the pages, or the sections that contain every word of `q`."""
    words = request.GET.get("q", "")[:200].strip()
    groups = [(title, [(page, summary_html(page)) for page in pages]) for title, pages in _groups()]
    return render(request, "help/index.html", {"groups": groups, "words": words, "hits": find_in_help(words), "most": MOST})


@require_safe
def help_page(request: HttpRequest, name: str) -> HttpResponse:
    """Show a page; 404 for an unknown name."""
    page = all_pages().get(name)
    if page is None:
        raise Http404("There is no such help page.")
    headings = [(heading, slugify(heading)) for heading in page.headings]
    context = {"page": page, "html": page_html(page), "headings": headings, "groups": _groups()}
    return render(request, "help/page.html", context)


_MARKDOWN = MarkdownIt("commonmark", {"html": False}).enable("table")
_PAGE = re.compile(r"([a-z-]+)\.md(#.*)?$")


def _open_link(renderer: RendererHTML, tokens: Sequence[Token], index: int, options: OptionsDict, _env: object) -> str:
    """Write the start of a link: `fix.md#restore` leads to that page; another site learns nothing about this one."""
    address = str(tokens[index].attrs["href"])
    if page := _PAGE.fullmatch(address):
        tokens[index].attrSet("href", reverse("help:page", args=[page[1]]) + (page[2] or ""))
    elif address.startswith(("http://", "https://")):
        tokens[index].attrSet("rel", "noopener noreferrer")
    return renderer.renderToken(tokens, index, options, {})


def _fence(_renderer: RendererHTML, tokens: Sequence[Token], index: int, _options: OptionsDict, _env: object) -> str:
    """Write code in a box that scrolls sideways, also by keyboard."""
    return format_html('<pre tabindex="0"><code>{}</code></pre>\n', tokens[index].content)


_MARKDOWN.add_render_rule("link_open", _open_link)
_MARKDOWN.add_render_rule("fence", _fence)
_MARKDOWN.add_render_rule("code_block", _fence)


def page_html(page: Page) -> SafeString:
    """Render a page, with an anchor at each heading and its tables."""
    blocks = (table_html(block) if isinstance(block, Table) else text_html(block) for block in page.blocks())
    return mark_safe("".join(blocks))  # a file of the project


def summary_html(page: Page) -> SafeString:
    """Render the first paragraph of a page without a paragraph's tags."""
    return mark_safe(_inline(page.summary))  # a file of the project


def text_html(text: str) -> str:
    """Render Markdown; the `id` of a heading is its text as a slug."""
    tokens = _MARKDOWN.parse(text)
    for token, inline in pairwise(tokens):
        if token.type == "heading_open":
            token.attrSet("id", slugify(inline.content))
        if token.type == "table_open":
            token.attrSet("class", "help-table")
    return str(_MARKDOWN.renderer.render(tokens, _MARKDOWN.options, {}))


def table_html(table: Table) -> SafeString:
    """Render a table of a registry; a narrow screen shows each row as a block, with the column titles beside its cells."""
    head = format_html_join("", '<th scope="col">{}</th>', ((mark_safe(_inline(title)),) for title in table.titles))
    body = format_html_join("", "<tr{}>{}</tr>", ((_anchor(row), _cells(row, table)) for row in table.rows))
    return format_html('<table class="help-table"><thead><tr>{}</tr></thead><tbody>{}</tbody></table>', head, body)


def _anchor(row: Row) -> SafeString:
    return format_html(' id="{}"', row.anchor) if row.anchor else mark_safe("")


def _cells(row: Row, table: Table) -> SafeString:
    cells = zip(table.titles, row.cells, strict=True)
    return format_html_join("", '<td data-title="{}">{}</td>', ((_plain(title), mark_safe(_inline(cell))) for title, cell in cells))


def _inline(markdown: str) -> str:
    return str(_MARKDOWN.renderInline(markdown))


MOST = 40
"""The most hits that are listed."""
_PARAGRAPHS = re.compile(r"\n\s*\n|\n(?=\s*(?:[-|]|\d+\.) )")
_MARKS = re.compile(r"[`*|]+|\]\([^)]*\)|<!--.*?-->|\[")


@dataclass(frozen=True, slots=True)
class Section:
    """The text below a heading, or a row of a table, as plain paragraphs."""

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
    """Return the sections that contain every word: those with a word in a heading first, then in reading order.

    Rows of a table without addresses of their own are one hit.
    """
    words = query.casefold().split()
    sections = [section for section in all_sections() if section.matches(words)] if words else []
    sections.sort(key=lambda section: not any(word in f"{section.page.title} {section.heading}".casefold() for word in words))
    first_at = {(section.page.name, section.anchor): section for section in reversed(sections)}
    return [Hit(section, _excerpt(section, words)) for section in sections if first_at[section.page.name, section.anchor] is section][:MOST]


def _excerpt(section: Section, words: list[str]) -> str:
    lines = [line for line in section.lines if any(word in line.casefold() for word in words)] or [*section.lines, ""]
    start = max(0, min((lines[0].casefold().find(word) for word in words if word in lines[0].casefold()), default=0) - 80)
    start = lines[0].rfind(" ", 0, start) + 1
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
            elif lines := tuple(_plain(line) for line in _PARAGRAPHS.split(piece) if line.strip()):
                yield Section(page, heading, slugify(heading), lines)


def _plain(markdown: str) -> str:
    return " ".join(_MARKS.sub("", markdown).replace("\\", "").split()).strip(" -#")
