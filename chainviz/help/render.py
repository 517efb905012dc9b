"""The Markdown of a help page as HTML. The files are the project's own, so their HTML is trusted; table cells are escaped."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe
from django.utils.text import slugify
from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markdown_it.utils import OptionsDict

from chainviz.help.pages import TABLES, Page
from chainviz.help.table import Row, Table

_MARKDOWN = MarkdownIt("commonmark", {"html": False}).enable("table")
_TABLE = re.compile(r"^<!-- table: ([a-z0-9-]+) -->$", re.MULTILINE)


def _open_link(renderer: RendererHTML, tokens: Sequence[Token], index: int, options: OptionsDict, _env: object) -> str:
    """Write the start of a link. One that leaves chainviz tells the other site nothing about this page."""
    if str(tokens[index].attrs["href"]).startswith(("http://", "https://")):
        tokens[index].attrSet("rel", "noopener noreferrer")
    return renderer.renderToken(tokens, index, options, {})


_MARKDOWN.add_render_rule("link_open", _open_link)


def page_html(page: Page) -> SafeString:
    """Render a page, with an anchor at each heading and a table in the place of each table comment."""
    pieces = _TABLE.split(page.text)
    html = [table_html(TABLES[piece]()) if index % 2 else text_html(piece) for index, piece in enumerate(pieces)]
    return mark_safe("".join(html))  # a file of the project


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
