"""The simulation page: lines over all turns, the table beside the chart, and the job of a long chain."""

from __future__ import annotations

import csv
import io
import json
import re
from html import unescape
from itertools import pairwise
from typing import Any
from urllib.parse import urlencode

import pytest
from django.test import Client

from chainviz.chains.models import Chain
from chainviz.core.operations.compact.simulation import Line, simulate
from chainviz.drafts.simulation import run
from chainviz.drafts.simulation.chart import MOST, Chart, Lanes
from chainviz.drafts.simulation.run import LineRan, SimulationRan
from chainviz.jobs.models import Job
from chainviz.jobs.tasks import run_next_job
from tests.chains.making import ai, human, long_story, make_chain
from tests.drafts.pages import fields_of
from tests.drafts.test_compact import post, talk
from tests.drafts.test_state import stored

pytestmark = pytest.mark.django_db
LIMIT = {"type": "message_limit", "max_messages": 4}


@pytest.fixture
def chain() -> Chain:
    return make_chain(talk(6))


def address(chain: Chain, a: Any = LIMIT, b: Any = None, **more: Any) -> str:
    query = {"v": 1, "shown": 1, "a": json.dumps(a) if a else "", "b": json.dumps(b) if b else "", **more}
    return f"/c/{chain.pk}/do/compact/simulate/?{urlencode(query)}"


def get(where: str, **headers: str) -> str:
    response = Client().get(where, headers=headers)
    assert response.status_code == 200
    return str(response.content.decode())


def text_of(page: str) -> str:
    return unescape(" ".join(re.sub(r"<[^>]*>", " ", page[page.index('id="simulation"') :]).split()))


def test_the_page_draws_both_usual_strategies_at_once(chain: Chain) -> None:
    page = get(f"/c/{chain.pk}/do/compact/simulate/")
    assert set(re.findall(r'<polyline class="series" data-series="(\w+)"', page)) == {"plain", "a", "b", "summarize", "redact"}
    assert "6 turns" in page
    assert "Message limit 50" in page


def test_each_line_says_when_it_fired_and_what_is_lost(chain: Chain) -> None:
    found = text_of(get(address(chain)))
    assert "4 times first after turn 3" in found
    assert "4 times, first after turn 3" in found
    assert "Strategy A fits the context window" in found
    assert "3 turns, 6 messages, 0 tool results" in found
    assert "Redact" not in found
    at_three = text_of(get(address(chain, turn=3)))
    assert "At turn 3" in at_three
    assert "Strategy A 19" not in at_three and "nothing" in at_three


def test_the_numbers_are_those_of_core(chain: Chain) -> None:
    rows = list(csv.reader(io.StringIO(get(f"{address(chain, None)}&as=csv"))))
    expected = simulate(stored(chain), [Line("No compaction")]).lines[0].sizes
    assert rows[0] == ["turn", "No compaction"]
    assert [int(size) for _, size in rows[1:]] == list(expected)


def test_sizes_are_in_tokens_or_bytes_against_the_context_window(chain: Chain) -> None:
    assert re.search(r"No compaction \d+ B", text_of(get(address(chain, unit="bytes"))))
    assert re.search(r"No compaction (\d+) \1 turn 6", text_of(get(address(chain, unit="messages"))))
    big = make_chain([human("q"), ai("x" * 40_000), human("more"), ai("y")], "big.json")
    page = get(address(big, window=8192))
    assert "Context window 8,192" in page
    assert "too large" in text_of(page)


def test_the_compaction_page_leads_here_and_back(chain: Chain) -> None:
    answer = post(chain, LIMIT, "simulate")
    assert answer.status_code == 303
    page = get(answer.headers["Location"])
    assert "Message limit: keep the last 4 messages" in page
    back = unescape(re.findall(r'href="([^"]*do/compact/\?[^"]*strategy[^"]*)"', page)[0])
    assert fields_of(get(back))["max_messages@"] == ["4"]


def test_lanes_say_what_the_model_still_sees(chain: Chain) -> None:
    found = text_of(get(address(chain, summarize=1, redact=1, turn=5)))
    assert "What the model still sees in turn 5" in found
    assert "Strategy A: turn 2 removed" in found and "Strategy A: turn 3 whole" in found
    assert "3 whole, 2 removed" in found
    assert "1 whole, 4 summarized" in found and "1 whole, 4 redacted" in found
    assert "Strategy A: 2 messages removed after turn 3" in found


def test_a_chain_without_turns_says_so() -> None:
    assert "no complete turn" in get(address(make_chain([human("a"), human("b")])))


@pytest.mark.parametrize("query", ["a={", "a=[]&b=x", "a=" + "[" * 9_000])
def test_a_strategy_that_is_none_is_refused(chain: Chain, query: str) -> None:
    assert Client().get(f"/c/{chain.pk}/do/compact/simulate/?{query}").status_code == 422


@pytest.mark.parametrize("query", ["turn=0", "turn=99999", "unit=miles&window=x", "job=9", "as=csv&a="])
def test_odd_addresses_are_harmless(chain: Chain, query: str) -> None:
    assert Client().get(f"/c/{chain.pk}/do/compact/simulate/?{query}").status_code in (200, 404)


def test_a_long_chain_is_simulated_by_a_job(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run, "MESSAGES_AT_ONCE", 100)
    chain = make_chain([message for turn in range(200) for message in (*long_story(1, 1), ai(f"Done {turn}"))])
    client, where = Client(), f"/c/{chain.pk}/do/compact/simulate/"
    page = get(where)
    assert "runs in the background" in page
    answer = client.post(f"{where}?v=1", {**fields_of(page), "a": json.dumps(LIMIT)})
    assert answer.status_code == 303
    assert "Simulating every turn" in get(answer.headers["Location"])
    run_next_job()
    done = get(answer.headers["Location"])
    assert "200 turns" in done
    assert "199 times" in text_of(done) or "times first after turn" in text_of(done)
    assert len(re.findall(r'class="turn-hit"', done)) <= MOST
    assert get(answer.headers["Location"], **{"HX-Request": "true"}).lstrip().startswith('<div class="changes-main" id="simulation">')
    assert SimulationRan.model_validate(Job.objects.get().result).turns == 200


def test_the_job_of_a_long_chain_can_be_stopped(chain: Chain, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run, "MESSAGES_AT_ONCE", 1)
    client, where = Client(), f"/c/{chain.pk}/do/compact/simulate/?v=1"
    answer = client.post(where, fields_of(get(where)))
    client.post(answer.headers["Location"], {"act": "stop"})
    assert Job.objects.get().state == Job.State.CANCELLED
    assert "Stopped" in get(answer.headers["Location"])


@pytest.mark.parametrize("turns", [1, 2, 119, 120, 121, 5_000])
def test_a_chart_has_few_points_and_stays_in_its_frame(turns: int) -> None:
    numbers = tuple(range(turns))
    sizes = tuple(7 * turn for turn in numbers)
    lines = tuple(LineRan(key=key, sizes=sizes, counts=numbers, whole=numbers) for key in ("plain", "a", "b"))
    chart = Chart(SimulationRan(turns=turns, lines=lines), "tokens", 0, turns - 1)
    for lane in Lanes(chart).seen:
        assert all(chart.left <= cell.x and cell.x + cell.width <= chart.right for cell in lane.cells)
    assert [bucket.start for bucket in chart.buckets][1:] == [bucket.stop for bucket in chart.buckets][:-1]
    assert (chart.buckets[0].start, chart.buckets[-1].stop) == (0, turns)
    for line in chart.drawn():
        points = [tuple(map(float, point.split(","))) for point in line.points.split()]
        assert len(points) <= MOST
        assert all(chart.left <= x <= chart.right and chart.top <= y <= chart.bottom for x, y in points)
    names = sorted(line.end for line in chart.drawn())
    assert all(low + 20 < high for low, high in pairwise(names))
    assert sum(hit.is_chosen for hit in chart.hits()) == 1
    assert len(list(chart.ticks())) <= 7
