"""The row of a folded run names its tools, also if the runs of a window have very many messages."""

from __future__ import annotations

import re

import pytest
from django.test import Client

from chainviz.core.chain.chain import Splice
from chainviz.store.content.chain import StoredChain
from chainviz.store.history.drafts import add_step, start_draft
from chainviz.store.history.steps import NewStep
from chainviz.store.models import Version
from chainviz.store.outline import rows
from chainviz.store.outline.build import compute
from tests.chains.making import long_story, make_chain

pytestmark = pytest.mark.django_db


def teasers(sections: int, pairs: int, **tools: int) -> list[str]:
    """Return the teaser of each run. `tools` has the name of the called tool by the number of the pair."""
    story = long_story(sections, pairs)
    for name, pair in tools.items():
        story[2 * pair - 1]["tool_calls"][0]["function"]["name"] = name
    html = Client().get(f"/c/{make_chain(story).pk}/").content.decode()
    return re.findall(r'data-run><a [^>]*>.*?<span class="teaser">(.*?)</span>', html)


def test_calls_are_counted_by_tool() -> None:
    assert teasers(1, 62, bash=2, edit=61) == ["read_file 59 · bash 1 · edit 1 · 122 messages"]


def test_tools_beyond_four_are_counted() -> None:
    assert teasers(1, 62, a=1, b=2, c=3, d=4, e=5)[0].endswith("· 2 more tools · 122 messages")


def test_tools_of_a_very_long_section_are_named_without_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rows, "COUNTED", 62)
    monkeypatch.setattr("chainviz.store.outline.sections.COUNTED", 62)
    monkeypatch.setattr(rows, "NAMED", 3)
    assert teasers(1, 62, bash=2) == ["read_file, bash … · 122 messages"]


def test_an_edit_counts_the_calls_of_its_section_again() -> None:
    chain = make_chain(long_story(2, 62))
    draft = start_draft(Version.objects.get(history=chain.history), author="me")
    stored = StoredChain(add_step(draft, NewStep([Splice(3, 2, ())], "edit")))
    assert [place.section.tools for place in stored.outline.sections(1, 3)] == [{"read_file": 61}, {"read_file": 62}]
    assert stored.outline.listing.sections == compute(stored.snapshot)[0].sections
