from __future__ import annotations

import json
import re
from datetime import UTC, datetime, timedelta
from html import unescape

import pytest
from django.core.exceptions import ValidationError
from django.test import Client

from chainviz.accounts.models import Team
from chainviz.chains import services
from chainviz.chains.library.filter import Filter
from chainviz.chains.models import Chain
from chainviz.chains.samples import SAMPLES, load_samples
from chainviz.store.models import History, Tombstone, Upload, UploadChunk
from chainviz.web.formatting import relative_time
from tests.chains.files import chat, send

pytestmark = pytest.mark.django_db
NOON = datetime(2026, 3, 14, 12, tzinfo=UTC)


def titles(page: str) -> list[str]:
    return re.findall(r'class="chain-link"[^>]*>([^<]*)<', page)


@pytest.fixture
def three(client: Client) -> Client:
    send(client, ("1.json", chat(say="short")))
    send(client, ("2.json", chat({"role": "user", "content": "b" * 500}, say="middle")))
    broken = {"role": "tool", "tool_call_id": "nobody", "content": "late"}
    send(client, ("3.json", chat({"role": "user", "content": "c" * 5000}, broken, say="long")))
    return client


def test_an_empty_library_offers_samples(client: Client) -> None:
    page = client.get("/?page=1").content.decode()
    assert "No chains yet" in page

    client.post("/samples/")

    assert len(titles(client.get("/").content.decode())) == len(SAMPLES)


def test_samples_are_what_they_say(client: Client) -> None:
    load_samples()

    by_file = {chain.file_name: chain for chain in Chain.objects.all()}
    assert by_file["support_chat.json"].problems == 0
    assert by_file["chart_review.json"].problems == 0
    assert by_file["coding_run.json"].problems == 0
    assert by_file["coding_run.json"].size > 1_000_000
    assert by_file["depot_plan_broken.json"].problems >= 5


def test_loading_samples_twice_changes_nothing() -> None:
    load_samples()
    load_samples()

    assert Chain.objects.count() == len(SAMPLES)


def test_samples_come_back_from_the_bin(client: Client) -> None:
    load_samples()
    client.post("/bin/add/", {"chain": [chain.pk for chain in Chain.objects.all()]})
    assert "4 in the" in client.get("/").content.decode()

    client.post("/samples/")

    assert Chain.objects.in_library().count() == len(SAMPLES)


def test_the_newest_chain_comes_first_and_columns_sort(three: Client) -> None:
    assert titles(three.get("/").content.decode()) == ["long", "middle", "short"]
    assert titles(three.get("/?order=size").content.decode()) == ["short", "middle", "long"]
    assert titles(three.get("/?order=title").content.decode()) == ["long", "middle", "short"]
    assert titles(three.get("/?order=;drop").content.decode()) == ["long", "middle", "short"]


def test_a_heading_turns_the_order_round(three: Client) -> None:
    page = three.get("/?order=-cost").content.decode()

    assert 'aria-sort="descending"><a href="?order=cost"' in page
    assert '<a href="?order=title"' in page


def test_the_filter_looks_at_title_file_and_format(three: Client) -> None:
    assert titles(three.get("/?q=2.JSON").content.decode()) == ["middle"]
    assert titles(three.get("/?q=MIDD").content.decode()) == ["middle"]
    assert titles(three.get("/?q=openai+short").content.decode()) == ["short"]
    assert titles(three.get("/?problems=1").content.decode()) == ["long"]


def test_a_filter_without_rows_names_itself_and_can_be_cleared(three: Client) -> None:
    page = three.get("/?q=nothing+like+it&problems=1").content.decode()

    assert "No chain matches this filter" in page
    assert "in this library matches text “nothing like it”, “with structure problems”." in page
    assert "Clear the filter" in page


def test_the_fragment_is_the_table_alone(three: Client) -> None:
    fragment = three.get("/?q=short", headers={"HX-Request": "true"}).content.decode()

    assert titles(fragment) == ["short"]
    assert "<html" not in fragment


def test_an_address_leaves_out_what_is_not_asked() -> None:
    assert Filter().address() == "?"
    assert Filter(words="a b", only_problems=True).address(page=2) == "?q=a+b&problems=1&page=2"


def test_picked_chains_go_to_the_bin_and_come_back(three: Client) -> None:
    chosen = [chain.pk for chain in Chain.objects.exclude(title="long")]

    binned = three.post("/bin/add/", {"chain": chosen})
    page = three.get(binned.url).content.decode()
    assert titles(page) == ["long"]
    assert "2 chains are in the bin." in page
    assert three.get(f"/c/{chosen[0]}/").status_code == 404

    three.post("/bin/restore/", {"chain": chosen})
    assert len(titles(three.get("/").content.decode())) == 3
    assert "in the bin" not in three.get(binned.url).content.decode()


def test_moving_to_the_bin_and_back_keeps_the_filter(three: Client) -> None:
    chosen = Chain.objects.get(title="long").pk

    binned = three.post("/bulk/", {"act": "bin", "chain": chosen, "filter": "q=o&binned=7"})
    assert binned.url == f"/?q=o&binned={chosen}"
    assert 'name="filter" value="q=o"' in three.get(binned.url).content.decode()

    assert three.post("/bin/restore/", {"chain": chosen, "filter": "q=o"}).url == "/?q=o"
    assert three.post("/bulk/", {"act": "repair", "filter": "q=o"}).url == "/?q=o", "nothing is ticked"


def test_deleting_for_good_needs_the_title(client: Client) -> None:
    send(client, ("secret.json", chat()))
    chain = Chain.objects.get()
    assert client.post(f"/bin/{chain.pk}/delete/", {"title": "secret"}).status_code == 404, "not in the bin"
    client.post("/bin/add/", {"chain": chain.pk})

    refused = client.post(f"/bin/{chain.pk}/delete/", {"title": chain.title.lower()})
    assert refused.status_code == 422
    assert Chain.objects.exists()

    gone = client.post(f"/bin/{chain.pk}/delete/", {"title": f" {chain.title} "}, follow=True)
    assert f'data-typed-gone="{chain.pk}:"' in gone.content.decode()
    assert not Chain.objects.exists()
    assert not History.objects.exists()
    assert not Upload.objects.exists()
    assert not UploadChunk.objects.exists()
    assert Tombstone.objects.exists()


def test_what_was_deleted_for_good_can_be_uploaded_anew(client: Client) -> None:
    for _ in range(2):
        assert send(client, ("secret.json", chat())).status_code == 303
        chain = Chain.objects.get()
        client.post("/bin/add/", {"chain": chain.pk})
        client.post(f"/bin/{chain.pk}/delete/", {"title": "secret.json"})


def test_somebody_elses_chain_is_not_there(client: Client) -> None:
    send(client, ("secret.json", chat()))
    chain = Chain.objects.get()
    Chain.objects.update(team=Team.objects.create(name="Strangers", store_name="team:0"))

    assert titles(client.get("/").content.decode()) == []
    assert client.get(f"/c/{chain.pk}/versions/").status_code == 404
    assert client.post(f"/c/{chain.pk}/rename/", {"title": "Mine"}).status_code == 404
    client.post("/bin/add/", {"chain": chain.pk})
    assert not Chain.objects.get().is_in_bin


def test_titles_are_escaped_and_bounded(client: Client) -> None:
    send(client, ("<img src=x>.json", chat()))
    chain = Chain.objects.get()

    assert "<img src=x" not in client.get("/").content.decode()
    with pytest.raises(ValidationError, match="at most 200"):
        services.rename(chain, "x" * 201)
    with pytest.raises(ValidationError, match="needs a title"):
        services.rename(chain, " \n ")


@pytest.mark.parametrize(
    ("past", "text"),
    [
        (timedelta(seconds=20), "just now"),
        (timedelta(minutes=5), "5 min ago"),
        (timedelta(hours=3), "3 h ago"),
        (timedelta(hours=20), "yesterday"),
        (timedelta(days=3), "3 days ago"),
        (timedelta(days=20), "22 Feb"),
        (timedelta(days=400), "7 Feb 2025"),
    ],
)
def test_relative_time(past: timedelta, text: str) -> None:
    assert relative_time(NOON - past, NOON) == text


def test_an_api_error_in_the_search_field_names_the_chains_it_may_be_about(client: Client) -> None:
    send(client, ("fine.json", chat("fine")))
    open_call = {"id": "call_b", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    broken = [{"role": "user", "content": "hi"}, {"role": "assistant", "tool_calls": [open_call]}, {"role": "user", "content": "on"}]
    send(client, ("broken.json", json.dumps(broken).encode()))
    error = "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id': call_b"
    page = client.get("/", {"q": error}).content.decode()
    listed = re.findall(r'class="chain-link" href="([^"]+)">([^<]+)</a>\s*(<span class="badge")?', page)
    assert [(title, bool(badge)) for _, title, badge in listed] == [("hi", True), ("Hello", False)]
    assert "Show 1.1" in client.get(unescape(listed[0][0])).content.decode()
    assert "This is an API error" not in client.get("/", {"q": "no error at all, just a long filter"}).content.decode()
