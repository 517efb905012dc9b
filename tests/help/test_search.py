"""Search in the help: a hit leads to a place that exists and shows a line with the word."""

from __future__ import annotations

import re
from html import unescape

import pytest
from django.test import Client

from chainviz.help.pages import NAMES
from chainviz.help.views import all_sections, find_in_help

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("name", NAMES)
def test_every_section_has_its_anchor_on_the_page(client: Client, name: str) -> None:
    ids = set(re.findall(r' id="([^"]*)"', client.get(f"/help/{name}/").content.decode()))
    anchors = {section.anchor for section in all_sections() if section.page.name == name and section.anchor}
    assert anchors <= ids


@pytest.mark.parametrize(
    ("query", "page", "heading"),
    [
        ("windsurf", "formats", "Table of formats"),
        ("CHAINVIZ_BASE_URL", "settings", "All settings"),
        ("call-id-shared openai", "provider-rules", "OpenAI Chat Completions"),
        ("restore newest backup", "fix", "My agent’s session is broken"),
    ],
)
def test_a_word_of_a_text_or_of_a_table_is_found(query: str, page: str, heading: str) -> None:
    found = [(hit.section.page.name, hit.section.heading.replace("'", "’")) for hit in find_in_help(query)]
    assert (page, heading) in found


def test_the_excerpt_contains_a_word_and_headings_come_first(client: Client) -> None:
    hits = find_in_help("single sign-on")
    assert hits[0].section.heading == "Single sign-on"
    assert all(re.search("single|sign-on", hit.excerpt + hit.section.heading, re.IGNORECASE) for hit in hits)
    html = unescape(client.get("/help/?q=single+sign-on").content.decode())
    assert '<a href="/help/team/#single-sign-on">' in html


def test_a_section_is_listed_once_with_whole_sentences() -> None:
    hits = find_in_help("compact")
    places = [(hit.section.page.name, hit.section.anchor) for hit in hits]
    assert len(places) == len(set(places))
    state = next(hit for hit in hits if hit.section.heading == "State" and hit.section.page.name == "state")
    assert state.excerpt.endswith((".", "…"))
    assert all(hit.excerpt.removeprefix("…").split()[0] in " ".join(hit.section.lines).split() for hit in hits)
