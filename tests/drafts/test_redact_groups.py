"""The decisions of the redact page as groups of equal changes, with an example and a list of each (issue 12)."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.test import Client

from chainviz.chains.models import Chain
from chainviz.drafts.operations.redact import groups
from tests.chains.making import ai, human, make_chain, result
from tests.drafts.pages import fields_of, send_form

pytestmark = pytest.mark.django_db
LINES = "\n".join(f"line {number}" for number in range(40))
MESSAGES = [
    human("Look at all files"),
    *[ai(None, *((f"r{n}", "read_file", {"path": str(n)}) for n in range(5)), ("g", "grep", {"q": "x"}))],
    *[result(f"r{n}", f"file {n}: {LINES}") for n in range(5)],
    result("g", "a.py:1: x" * 30),
    ai("All are fine."),
    human("And this one?"),
    ai(None, ("last", "read_file", {"path": "c"}), ("short", "grep", {"q": "y"})),
    result("last", "the last file " * 30),
    result("short", "none"),
    ai("Fine, too."),
    human("One more"),
    ai(None, ("open", "read_file", {"path": "d"})),
    result("open", "not answered " * 30),
]


@pytest.fixture
def address(client: Client) -> str:
    client.get("/")
    make_chain(MESSAGES)
    return f"/c/{Chain.objects.get().pk}/do/redact/"


def look(client: Client, address: str, **changed: Any) -> str:
    return str(send_form(client, address, **{"act": "look"} | changed).content.decode())


def names(page: str) -> list[tuple[str, str, str]]:
    """Name, number of changes and whether it is open, of every group."""
    return re.findall(r'name="open" value="[^"]*" aria-expanded="(\w+)".*?<b[^>]*>([^<]*)</b>.*?</svg>([\d,]+)<', page)


def test_the_page_opens_with_one_group_a_tool_and_an_example(client: Client, address: str) -> None:
    page = client.get(address).content.decode()
    assert names(page) == [("true", "read_file", "6"), ("false", "grep", "1")]
    assert "1 of 6" in page and "file 0: line 0" in page and "line 20" not in page
    assert "Show it in full" in page
    assert "[redacted]" in page
    assert "2 kept<" in page
    assert page.count('<li><span class="number">1</span>') == 2 and "The placeholder would not save enough" in page


def test_groups_by_section_and_reason(client: Client, address: str) -> None:
    assert names(look(client, address, view="section")) == [("true", "§1", "6"), ("false", "§2", "1")]
    answered = [("true", "Tool calls or results follow, then a plain answer", "6"), ("false", "A plain answer follows", "1")]
    assert names(look(client, address, view="reason")) == answered


def test_another_group_and_another_example_are_opened(client: Client, address: str) -> None:
    page = look(client, address, open="grep")
    assert names(page) == [("false", "read_file", "6"), ("true", "grep", "1")]
    assert "a.py:1: x" in page and "1 of 1" in page
    fields = fields_of(client.get(address).content.decode())
    assert "file 2: line 0" in client.post(address, fields | {"example": "3"}).content.decode()
    assert "6 of 6" in client.post(address, fields | {"example": "99"}).content.decode()
    assert "1 of 1" in client.post(address, fields | {"example": "3", "open": "grep"}).content.decode()
    assert names(client.post(address, fields | {"open": ""}).content.decode())[0] == ("false", "read_file", "6")


def test_one_example_is_kept_and_listed_with_what_stays(client: Client, address: str) -> None:
    page = look(client, address, **{"row-s1.p1.m1.c0": "keep"})
    assert names(page)[0] == ("true", "read_file", "5")
    assert "file 1: line 0" in page and "Decided by hand" in page
    fields = fields_of(page)
    assert fields["by_hand_keep"] == ["s1.p1.m1.c0"]
    kept = client.post(address, fields | {"list": "kept"}).content.decode()
    assert kept.count('<td class="of-why">') == 3 and "data-by-hand" in kept


def test_all_of_a_group_are_listed_and_the_list_is_left(client: Client, address: str) -> None:
    page = look(client, address, list="tool:read_file")
    assert "6 rows" in page and "Only of read_file" in page
    fields = fields_of(page)
    assert fields["view"] == ["row"]
    assert "6 rows" in client.post(address, fields).content.decode(), "the next look shows the same"
    assert "9 rows" in client.post(address, fields | {"group": ""}).content.decode()
    assert "6 rows" in look(client, address, list="section:§1")
    assert names(client.post(address, fields | {"view": "tool"}).content.decode())


def test_many_groups_are_shown_in_windows(client: Client, address: str, monkeypatch: Any) -> None:
    monkeypatch.setattr(groups, "GROUPS", 1)
    fields = fields_of(client.get(address).content.decode())
    page = client.post(address, fields | {"groups_from": "1"}).content.decode()
    assert names(page) == [("false", "grep", "1")]
    assert "2 to 2 of 2" in page and "Previous groups" in page and "Next groups" not in page


@pytest.mark.parametrize("nonsense", [{"view": "moon"}, {"open": "moon"}, {"example": "x"}, {"groups_from": "-1"}, {"list": "moon:x"}])
def test_nonsense_shows_what_there_is(client: Client, address: str, nonsense: dict[str, str]) -> None:
    assert client.post(address, fields_of(client.get(address).content.decode()) | nonsense).status_code == 200


def test_by_hand_shows_every_row(client: Client, address: str) -> None:
    page = look(client, address, policy="by_hand")
    assert "9 rows" in page and 'aria-label="Show decisions"' not in page


def test_other_parts_have_an_example_too(client: Client, address: str) -> None:
    page = look(client, address, parts=["arguments", "text"], policy="reference", roles=["human", "ai"], min_bytes="0")
    assert {name for _, name, _ in names(page)} >= {"Texts"}
    for _, name, _ in names(page):
        assert 'data-change="removed"' in look(
            client, address, parts=["arguments", "text"], policy="reference", roles=["human", "ai"], min_bytes="0", open=name
        )


def test_the_lines_of_a_very_long_result_are_counted_whole(client: Client, address: str) -> None:
    make_chain([*MESSAGES[:1], ai(None, ("x", "cat", {})), result("x", "row\n" * 200_000), ai("Done")])
    last = Chain.objects.order_by("pk").last()
    assert last
    page = look(client, f"/c/{last.pk}/do/redact/", placeholder="{lines} lines")
    assert "200000 lines" in page
