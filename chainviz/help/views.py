"""The pages of the help: Markdown as HTML. The files are the project's own, so their HTML is trusted; table cells are escaped."""

from __future__ import annotations

import re
from collections.abc import Sequence
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
from chainviz.help.search import MOST, find_in_help
from chainviz.help.tables import Row, Table


def _groups() -> list[tuple[str, list[Page]]]:
    pages = all_pages()
    return [(title, [pages[name] for name in names]) for title, names in GROUPS.items()]


@require_safe
def index(request: HttpRequest) -> HttpResponse:
    """List the pages, or the sections that contain every word of `q`."""
    words = request.GET.get("q", "")[:200].strip()
    groups = [(title, [(page, summary_html(page)) for page in pages]) for title, pages in _groups()]
    return render(
        request, "help/index.html", {"groups": groups, "words": words, "hits": find_in_help(words), "most": MOST}
    )


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
    head = format_html_join("", '<th scope="col">{}</th>', ((title,) for title in table.titles))
    body = format_html_join("", "<tr{}>{}</tr>", ((_anchor(row), _cells(row, table)) for row in table.rows))
    return format_html('<table class="help-table"><thead><tr>{}</tr></thead><tbody>{}</tbody></table>', head, body)


def _anchor(row: Row) -> SafeString:
    return format_html(' id="{}"', row.anchor) if row.anchor else mark_safe("")


def _cells(row: Row, table: Table) -> SafeString:
    cells = zip(table.titles, row.cells, strict=True)
    return format_html_join(
        "", '<td data-title="{}">{}</td>', ((title, mark_safe(_inline(cell))) for title, cell in cells)
    )


def _inline(markdown: str) -> str:
    return str(_MARKDOWN.renderInline(markdown))
