"""Bytes by node of a very long chain: each level has sums, names and a trail, also inside one long pair."""

from __future__ import annotations

import re
from html import unescape

import pytest
from django.test import Client

from chainviz.chains.bytes import level as level_module
from chainviz.chains.bytes.level import groups_of, level_of
from chainviz.chains.models import Chain
from tests.chains.making import STORY, ai, human, long_story, make_chain, result
from tests.chains.test_bytes import chosen, page, reached, subject_of

pytestmark = pytest.mark.django_db

ANSWERS = 100


@pytest.fixture
def one_pair() -> Chain:
    """Results that do not name their tools, which only the first message of their pair tells."""
    calls = [(f"c{i}", "read" if i % 2 else "grep", {"n": i}) for i in range(ANSWERS)]
    answers = [result(f"c{i}", f"line {i} " * 20) for i in range(ANSWERS)]
    return make_chain([human("All at once"), ai(None, *calls), *answers, ai("Done.")])


def crumbs(html: str) -> list[str]:
    found = re.search(r'<ol class="drill">(.*?)</ol>', html)
    assert found
    return [re.sub("<[^>]*>", "", each) for each in re.findall(r"<li.*?</li>", found[1])]


LEVELS = ["", "s1", "s1.p1", "s2.p1", "s3.p1:s3.p4", "s2:s3", "s1.p1.m1:s1.p1.m2", "s1.p1.m2"]


@pytest.mark.parametrize("at", LEVELS)
@pytest.mark.parametrize("summed", [0, 4, 10_000])
def test_sums_are_those_of_the_level_when_it_is_read(monkeypatch: pytest.MonkeyPatch, at: str, summed: int) -> None:
    """Whether they are added up, or taken from the whole chain without what lies outside."""
    subject = subject_of(make_chain([*STORY[:-2], *long_story(1, 6)]))
    level = level_of(subject.stored, *(at.split(":") * 2)[:2])
    read = groups_of(subject.stored, subject.outline, level)
    monkeypatch.setattr(level_module, "MOST_READ", 0)
    monkeypatch.setattr(level_module, "MOST_SUMMED", summed)
    found = groups_of(subject.stored, subject.outline, level)
    if found is None:
        assert summed < len(level.messages)
        return
    assert read is not None and sum(group.size for group in found) == level.size
    assert [(g.name, g.size, g.calls if g.is_tool else 0, g.results, g.result_size) for g in found if g.size] == [
        (g.name, g.size, g.calls if g.is_tool else 0, g.results, g.result_size) for g in read
    ]


@pytest.mark.parametrize("summed", [0, 10_000])
def test_results_of_a_long_pair_have_the_tools_of_their_calls(monkeypatch: pytest.MonkeyPatch, one_pair: Chain, summed: int) -> None:
    monkeypatch.setattr(level_module, "MOST_SUMMED", summed)
    html = page(one_pair, "?at=s1.p1.m1&to=s1.p1.m40&part=result")
    assert "read, 20 results, " in html and "grep, 20 results, " in html and "no name" not in html
    assert "40 results selected" in html


def test_a_long_pair_is_opened_message_by_message(one_pair: Chain) -> None:
    queries = list(reached(one_pair))
    found = {part for query in queries for part in re.findall(r'data-part="(s1\.p1\.m\d+)\.', page(one_pair, query))}
    assert {f"s1.p1.m{number}" for number in range(1, ANSWERS + 1)} <= found


def test_a_stretch_of_a_long_pair_can_be_redacted(one_pair: Chain) -> None:
    rows = chosen(page(one_pair, "?at=s1.p1.m3&to=s1.p1.m5&part=result"))["rows"]
    assert [path for path, said in rows.items() if said == "redact"] == ["s1.p1.m3.c0", "s1.p1.m4.c0", "s1.p1.m5.c0"]


@pytest.mark.parametrize(
    ("at", "above"), [("s2.p1", ["§2"]), ("s1.p77", ["§1", r"1\.\d+–\d+"]), ("s1", []), ("s1.p77.m1", ["§1", r"1\.\d+–\d+", r"1\.77"])]
)
def test_the_trail_names_every_level_above(at: str, above: list[str]) -> None:
    html = page(make_chain([*long_story(1, 100), human("?" * 4000), ai("!" * 4000)]), f"?at={at}")
    shown = crumbs(html)
    assert shown[0] == "All sections" and len(shown) == len(above) + 2
    assert all(re.fullmatch(pattern, crumb) for pattern, crumb in zip(above, shown[1:], strict=False))
    assert html.count("data-up>") == len(above) + 1


def test_every_block_of_a_strip_has_its_name() -> None:
    html = page(make_chain(long_story(1, 200)), "?at=s1")
    blocks = re.findall(r'aria-label="Pairs [^"]*">(.*?)</a>', html)
    assert len(blocks) > 4 and all("<text" in block for block in blocks)
    sections = page(make_chain(long_story(60, 1)))
    names = re.findall(r'aria-label="Sections? [^"]*">(.*?)</a>', sections)
    assert len(names) > 10 and all("<text" in block for block in names)


def test_a_block_says_where_its_results_are_selected() -> None:
    html = page(make_chain(long_story(1, 300)), "?at=s1")
    selects = [unescape(url) for url in re.findall(r'data-select="([^"]+)"', html)]
    assert selects and all("part=" in url or "tool=" in url for url in selects)
    answer = Client().get(selects[0], headers={"HX-Request": "true"}).content.decode()
    assert "results selected" in answer and "Redact these" in answer
