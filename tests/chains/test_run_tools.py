"""What the row of a folded run says of its tools, however many messages the runs of a window hold."""

from __future__ import annotations

import re

import pytest
from django.test import Client

from chainviz.chains.explorer import run_tools
from tests.chains.making import long_story, make_chain

pytestmark = pytest.mark.django_db


def teasers(sections: int, pairs: int, **tools: int) -> list[str]:
    """Of each run; tools by the number of a pair whose call they are."""
    story = long_story(sections, pairs)
    for name, pair in tools.items():
        story[2 * pair - 1]["tool_calls"][0]["function"]["name"] = name
    html = Client().get(f"/c/{make_chain(story).pk}/").content.decode()
    return re.findall(r'data-run><a [^>]*>.*?<span class="teaser">(.*?)</span>', html)


def test_calls_are_counted_by_tool() -> None:
    assert teasers(1, 62, bash=2, edit=61) == ["read_file 59 · bash 1 · edit 1 · 122 messages"]


def test_tools_beyond_four_are_counted() -> None:
    assert teasers(1, 62, a=1, b=2, c=3, d=4, e=5)[0].endswith("· 2 more tools · 122 messages")


def test_of_runs_that_are_too_long_the_beginning_names_the_tools(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_tools, "MOST_READ", 130)
    counted, *others = teasers(3, 62, bash=2)
    assert counted == "read_file 60 · bash 1 · 122 messages"
    assert others == ["read_file … · 122 messages"] * 2


def test_a_run_whose_beginning_calls_nothing_says_its_messages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_tools, "MOST_READ", 0)
    monkeypatch.setattr(run_tools, "BEGINNING", 0)
    assert teasers(1, 62) == ["122 messages"]
