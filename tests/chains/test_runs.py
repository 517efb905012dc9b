"""The page that compares any two chains, and the way to it from the library (issue 12)."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from django.test import Client

from chainviz.chains.diff import runs as compare_runs
from chainviz.chains.models import Chain
from chainviz.jobs.worker import run_waiting_jobs
from tests.chains.files import send

pytestmark = pytest.mark.django_db


def run(name: str, *steps: tuple[str, str, str], end: str) -> list[dict[str, Any]]:
    messages: list[dict[str, Any]] = [{"role": "user", "content": "Move the worker"}]
    for i, (tool, arguments, result) in enumerate(steps):
        call = {"id": f"{name}{i}", "type": "function", "function": {"name": tool, "arguments": arguments}}
        messages.append({"role": "assistant", "content": None, "tool_calls": [call]})
        messages.append({"role": "tool", "tool_call_id": f"{name}{i}", "content": result})
    return [*messages, {"role": "assistant", "content": end}]


@pytest.fixture
def runs(client: Client) -> tuple[Chain, Chain]:
    grep, test = ("grep", '{"q": "queue"}', "41 matches"), ("test", "{}", "3 failed")
    send(client, ("first.json", json.dumps(run("a", grep, test, end="Caused an <i>incident</i>.")).encode()))
    send(client, ("second.json", json.dumps(run("b", grep, ("read", "{}", "rules"), end="Released.")).encode()))
    one, other = Chain.objects.order_by("pk")
    return one, other


def test_the_page_shows_facts_and_the_first_difference(client: Client, runs: tuple[Chain, Chain]) -> None:
    one, other = runs
    page = client.get(f"/compare/{one.pk}/{other.pk}/").content.decode()
    assert "They first differ at <b>1.2</b> of A and <b>1.2</b> of B" in page
    assert 'href="?layout=split#change-1"' in page and 'id="change-1"' in page
    assert "Caused an &lt;i&gt;incident&lt;/i&gt;." in page and "Released." in page
    assert f'href="/c/{one.pk}/v/1/at/s1.p3#s1-p3"' in page
    for tool in ("grep", "test", "read"):
        assert f'<th scope="row" class="mono">{tool}</th>' in page
    assert "1 unchanged" in page, "equal steps are aligned although their ids differ"


def test_a_strip_leads_to_every_difference_and_says_what_it_is(client: Client, runs: tuple[Chain, Chain]) -> None:
    one, other = runs
    page = client.get(f"/compare/{one.pk}/{other.pk}/").content.decode()
    links = re.findall(r'class="strip-cell" data-kind="(\w+)" href="([^"]+)" aria-label="([^"]+)"', page)
    assert links == [("changed", "?#change-1", "Changes 1 to 2, at 1.2 of A and 1.2 of B: changed, 3 messages")]
    assert "Where they differ" in page and "equal, 3" in page and "changed, 3" in page
    same = client.get(f"/compare/{one.pk}/{one.pk}/").content.decode()
    assert "Where they differ" not in same


def test_sections_of_a_chain_with_very_many_are_not_named(client: Client, runs: tuple[Chain, Chain]) -> None:
    asked = [each for i in range(101) for each in ({"role": "user", "content": f"{i}"}, {"role": "assistant", "content": "x"})]
    send(client, ("many.json", json.dumps(asked).encode()))
    page = client.get(f"/compare/{runs[0].pk}/{Chain.objects.latest('pk').pk}/").content.decode()
    assert page.count('class="strip-labels"') == 2
    assert page.count(">§1</text>") == 1


def test_what_only_one_run_holds_is_called_so(client: Client, runs: tuple[Chain, Chain]) -> None:
    """Nobody removed or added it."""
    longer = run("c", ("grep", '{"q": "queue"}', "41 matches"), ("ls", "{}", "a b c"), ("read", "{}", "rules"), end="Released.")
    send(client, ("third.json", json.dumps(longer).encode()))
    page = client.get(f"/compare/{Chain.objects.latest('pk').pk}/{runs[1].pk}/").content.decode()
    assert "1 only in A" in page and "only in A</span>" in page and "removed</span>" not in page


def test_little_in_common_is_said(client: Client, runs: tuple[Chain, Chain]) -> None:
    one, other = runs
    assert "little in common" not in client.get(f"/compare/{one.pk}/{other.pk}/").content.decode()
    send(client, ("else.json", json.dumps([{"role": "user", "content": "Book it"}, *run("d", ("fly", "{}", "ok"), end="x")[1:]]).encode()))
    page = client.get(f"/compare/{one.pk}/{Chain.objects.latest('pk').pk}/").content.decode()
    assert "These chains have little in common" in page and "0 of 2 pairs of B align; the first requests differ." in page


def test_the_strip_comes_before_the_facts(client: Client, runs: tuple[Chain, Chain]) -> None:
    """A phone shows the page in the order of its elements."""
    page = client.get(f"/compare/{runs[0].pk}/{runs[1].pk}/").content.decode()
    assert page.index("Where they differ") < page.index("They first differ") < page.index("Side by side") < page.index('id="changes"')


@pytest.mark.parametrize("messages", [[], [{"role": "user", "content": str(i)} for i in range(3)]])
def test_a_chain_without_sections_or_with_too_many_to_name_is_compared(
    client: Client, runs: tuple[Chain, Chain], messages: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("chainviz.chains.diff.strip_svg.MOST_SECTIONS", 0)
    send(client, ("other.json", json.dumps({"model": "m", "messages": messages}).encode()))
    page = client.get(f"/compare/{runs[0].pk}/{Chain.objects.latest('pk').pk}/")
    assert page.status_code == 200 and "Where they differ" in page.content.decode()


def test_facts_that_differ_are_marked(client: Client, runs: tuple[Chain, Chain]) -> None:
    one, other = runs
    page = client.get(f"/compare/{one.pk}/{other.pk}/").content.decode()
    rows = re.findall(r'<tr( data-differs)?><th scope="row">([\w ]+)', page)
    assert (" data-differs", "Bytes") in rows and ("", "Messages") in rows and ("", "Duration") in rows
    assert "Labels" not in page


def test_versions_can_be_named(client: Client, runs: tuple[Chain, Chain]) -> None:
    one, _ = runs
    page = client.get(f"/compare/{one.pk}.1/{one.pk}/").content.decode()
    assert "No difference" in page


@pytest.mark.parametrize("reference", ["999", "x", "1.2.3", "1.", "1.9", "²"])
def test_what_names_no_chain_is_not_found(client: Client, runs: tuple[Chain, Chain], reference: str) -> None:
    assert client.get(f"/compare/{runs[0].pk}/{reference}/").status_code == 404


def test_two_ticked_rows_are_compared(client: Client, runs: tuple[Chain, Chain]) -> None:
    both = [chain.pk for chain in runs]
    assert client.post("/compare/", {"chain": both}).url == f"/compare/{both[0]}/{both[1]}/"
    answer = client.post("/compare/", {"chain": both[:1]}, follow=True)
    assert "Tick at least two chains" in answer.content.decode()


def test_more_ticked_rows_are_a_table(client: Client, runs: tuple[Chain, Chain]) -> None:
    both = [str(chain.pk) for chain in runs]
    chosen = [*both, both[0]]
    answer = client.post("/compare/", {"chain": chosen}, follow=True)
    page = answer.content.decode()
    assert page.count('<th scope="row">') == 3 and "Tool errors" in page
    assert f'href="/compare/{both[0]}/{both[1]}/"' in page and "Equal" in page and "The first run" in page
    assert client.get("/compare/?run=1&run=2&run=99999").status_code == 404


def test_long_chains_are_compared_by_a_job(client: Client, runs: tuple[Chain, Chain], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compare_runs, "MOST_COMPARED", 2)
    compare_runs._cached_groups.cache_clear()
    address = f"/compare/{runs[0].pk}/{runs[1].pk}/"
    assert client.get(address).status_code == 202
    run_waiting_jobs()
    assert "They first differ at" in client.get(address).content.decode()


def test_an_added_result_is_shown_beside_its_call(client: Client, runs: tuple[Chain, Chain]) -> None:
    """The call has another id in the other run."""
    pending = run("p", ("grep", '{"q": "queue"}', ""), ("test", "{}", "3 failed"), end="Caused an incident.")
    send(client, ("pending.json", json.dumps([*pending[:2], *pending[3:]]).encode()))
    page = client.get(f"/compare/{Chain.objects.latest('pk').pk}/{runs[0].pk}/").content.decode()
    assert "Call of grep" in page and "call id" not in page


def test_runs_that_differ_in_their_ids_alone_are_said_to(client: Client, runs: tuple[Chain, Chain]) -> None:
    again = run("z", ("grep", '{"q": "queue"}', "41 matches"), ("read", "{}", "rules"), end="Released.")
    send(client, ("again.json", json.dumps(again).encode()))
    page = client.get(f"/compare/{runs[1].pk}/{Chain.objects.latest('pk').pk}/").content.decode()
    assert "only the ids of the calls differ" in page and "byte for byte" not in page


def test_a_recorded_outcome_stands_beside_the_final_answer(client: Client, runs: tuple[Chain, Chain]) -> None:
    page = client.get(f"/compare/{runs[0].pk}/{runs[1].pk}/").content.decode()
    assert "Reward" not in page
    send(client, ("scored.json", json.dumps({"reward": 0.0, "messages": run("s", end="Done.")}).encode()))
    page = client.get(f"/compare/{runs[0].pk}/{Chain.objects.latest('pk').pk}/").content.decode()
    assert '<span class="muted">Reward</span> 0</span>' in page and page.count("Reward") == 1
    assert page.index(">Outcome<") < page.index("Final answer") < page.index("Reward") < page.index("Side by side")
