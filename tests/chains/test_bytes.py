"""Bytes by node: levels that add up, bars that select, and the redaction of a selection."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape
from typing import Any

import pytest
from django.test import Client

from chainviz.chains.bytes import level as level_module
from chainviz.chains.bytes import strips
from chainviz.chains.bytes.level import Address, Level, groups_of, level_of
from chainviz.chains.explorer.subject import Subject
from chainviz.chains.models import Chain
from chainviz.chains.render.charts import bytes_svg
from chainviz.core.chain.paths import Path
from chainviz.store.models import Version
from tests.chains.making import STORY, ai, human, long_story, make_chain, result
from tests.drafts.pages import fields_of, send_form

pytestmark = pytest.mark.django_db


def page(chain: Chain, query: str = "") -> str:
    response = Client().get(f"/c/{chain.pk}/v/1/bytes{query}", headers={"HX-Request": "true"})
    assert response.status_code == 200
    return response.content.decode()


def subject_of(chain: Chain) -> Subject:
    snapshot = Version.objects.select_related("snapshot__outline").get(history=chain.history).snapshot
    return Subject(chain, snapshot, "Version 1", f"/c/{chain.pk}/v/1/", "v=1", version=1)


def levels(html: str) -> list[str]:
    return [unescape(url) for url in re.findall(r'<a href="([^"]+)"[^>]* data-level', html)]


@pytest.fixture
def story() -> Chain:
    return make_chain(STORY)


def test_a_level_says_its_tools_and_parts_with_their_bytes(story: Chain) -> None:
    html = page(story)
    assert re.search(r'aria-label="find_tool, 2 calls, [\d.]+ B, \d+%"', html)
    assert 'aria-label="Section 2, ' in html
    assert 'data-go="s1.p1.m1.c0" data-part="s1.p1.m1.c0"' in html
    assert "style=" not in html
    assert "<h1" in Client().get(f"/c/{story.pk}/v/1/bytes").content.decode()


@pytest.mark.parametrize("at", ["", "s1", "s2", "s1.p1", "s1.h.m1"])
def test_the_parts_of_a_level_are_as_large_as_the_level(story: Chain, at: str) -> None:
    subject = subject_of(story)
    level = level_of(subject.stored, at, at)
    found = groups_of(subject.stored, subject.outline, level)
    assert found is not None
    parts = [part for group in found for node in group.nodes for part in node.parts]
    assert sum(part.size for part in parts) == sum(group.size for group in found) == level.size
    for part in parts:
        stored = subject.stored.rows(subject.stored.span(part.path).start, subject.stored.span(part.path).stop)
        assert stored[0].shape.parts[part.path.part or 0].size == part.size


def test_totals_of_a_chain_that_is_not_read_are_those_of_one_that_is(monkeypatch: pytest.MonkeyPatch) -> None:
    subject = subject_of(make_chain([*STORY, *long_story(3, 4)]))
    level = level_of(subject.stored, "", "")
    read = groups_of(subject.stored, subject.outline, level)
    monkeypatch.setattr(level_module, "MOST_READ", 0)
    totals = groups_of(subject.stored, subject.outline, level)
    assert read is not None and totals is not None
    assert [(g.name, g.size, g.calls, g.results, g.call_size) for g in totals] == [
        (g.name, g.size, g.calls if g.is_tool else 0, g.results, g.call_size) for g in read
    ]


def reached(chain: Chain, query: str = "", seen: set[str] | None = None) -> Iterator[str]:
    """Every level that can be reached by following the blocks of the chart."""
    seen = set() if seen is None else seen
    html = page(chain, query)
    yield query
    for url in levels(html[html.index("<svg") : html.index("</svg>")]):
        below = url[url.index("?") :]
        if "tool=" not in below and "part=" not in below and below not in seen:
            seen.add(below)
            yield from reached(chain, below, seen)


def test_a_long_chain_is_opened_level_by_level_down_to_its_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """The limit is lowered, so that 30 messages are many."""
    for module in (level_module, strips):
        monkeypatch.setattr(module, "MOST_READ", 30)
    monkeypatch.setattr("chainviz.store.outline.blocks.BLOCK", 16)
    chain = make_chain([*long_story(30, 2), *long_story(1, 80)])
    queries = list(reached(chain))
    assert {"?at=s31", "?at=s31.p1&to=s31.p16"} & set(queries)
    pairs = {int(pair) for query in queries for pair in re.findall(r"at=s31\.p(\d+)$", query)}
    assert pairs
    parts = {part for query in queries for part in re.findall(r'data-part="([^"]+)"', page(chain, query))}
    assert {part.split(".")[0] for part in parts} == {f"s{n}" for n in range(1, 32)}


def test_the_sections_of_a_chain_with_very_many_are_named_in_groups(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(strips, "MOST_SECTIONS", 30)
    monkeypatch.setattr("chainviz.store.outline.blocks.BLOCK", 8)
    html = page(make_chain(long_story(200, 1)), "")
    names = re.findall(r"§(\d+)–(\d+)[^<]*</text>", html)
    assert len(names) > 5 and names[0][0] == "1"


def test_every_pair_of_a_section_of_small_ones_is_reached() -> None:
    queries = reached(make_chain(long_story(1, 100)))
    assert {int(pair) for query in queries for pair in re.findall(r"at=s1\.p(\d+)$", query)} == set(range(1, 101))


def test_the_name_of_several_pairs_is_drawn_whole_or_not_at_all() -> None:
    strip = strips.Strip(0, 40, Path(1, 768), Path(1, 1023))
    whole = Level(None, None, range(0), 0, 690, range(0))
    (block,) = strips.strip_blocks([strip], strips.Scale(0, 690, 690, str), 1, Address("bytes"), whole)
    assert "Pairs 1.768–1023" in block.words
    assert "<text" not in bytes_svg([block], None, "Chart")


@pytest.mark.parametrize("query", ["?at=s99", "?at=nonsense", "?at=s1.p1&to=s1.p99"])
def test_a_level_that_is_not_there_is_said(story: Chain, query: str) -> None:
    response = Client().get(f"/c/{story.pk}/v/1/bytes{query}")
    assert response.status_code == 404
    assert b"<h1" in response.content


def test_tokens_are_said_to_be_an_estimate(story: Chain) -> None:
    html = page(story, "?by=tokens&at=s1")
    assert "≈" in html
    assert all("by=tokens" in url for url in levels(html) if not url.endswith("at=s1"))


MESSAGES = [
    human("Look at the files"),
    ai(None, ("c1", "read", {"path": "a"}), ("c2", "grep", {"q": "x"})),
    result("c1", "the file a " * 90),
    result("c2", "a.py:1: x" * 60),
    ai("Fine."),
    human("And b?"),
    ai(None, ("c3", "read", {"path": "b"})),
    result("c3", "the file b " * 50),
    ai("Fine, too."),
]


def chosen(html: str) -> dict[str, Any]:
    link = re.search(r'data-pick-redact href="([^"]+)"', html)
    assert link
    answer = Client().get(unescape(link[1]))
    assert answer.status_code == 200
    html = answer.content.decode()
    return {"fields": fields_of(html), "rows": decisions(in_rows(answer)), "page": html}


def in_rows(answer: Any) -> str:
    """The page that shows the decisions of another one by one; what that says is what its form sends."""
    sent = {**fields_of(answer.content.decode()), "act": "look", "view": "row", "show": "all"}
    return str(Client().post(answer.request["PATH_INFO"] + "?" + answer.request["QUERY_STRING"], sent).content.decode())


def decisions(html: str) -> dict[str, str]:
    rows = html.split("<tr")[2:]
    return {
        path[1]: "redact" if 'data-state="redacted"' in row else "keep" for row in rows if (path := re.search(r'name="row-([^"]+)"', row))
    }


def test_a_bar_selects_what_it_counts_and_leads_to_its_redaction() -> None:
    chain = make_chain(MESSAGES)
    html = page(chain, "?tool=read")
    assert "2 results selected" in html
    assert "Redact these 2 results" in html
    found = chosen(html)
    assert found["rows"] == {"s1.p1.m1.c0": "redact", "s1.p1.m2.c0": "keep", "s2.p1.m1.c0": "redact"}
    assert found["fields"]["policy"] == ["by_hand"]
    assert found["fields"]["by_hand_redact"] == ["s1.p1.m1.c0,s2.p1.m1.c0"]
    assert "2 selected results are redacted by hand. All others are kept." in found["page"]
    assert set(decisions(found["page"]).values()) == {"redact"}, "it begins with what was selected"


def test_a_selection_within_a_section_stays_in_it() -> None:
    chain = make_chain(MESSAGES)
    html = page(chain, "?at=s2&tool=read")
    assert "1 result selected" in html
    assert chosen(html)["rows"] == {"s1.p1.m1.c0": "keep", "s1.p1.m2.c0": "keep", "s2.p1.m1.c0": "redact"}
    calls = chosen(page(chain, "?at=s1&part=call"))["rows"]
    assert calls == {"s1.p1.m0.c0": "redact", "s1.p1.m0.c1": "redact", "s2.p1.m0.c0": "keep"}


def test_parts_are_selected_by_hand() -> None:
    chain = make_chain(MESSAGES)
    response = Client().get(f"/c/{chain.pk}/do/redact/?v=1&policy=by_hand&parts=result&paths=s1.p1.m2.c0")
    answer = response.content.decode()
    assert "1 selected result is redacted by hand." in answer
    assert decisions(in_rows(response)) == {"s1.p1.m1.c0": "keep", "s1.p1.m2.c0": "redact", "s2.p1.m1.c0": "keep"}
    assert fields_of(answer)["by_hand_redact"] == ["s1.p1.m2.c0"]


@pytest.mark.parametrize("query", ["parts=nonsense", "parts=result&from=s99", "parts=result&paths=x", "parts=result&policy=no"])
def test_a_selection_that_does_not_fit_is_said(query: str) -> None:
    chain = make_chain(MESSAGES)
    answer = Client().get(f"/c/{chain.pk}/do/redact/?v=1&{query}")
    assert answer.status_code == 200
    assert "This selection no longer fits" in answer.content.decode()


def test_a_selection_follows_to_the_draft_that_was_begun() -> None:
    chain = make_chain(MESSAGES)
    send_form(Client(), f"/c/{chain.pk}/edit/s2.h.m0?v=1", s2__h__m0__c0__text="And b, please?")
    answer = Client().get(f"/c/{chain.pk}/do/redact/?v=1&parts=result&policy=every&only=grep")
    assert answer.status_code == 302
    answer = Client().get(answer["Location"])
    assert [path for path, said in decisions(in_rows(answer)).items() if said == "redact"] == ["s1.p1.m2.c0"]


def test_a_tool_whose_name_is_odd_can_be_selected() -> None:
    name = "a&b=c ?#%é"
    chain = make_chain([human("a"), ai(None, ("c1", name, {})), result("c1", "text " * 30), ai("b")])
    urls = [url for url in levels(page(chain)) if "tool=" in url]
    html = page(chain, urls[0][urls[0].index("?") :])
    assert "1 result selected" in html
    assert chosen(html)["rows"] == {"s1.p1.m1.c0": "redact"}


def test_results_of_one_tool_are_selected_where_all_calls_share_one_id() -> None:
    pairs = [[ai(None, ("0", name, {})), result("0", f"{name} " * 30)] for name in ("grep", "read")]
    html = page(make_chain([human("a"), *pairs[0], *pairs[1], ai("b")]), "?tool=read")
    assert "1 result selected" in html
    assert chosen(html)["rows"] == {"s1.p1.m1.c0": "keep", "s1.p2.m1.c0": "redact"}


def test_a_large_level_has_few_elements() -> None:
    html = page(make_chain(long_story(60, 10)))
    assert html.count("<") - html.count("</") < 700
