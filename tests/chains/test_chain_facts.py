"""The facts of a chain beside it, while no node is selected: sizes, verdicts, growth, usage, tools."""

from __future__ import annotations

import re
from html import unescape
from typing import Any

import pytest
from django.test import Client

from chainviz.chains.explorer import overview
from chainviz.chains.explorer.overview import growth_of, turn_points
from chainviz.chains.models import Chain
from chainviz.chains.render.charts import GrowthLines, growth_svg
from tests.chains.making import STORY, ai, human, long_story, make_chain, newest, result

pytestmark = pytest.mark.django_db
WINDOW = 200_000


def inspector(chain: Chain, where: str = "") -> str:
    html = Client().get(f"/c/{chain.pk}/{where}").content.decode()
    return html[html.index("<aside") : html.index("</aside>")]


def words(html: str) -> str:
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", html)).split())


def turn(number: int, prompt: int, text: str = "") -> list[dict[str, Any]]:
    usage = {"input_tokens": prompt, "output_tokens": 5}
    call = {**ai(None, (f"c{number}", "read", {})), "model": "claude-sonnet-4-5", "usage": usage}
    return [call, result(f"c{number}", text or f"text {number}")]


def test_the_facts_of_a_chain_stand_beside_it_until_a_node_is_selected() -> None:
    chain = make_chain(STORY)
    said = words(inspector(chain))
    assert "This chain no node selected" in said
    assert "Messages 10 Pairs 4" in said
    assert "OpenAI: 1 error" in said and "Structure: 1 problem" in said
    assert "2 tools · 3 calls" in said
    assert "This transcript records no tokens." in said
    assert "This chain" not in words(inspector(chain, "v/1/at/s1.p1"))


def test_the_prompts_of_turns_are_drawn_against_the_window() -> None:
    prompts = [50_000, 160_000, 40_000, 90_000]
    chain = make_chain([human("go"), *(message for n, prompt in enumerate(prompts) for message in turn(n, prompt)), ai("done")])
    html = inspector(chain)
    assert "the largest recorded prompt has 160.0k; the context window of claude-sonnet-4-5 is 200k" in html
    assert 'class="limit"' in html and 'class="recorded"' in html
    found = growth_of(newest(chain), WINDOW)
    assert found is not None
    assert [(point.turn, point.prompt) for point in found.points] == [*enumerate(prompts, 1), (5, None)]
    assert found.passing is None
    table = words(html[html.index("<table") : html.index("</table>")])
    assert re.search(r"Turn Prompt Stored ≈ 1 50.0k \d+ 2 160.0k \d+ 3 40.0k \d+ 4 90.0k \d+ 5 – \d+$", table)


def test_a_chain_larger_than_the_window_says_at_which_turn_it_passes_it() -> None:
    large = "word " * 40_000
    chain = make_chain([human("go"), *(message for n in range(1, 7) for message in turn(n, 10_000, large)), ai("done")])
    html = inspector(chain)
    passing = re.search(r'exceeds the window at <a href="([^"]+)" data-at="(\d+)">turn (\d+)</a>', html)
    assert passing
    found = growth_of(newest(chain), WINDOW)
    assert found is not None and found.passing is not None
    assert (int(passing[2]), int(passing[3])) == (found.passing.message, found.passing.turn) == (7, 4)
    assert Client().get(unescape(passing[1])).status_code == 200


def test_nothing_recorded_leaves_the_stored_chain_and_its_estimate() -> None:
    html = inspector(make_chain(long_story(3, 4)))
    assert 'class="stored"' in html and 'class="recorded"' not in html and 'class="limit"' not in html
    assert "stored chain ≈" in html
    assert "Prompt" not in html


@pytest.mark.parametrize("messages", [[human("a")], [human("a"), ai("b")]])
def test_a_chain_of_one_turn_does_not_grow(messages: list[dict[str, Any]]) -> None:
    assert "growth-chart" not in inspector(make_chain(messages))


def test_a_long_chain_is_drawn_from_sums_that_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    chain = make_chain([human("go"), *(message for n in range(1_000) for message in turn(n, 1_000 + n))])
    whole, turns = growth_of(newest(chain), WINDOW), turn_points(newest(chain))
    monkeypatch.setattr(overview, "MOST_ROWS", 0)
    sums = growth_of(newest(chain), WINDOW)
    assert whole is not None and sums is not None and sums.is_mean
    assert len(whole.points) <= overview.MOST_POINTS + 1
    assert len(sums.points) < 10
    for point in sums.points:
        assert point.stored == turns[point.turn - 1].stored
    assert sums.turns == whole.turns == 1_000
    assert "(mean)" in inspector(chain)


def test_the_turn_at_which_a_long_chain_passes_the_window_is_exact(monkeypatch: pytest.MonkeyPatch) -> None:
    chain = make_chain([human("go"), *(message for n in range(600) for message in turn(n, 1_000, "word " * 40)), ai("done")])
    whole = growth_of(newest(chain), 20_000)
    monkeypatch.setattr(overview, "MOST_ROWS", 0)
    sums = growth_of(newest(chain), 20_000)
    assert whole is not None and sums is not None and whole.passing is not None
    assert sums.passing == whole.passing
    assert 256 < whole.passing.turn < 512


def test_a_chain_above_the_window_stays_in_the_chart_up_to_four_windows() -> None:
    def drawn(*tokens: int) -> int:
        stored = [(turn, size) for turn, size in enumerate(tokens, 1)]
        svg = growth_svg(GrowthLines((), stored, 100, len(tokens), 1), "Growth")
        return svg.partition('class="stored" points="')[2].partition('"')[0].count(",")

    assert drawn(150, 200, 390) == 3
    assert drawn(150, 450, 900, 950) == 2, "the last is the one that leaves it"
