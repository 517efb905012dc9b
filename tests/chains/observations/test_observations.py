"""The page of a chain's tool results: recognised in every convention, beside their calls, filtered and in windows."""

from __future__ import annotations

import re
from urllib.parse import quote

import pytest
from django.test import Client

from chainviz.chains.explorer.inspector import MOST_MESSAGES
from chainviz.chains.models import Chain
from chainviz.chains.observations.index_job import MESSAGES_AT_ONCE, READING, index_of, read_index
from chainviz.jobs.models import Job
from chainviz.jobs.tasks import run_next_job
from chainviz.store.content.chain import StoredChain
from chainviz.store.models import Version
from tests.chains.making import ai, human, make_chain, result
from tests.chains.observations.story import CONVENTIONS, rounds
from tests.cpu import within_cpu_seconds

pytestmark = pytest.mark.django_db
FRAGMENT = {"HX-Request": "true"}


@pytest.fixture
def chain() -> Chain:
    return make_chain(CONVENTIONS)


def page(chain: Chain, query: str = "", *, where: str = "observations", fragment: bool = False) -> str:
    headers = FRAGMENT if fragment else {}
    response = Client().get(f"/c/{chain.pk}/v/1/{where}{query}", headers=headers)
    assert response.status_code == 200
    return response.content.decode()


def cards(html: str) -> list[str]:
    return re.findall(r'<article class="tool-call"[^>]*aria-label="([^"]*)"', html)


def test_results_of_every_convention_stand_beside_their_calls(chain: Chain) -> None:
    html = page(chain)
    assert cards(html) == [
        "get_customer, 11 B",
        "get_weather, error, 14 B",
        "get_seat_map, 11 B",
        "read_rules, 24 B",
        "error, error, 21 B",
        "book, 15 B",
        "mail, error, 19 B",
    ]
    assert re.findall(r'data-state="[\w-]+">(Brackets|Markdown|XML|Tool messages)</span>', html) == [
        "Brackets", "Markdown", "XML", "XML", "Tool messages",
    ]  # fmt: skip
    assert html.count("by order") == 4 + 1  # with the sum above
    assert "3 text formats in one chain" in html
    assert "Z&lt;b&gt;" in html
    assert "No call of the message before has this name." in html


def test_counts_are_of_the_whole_chain(chain: Chain) -> None:
    for query in ("", "?state=error", "?tool=nothing"):
        html = page(chain, query)
        assert re.search(r"Results</span>.*?>7</span>.*?in 6 messages", html)
        assert re.search(r"Errors</span>.*?>3</span>.*?1 without a call", html)


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("?state=error", ["get_weather", "error", "mail"]),
        ("?state=no-call", ["error"]),
        ("?state=media", ["get_seat_map"]),
        ("?format=xml", ["read_rules", "error"]),
        ("?format=native&format=markdown", ["get_seat_map", "book", "mail"]),
        ("?tool=book&tool=mail&state=error", ["mail"]),
        ("?q=CHANGES", ["read_rules"]),
        ("?q=oslo", []),
        ("?order=tool", ["book", "error", "get_customer", "get_seat_map", "get_weather", "mail", "read_rules"]),
        ("?order=size", ["read_rules", "error", "mail", "book", "get_weather", "get_customer", "get_seat_map"]),
        ("?from=s4.p1", ["error", "book", "mail"]),
        ("?n=5", ["book", "mail"]),
        ("?n=99", ["mail"]),
        ("?state=nonsense&order=nonsense&n=-4", ["get_customer", "get_weather", "get_seat_map", "read_rules", "error", "book", "mail"]),
    ],
)  # fmt: skip
def test_filters_and_orders(chain: Chain, query: str, expected: list[str]) -> None:
    for fragment in (False, True):
        assert [card.split(",")[0] for card in cards(page(chain, query, fragment=fragment))] == expected


def test_an_unknown_path_is_not_there(chain: Chain) -> None:
    assert Client().get(f"/c/{chain.pk}/v/1/observations?from=s99").status_code == 404


def test_a_message_that_only_looks_like_results_can_be_made_one(chain: Chain) -> None:
    html = page(chain)
    assert "Possible results" in html
    made = page(chain, f"?name={quote('INFO')}")
    assert "Possible results" not in made
    assert "INFO, 7 B" in cards(made)


def test_media_are_listed_and_remote_ones_never_loaded(chain: Chain) -> None:
    for html in (page(chain), page(chain, where="observations/media")):
        assert "1 × 1 · 69 B" in html
        assert "tickets.example.org" in html
        assert "remote · not loaded" in html
        assert not re.search(r'<img[^>]*src="https?:', html)


def test_a_chain_without_results_says_so() -> None:
    assert "No tool results" in page(make_chain([human("Hello"), ai("Hi")]))


def test_a_long_result_shows_its_beginning_and_the_way_to_the_rest() -> None:
    long = "\n".join(f"line {n}" for n in range(5_000))
    said = f"<observation>\n<read>\n{long}\n</read>\n</observation> behind"
    chain = make_chain([human("Go"), ai('<action>{"tool": "read"}</action>'), human(said), *rounds(1)[1:]])
    html = page(chain)
    assert len(html) < 40_000
    more = re.search(r'data-more href="([^"]+)"', html)
    assert more
    rest = Client().get(more[1].replace("&amp;", "&"), headers=FRAGMENT).content.decode()
    assert "line 4000" in rest
    assert "behind" not in rest


def test_windows_joined_are_all_results_and_each_has_a_bounded_size() -> None:
    chain = make_chain(rounds(90))
    seen: list[str] = []
    query = ""
    while True:
        html = page(chain, query, fragment=True)
        assert html.count("<") - html.count("</") < 1_100
        seen += re.findall(r'id="r(\d+)"', html)
        following = re.search(r'href="[^"?]*(\?[^"]*)">Later results', html)
        if following is None:
            break
        query = following[1].replace("&amp;", "&")
    assert [int(number) for number in seen] == list(range(180))


def test_words_are_found_far_down_a_chain() -> None:
    chain = make_chain(rounds(200))
    assert cards(page(chain, "?q=answer+199")) == ["lookup, 10 B"]


def test_a_long_chain_is_read_by_a_job_once() -> None:
    chain = make_chain(rounds(MESSAGES_AT_ONCE // 4 + 1))
    assert "Reading the results" in page(chain)
    assert "Reading the results" in page(chain, fragment=True)
    assert Job.objects.filter(function=READING).count() == 1
    assert run_next_job()
    html = page(chain)
    assert len(cards(html)) > 15
    assert "502 result" in html
    assert Client().get(f"/c/{chain.pk}/v/1/observations?reading=1", headers=FRAGMENT)["HX-Refresh"] == "true"
    assert Job.objects.filter(function=READING).count() == 1
    stored = StoredChain(Version.objects.get(history=chain.history).snapshot)
    kept, fresh = index_of(Job.objects.get(function=READING)), read_index(stored, ())
    assert list(kept.results) == list(fresh.results)
    assert list(kept.groups) == list(fresh.groups)


def test_a_stopped_reading_can_be_started_again() -> None:
    chain = make_chain(rounds(MESSAGES_AT_ONCE // 4 + 1))
    address = f"/c/{chain.pk}/v/1/observations"
    page(chain)
    assert Client().post(address, {"act": "stop"}).status_code == 302
    assert "Reading was stopped" in page(chain)
    Client().post(address)
    assert run_next_job()
    assert len(cards(page(chain))) > 15


@pytest.mark.slow
@pytest.mark.parametrize("is_one_pair", [True, False], ids=["one pair", "many pairs"])
def test_a_window_of_many_results_is_quick(is_one_pair: bool) -> None:
    count = 20_000 if is_one_pair else 5_000
    one_pair = [
        human("Go"),
        ai(None, *((f"c{n}", f"tool_{n % 5}", {"n": n}) for n in range(count))),
        *(result(f"c{n}", f"result {n}") for n in range(count)),
    ]
    chain = make_chain(one_pair if is_one_pair else rounds(count))
    page(chain)
    assert run_next_job()
    for query in ("", "?state=error", "?order=size", f"?n={count - 100}"):
        html = within_cpu_seconds(0.8, lambda query=query: page(chain, query))  # usual: 0.1
        assert cards(html) or is_one_pair


def test_stored_results_are_written_as_one_text(chain: Chain) -> None:
    where = "observations/text/s5.p1"
    assert f'href="/c/{chain.pk}/v/1/{where}"' in page(chain)

    def text(query: str = "") -> str:
        response = Client().get(f"/c/{chain.pk}/v/1/{where}?as=file{query}")
        return b"".join(response).decode()

    assert text() == '<observation>\n<book>\n{"pnr":"Z<b>"}\n</book>\n<mail>\nError: mailbox full\n</mail>\n</observation>'
    assert text("&format=markdown&syntax=yaml") == "# book\npnr: Z<b>\n\n# mail\nError: mailbox full"
    assert text("&wrapper=none&go=1").startswith('<book>\n{"pnr":"Z\\u003cb\\u003e"}\n</book>')
    html = page(chain, "?wrapper=section&format=markdown", where=where)
    assert "# observation" in html
    assert re.search(r'data-state="problem">error</span><span class="raw-text">mailbox full', html)


def test_a_text_of_failed_calls_alone_can_be_empty() -> None:
    chain = make_chain([human("Go"), ai(None, ("c", "f", {})), result("c", "Error: no"), ai("Sorry")])
    where = "observations/text/s1.p1"
    assert "Error: no" in page(chain, where=where)
    assert "The text is empty: every call failed." in page(chain, "?empty=1", where=where)


@pytest.mark.parametrize("where", ["s1", "s1.h.m0", "s6.p1", "s9.p1", "s5.p2"])
def test_where_nothing_is_called_there_is_no_text(chain: Chain, where: str) -> None:
    assert Client().get(f"/c/{chain.pk}/v/1/observations/text/{where}").status_code == 404


def test_a_pair_that_is_too_large_says_so() -> None:
    calls = [(f"c{n}", "f", {}) for n in range(1_001)]
    chain = make_chain([human("Go"), ai(None, *calls), *(result(f"c{n}", "r") for n in range(1_001))])
    assert "This pair is too large" in page(chain, where="observations/text/s1.p1")


def test_the_inspector_of_a_large_pair_reads_its_beginning_only() -> None:
    calls = [(f"c{n}", "f", {}) for n in range(1_500)]
    chain = make_chain([human("Go"), ai(None, *calls), *(result(f"c{n}", "r") for n in range(1_500)), ai("Done")])
    html = Client().get(f"/c/{chain.pk}/v/1/inspect/s1.p1", headers=FRAGMENT).content.decode()
    assert f"{1_501 - MOST_MESSAGES:,} of its messages are not listed here" in html
    assert "Tool calls" not in html
    small = Client().get(f"/c/{chain.pk}/v/1/inspect/s1.p2", headers=FRAGMENT).content.decode()
    assert "not listed here" not in small
