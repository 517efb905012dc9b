"""The help pages: each opens, its links lead somewhere, and its tables are complete."""

from __future__ import annotations

import re
from html import unescape

import pytest
from django.test import Client

from chainviz.help.pages import NAMES, TABLES, all_pages
from chainviz.help.tables import Row, Table
from chainviz.help.views import table_html, text_html

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("name", NAMES)
def test_page_opens_with_its_title_and_its_links_lead_somewhere(client: Client, name: str) -> None:
    answer = client.get(f"/help/{name}/")
    text = answer.content.decode()
    assert f"<title>{all_pages()[name].title} · Help · chainviz</title>" in unescape(text)
    assert "<!-- table:" not in text
    assert all("noreferrer" in link for link in re.findall(r'<a [^>]*href="http[^>]*>', text))
    for address in re.findall(r'href="(/help/[^"#]*)', text):
        assert client.get(address).status_code == 200, address


def test_every_table_comment_names_a_table() -> None:
    named = {name for page in all_pages().values() for name in re.findall(r"<!-- table: (.*?) -->", page.text)}
    assert named == set(TABLES)


def test_index_lists_pages_and_searches_them(client: Client) -> None:
    assert "Provider rules" in client.get("/help/").content.decode()
    assert "Provider rules" in client.get("/help/?q=offline+api").content.decode()
    assert "No page contains" in client.get("/help/?q=zebra-crossing").content.decode()


def test_unknown_page_answers_404(client: Client) -> None:
    assert client.get("/help/nothing/").status_code == 404


def test_headings_have_anchors_and_cells_are_escaped() -> None:
    assert '<h2 id="two-words">' in text_html("## Two words")
    html = table_html(Table(("Rule", "Text"), (Row(("`<a>`", "<b>bold</b>"), "x"),)))
    assert '<tr id="x">' in html and "<b>" not in html and "<code>&lt;a&gt;</code>" in html
