"""The search of the library: text in titles and content with hits in context, filters, saved filters."""

from __future__ import annotations

import json
import re
from html import unescape
from typing import Any
from urllib.parse import urlencode

import pytest
from django.db import connection
from django.http import QueryDict
from django.test import Client
from django.test.utils import CaptureQueriesContext

from chainviz.accounts.models import local_member
from chainviz.accounts.permissions import Role
from chainviz.bulk.models import BulkRow
from chainviz.chains.library import search as hits_module
from chainviz.chains.library.filter import Filter, read_filter
from chainviz.chains.library.search import OPEN_QUOTE, read_search_text, start_if_needed
from chainviz.chains.models import Chain, SavedFilter
from chainviz.chains.secrets.files import team_texts
from chainviz.drafts.models import Draft
from chainviz.jobs.models import Job
from chainviz.jobs.worker import run_waiting_jobs
from chainviz.purge.values import blank_rows
from chainviz.store.content.message_reader import read_rows
from chainviz.store.models import SearchState
from chainviz.store.purge.blanking import Blanks
from chainviz.store.purge.values import reach
from tests.accounts.people import client_of, make_member, make_team
from tests.chains.files import send
from tests.drafts.pages import send_form

pytestmark = pytest.mark.django_db


def transcript(title: str, *answers: str, tool: str = "query_db") -> bytes:
    """A chain with a call for each answer."""
    messages: list[dict[str, Any]] = [{"role": "user", "content": title}]
    for number, answer in enumerate(answers):
        call = {"id": f"c{number}", "type": "function", "function": {"name": tool, "arguments": json.dumps({"n": number})}}
        messages.append({"role": "assistant", "content": None, "tool_calls": [call]})
        messages.append({"role": "tool", "tool_call_id": f"c{number}", "content": answer})
    return json.dumps({"model": "gpt-4.1", "messages": messages}).encode()


def index() -> None:
    start_if_needed()
    run_waiting_jobs()


@pytest.fixture
def library(client: Client) -> Client:
    waits = [f"try {n}: transaction waits, Deadlock <b>detected</b>" for n in range(5)]
    send(client, ("refund.json", transcript("Why do refunds wait?", *waits)))
    send(client, ("import.json", transcript("Nightly import hangs", "state = active, lock not granted", tool="run_shell")))
    broken = {"role": "tool", "tool_call_id": "nobody", "content": "late"}
    send(client, ("broken.json", json.dumps([{"role": "user", "content": "A broken plan"}, broken]).encode()))
    index()
    return client


def page(client: Client, query: str) -> str:
    return client.get(f"/?{query}").content.decode()


def titles(text: str) -> list[str]:
    return [unescape(found) for found in re.findall(r'class="chain-link"[^>]*>([^<]*)<', text)]


def hits(text: str) -> list[tuple[str, str]]:
    """Address and words of each."""
    found = re.findall(r'<li><a href="([^"]*)"><span class="hit-at"[^>]*>.*?</span><span class="hit-text">(.*?)</span></a>', text)
    return [(address, words) for address, words in found]


def test_text_is_found_with_hits_in_context(library: Client) -> None:
    text = page(library, "q=deadlock")
    assert titles(text) == ["Why do refunds wait?"]
    shown = hits(text)
    assert len(shown) == 3 and "2 more</a>" in text
    chain = Chain.objects.get(title="Why do refunds wait?")
    assert shown[0][0] == f"/c/{chain.pk}/v/1/at/s1.p1.m1.c0?find=Deadlock"
    assert "waits, <mark>Deadlock</mark> &lt;b&gt;detected" in shown[0][1]
    for address, _ in shown:
        assert library.get(address).status_code == 200
    more = re.search(r'class="more-hits" href="([^"]*)"', text)
    assert more and library.get(unescape(more[1])).content.decode().count("<mark>") >= 5


def test_words_around_a_hit_are_whole(client: Client) -> None:
    send(client, ("words.json", json.dumps([{"role": "user", "content": "Unbelievably " * 9 + "deadlock"}]).encode()))
    send(client, ("plain.json", json.dumps([{"role": "user", "content": "x" * 99 + "-deadlock"}]).encode()))
    index()
    shown = {words for _, words in hits(page(client, "q=deadlock"))}
    assert shown == {"Unbelievably " * 3 + "<mark>deadlock</mark>", "x" * 49 + "-<mark>deadlock</mark>"}


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("transaction+waits", ["Why do refunds wait?"]),
        ("%22waits+transaction%22", []),
        ("lock", ["Nightly import hangs"]),
        ("dead*", ["Why do refunds wait?"]),
        ("lock+-granted", []),
        ("refunds+detected", ["Why do refunds wait?"]),
        ("-detected+-broken", ["Nightly import hangs"]),
        ("tool:run_shell", ["Nightly import hangs"]),
        ("c0", ["Nightly import hangs", "Why do refunds wait?"]),
    ],
)
def test_words_phrases_and_exclusions(library: Client, query: str, found: list[str]) -> None:
    assert titles(page(library, f"q={query}")) == found


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("tool=query_db", ["Why do refunds wait?"]),
        ("model=gpt-4.1&q=import", ["Nightly import hangs"]),
        ("larger=1+kB", []),
        ("smaller=60+B", ["A broken plan"]),
        ("since=2020-01-01&until=2021-01-01", []),
        ("since=2020-01-01&tool=run_shell", ["Nightly import hangs"]),
        ("errors=1", []),
        ("verdict=openai-chat:rejected&problems=1", ["A broken plan"]),
    ],
)
def test_filters(library: Client, query: str, found: list[str]) -> None:
    assert titles(page(library, query)) == found


@pytest.mark.parametrize(
    ("rule", "found"),
    [
        ("orphan-result", ["A broken plan"]),
        ("anthropic:result-without-call", ["A broken plan"]),
        ("result-without-call", ["A broken plan"]),
        ("without-call", []),
        ("mistral:orphan-result", []),
    ],
)
def test_a_broken_rule_can_be_filtered_by(library: Client, rule: str, found: list[str]) -> None:
    """The filter takes the rule of the structure, of one provider or of all providers."""
    text = page(library, f"filters=1&q=problem:{rule}")
    assert titles(text) == found
    assert re.search(r'<optgroup label="Anthropic Messages">(<option[^>]*>[A-Za-z ]+</option>)*<option value="anthropic:', text)
    words = rule.rpartition(":")[2].replace("-", " ").capitalize()
    assert re.findall(r" selected>([^<]*)<", text) in ([words], [rule])


def test_only_chains_with_an_open_draft_of_the_person(library: Client) -> None:
    chain = Chain.objects.get(file_name="import.json")
    send_form(library, f"/c/{chain.pk}/edit/s1.h.m0?v=1", s1__h__m0__c0__text="Nightly import works")
    assert titles(page(library, "drafts=1")) == ["Nightly import hangs"]
    assert "with my open drafts" in page(library, "drafts=1")
    assert len(library.get("/api/v1/chains?drafts=1").json()["chains"]) == 1
    library.post("/bulk/", {"act": "export", "all": "1", "filter": "drafts=1"})
    assert list(BulkRow.objects.values_list("chain", flat=True)) == [chain.pk]
    Draft.objects.update(author=make_member(make_team("Others"), "Sam", Role.EDITOR).user)
    assert titles(page(library, "drafts=1")) == []


def test_active_filters_are_chips_that_can_be_removed(library: Client) -> None:
    text = page(library, "q=deadlock+tool:query_db&since=2020-01-01")
    found = re.findall(r'chip-button" href="([^"]*)" aria-label="Remove: ([^"]*)"', text)
    chips = {unescape(label): unescape(address) for address, label in found}
    assert chips == {
        "text deadlock": "?tool=query_db&since=2020-01-01",
        "tool query_db": "?q=deadlock&since=2020-01-01",
        "changed since 2020-01-01": "?q=deadlock&tool=query_db",
    }
    assert "<b>1 chain</b> of 3" in text


def test_what_is_not_understood_is_said(library: Client) -> None:
    assert OPEN_QUOTE in unescape(page(library, "q=%22transaction+waits"))
    text = unescape(page(library, "q=%3F%3F&larger=huge&since=soon"))
    assert "“??” has no letters or digits" in text
    assert "“huge” is not a size; write 500 kB or 2 MB." in text
    assert "“soon” is not a date; write it as 2026-10-01." in text
    assert "is too short: write at least" in page(library, "q=de*")
    assert not read_search_text("- -- \"\" tool: ''").filters


def test_a_second_block_is_read_only_where_the_first_has_few_hits(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[list[int]] = []
    monkeypatch.setattr(hits_module, "read_rows", lambda pieces: read.append([p.length for p in pieces]) or read_rows(pieces))
    many = ("word " * 150 + "deadlock",) * 60
    few = ("word " * 1_100 + "deadlock",) * 4
    for title, answers in (("many", many), ("few", few)):
        send(client, (f"{title}.json", transcript(title, *answers)))
    index()
    text = page(client, "q=deadlock")
    assert len(hits(text)) == 5 and text.count("+ more</a>") == 1
    assert [len(each) for each in read] == [2, 1]


def test_words_of_many_blocks_are_not_counted_one_by_one(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    """If more blocks than are read have all words, the others are not searched; otherwise the words may be in different blocks."""
    long = " ".join(f"lock waits {n}" for n in range(900))
    send(client, ("often.json", transcript("Often", *[long] * 6)))
    send(client, ("apart.json", transcript("Apart", "a lock " + "x " * 2500, "it waits " + "y " * 2500)))
    index()
    asked: list[tuple[int, int]] = []
    look = hits_module.blocks_with

    def counted(phrases: Any, histories: Any, enough: int) -> Any:
        asked.append((len(phrases), len(histories)))
        return look(phrases, histories, enough)

    monkeypatch.setattr(hits_module, "blocks_with", counted)
    page = client.get("/?q=lock+waits").content.decode()
    assert asked == [(2, 2), (1, 1), (1, 1)]
    assert page.count("<mark>lock</mark>") >= 2 and page.count("<mark>waits</mark>") >= 2
    asked.clear()
    client.get("/?q=" + "+".join(["lock", "waits", "a", "it", "x", "y"]))
    assert asked == [(6, 1), *[(1, 1)] * hits_module.COUNTED]  # the chain has all words, but no block has


def test_the_places_of_all_hits_are_read_in_two_queries(client: Client) -> None:
    send(client, *((f"{n}.json", transcript(f"Chain {n}", "a deadlock", "a deadlock")) for n in range(6)))
    index()
    with CaptureQueriesContext(connection) as asked:
        found = hits(page(client, "q=deadlock"))
    assert len(found) == 12 and {"s1.p1.m1.c0", "s1.p2.m1.c0"} <= {address.split("/at/")[1].split("?")[0] for address, _ in found}
    assert sum("outlineblock" in each["sql"] for each in asked) == 2


def test_chains_that_wait_for_the_index_are_said(library: Client) -> None:
    SearchState.objects.all().delete()
    text = page(library, "q=deadlock")
    assert "Not yet indexed: 3 chains" in text and titles(text) == []
    assert titles(page(library, "q=refunds")) == ["Why do refunds wait?"]
    index()
    assert "Not yet indexed" not in page(library, "q=deadlock")


def test_the_index_job_runs_once_and_lets_others_pass(library: Client) -> None:
    SearchState.objects.all().delete()
    job = start_if_needed()
    assert job is not None and start_if_needed() is None
    Job.objects.create(function="unknown", args={}, created_at=job.created_at)
    run_waiting_jobs()
    assert SearchState.objects.count() == 1, "another job waited: the rest is indexed later"
    index()
    assert SearchState.objects.count() == 3 and start_if_needed() is None


def test_a_damaged_chain_does_not_keep_others_from_the_index(library: Client, monkeypatch: pytest.MonkeyPatch, caplog: Any) -> None:
    SearchState.objects.all().delete()
    index_chain, damaged = hits_module.index_chain, Chain.objects.order_by("-pk").first()
    assert damaged is not None

    def indexed(number: int, *rest: Any) -> bool:
        if number == damaged.history:
            raise ValueError("Expecting value")
        return index_chain(number, *rest)

    monkeypatch.setattr(hits_module, "index_chain", indexed)
    assert start_if_needed() is not None
    run_waiting_jobs()
    assert Job.objects.get(function=hits_module.INDEX).state == Job.State.DONE
    assert f"chain {damaged.history} cannot be read" in caplog.text
    assert start_if_needed() is None, "it is not tried again before it changes"
    assert set(hits_module.not_indexed(Chain.objects.all())) == {damaged}


def test_binned_chains_and_other_teams_are_not_found(library: Client, settings: Any) -> None:
    settings.CHAINVIZ = settings.CHAINVIZ.model_copy(update={"mode": "team"})
    stranger = client_of(make_member(make_team("Elsewhere"), "Stranger", Role.OWNER))
    text = page(stranger, "q=deadlock")
    assert titles(text) == [] and not hits(text) and "Not yet indexed" not in text
    settings.CHAINVIZ = settings.CHAINVIZ.model_copy(update={"mode": "local"})
    library.post("/bin/add/", {"chain": Chain.objects.get(file_name="refund.json").pk})
    assert titles(page(library, "q=deadlock")) == []


def test_an_edit_is_found_once_it_is_indexed(library: Client) -> None:
    chain = Chain.objects.get(file_name="refund.json")
    library.post("/bulk/", {"act": "redact", "chain": chain.pk})
    assert hits(page(library, "q=deadlock"))


def test_the_bulk_bar_means_the_whole_filter(library: Client) -> None:
    answer = library.post("/bulk/", {"act": "export", "all": "1", "filter": "q=deadlock"}, follow=True)
    assert "Why do refunds wait?" in unescape(answer.content.decode())
    assert "Nightly import hangs" not in unescape(answer.content.decode())


def test_filters_are_saved_renamed_and_deleted(library: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    library.post("/filters/", {"name": " Lock  waits ", "query": "q=deadlock&page=3&evil=1"})
    kept = SavedFilter.objects.get()
    assert (kept.name, kept.query) == ("Lock waits", "q=deadlock")
    assert 'href="/?q=deadlock"' in page(library, "")
    monkeypatch.setattr("chainviz.chains.library.saved_filters.MOST", 1)
    library.post("/filters/", {"name": "Lock waits", "query": "q=granted"})
    assert SavedFilter.objects.get().query == "q=granted", "the same name is the same filter"
    library.post("/filters/", {"name": "One more", "query": "q=granted"})
    assert "delete one first" in page(library, "")
    address = f"/filters/{kept.pk}/"
    assert library.post(address, {"name": ""}).status_code == 422
    assert library.post(address, {"name": "Granted"}).status_code == 303
    assert SavedFilter.objects.get().name == "Granted"
    library.post("/filters/", {"name": "Nothing", "query": ""})
    assert "There is no filter to save" in page(library, "")
    assert "The chains stay" in library.get(address).content.decode()
    library.post(address, {"act": "delete"})
    assert not SavedFilter.objects.exists() and Chain.objects.count() == 3


def test_a_saved_filter_is_a_persons_own(library: Client) -> None:
    library.post("/filters/", {"name": "Mine", "query": "q=deadlock"})
    member = local_member()
    other = make_member(member.team, "Other", Role.OWNER)
    assert not SavedFilter.objects.visible_to(other).exists()


def test_purge_and_scan_reach_saved_filters(library: Client) -> None:
    library.post("/filters/", {"name": "About hunter2zz", "query": "q=hunter2zz+deadlock"})
    chain = Chain.objects.get(file_name="refund.json")
    assert any("hunter2zz" in text for text in team_texts(chain.team_id))
    blank_rows(reach([chain.history], ["hunter2zz"]), (), Blanks(["hunter2zz"]))
    kept = SavedFilter.objects.get()
    assert "hunter2zz" not in kept.name + kept.query and "deadlock" in kept.query
    assert kept.checksum == kept.computed_checksum()


def test_a_purge_reads_saved_filters_decoded(library: Client) -> None:
    value = "jörg & söhne/42"
    library.post("/filters/", {"name": "Customer", "query": urlencode({"q": f'"{value}" order'})})
    chain = Chain.objects.get(file_name="refund.json")
    blank_rows(reach([chain.history], [value]), (), Blanks([value]))
    query = QueryDict(SavedFilter.objects.get().query)
    assert value not in query["q"] and query["q"].endswith(" order")


def test_the_api_searches_alike(library: Client) -> None:
    found = library.get("/api/v1/chains?q=deadlock").json()["chains"]
    assert [chain["title"] for chain in found] == ["Why do refunds wait?"]
    assert found[0]["hits"][0]["path"] == "s1.p1.m1.c0" and "Deadlock" in found[0]["hits"][0]["text"]
    assert library.get("/api/v1/chains?tool=run_shell").json()["chains"][0]["file_name"] == "import.json"
    assert len(library.get("/api/v1/chains").json()["chains"]) == 3
    assert library.get("/api/v1/chains?since=soon").status_code == 422


def test_a_filter_reads_its_own_address() -> None:
    wanted = Filter(words='"a b" -c', only_errors=True, tool="x y", larger="1 MB", since="2026-10-01", order="size")
    values = wanted.values
    assert read_filter(values) == wanted


def test_fields_that_are_not_shown_keep_their_filters(library: Client) -> None:
    text = page(library, "tool=Bash&sessions=1")
    assert all(f'<input type="hidden" name="{name}" value="{value}">' in text for name, value in (("tool", "Bash"), ("sessions", "1")))
    asked = re.search(r'hx-get="(/filters/fields/[^"]+)"', text)
    assert asked
    fields = library.get(unescape(asked[1])).content.decode()
    assert 'name="tool" list="filter-tools" value="Bash"' in fields
