from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth import get_user_model
from django.test import Client
from hypothesis import given
from hypothesis import strategies as st

from chainviz.accounts.models import Team, local_member
from chainviz.chains.models import Arrival, Chain
from chainviz.chains.uploads import arrivals, imports, pick, staging, tray
from chainviz.chains.uploads.local_files import take_file
from chainviz.jobs.models import Job
from chainviz.jobs.tasks import run_job
from chainviz.store.fsck import Fsck
from chainviz.store.models import Upload, Version
from chainviz.store.transfer.exports import export
from tests.chains.files import chat, lines, send, send_row

pytestmark = pytest.mark.django_db

SHOWN = 3
MISSING_COMMA = b'[\n  {"role": "user",\n   "content": "Move 3 pallets"},\n  {"role": "assistant"\n   "content": "Moved"}\n]\n'


@pytest.mark.parametrize("letter", ["a", "ü", "语"])
def test_very_long_file_name_is_shortened(client: Client, letter: str) -> None:
    answer = send(client, (f"{letter * 5000}.json", chat()))
    assert answer.status_code == 303
    line = Chain.objects.get().file_line
    assert line.startswith(letter * 20) and line.endswith(".json") and len(line) <= 255


def test_a_transcript_becomes_a_chain_and_opens(client: Client) -> None:
    answer = send(client, ("retry.json", chat()))

    chain = Chain.objects.get()
    assert answer.status_code == 303
    assert answer.url == f"/c/{chain.pk}/"
    assert (chain.title, chain.file_line, chain.messages, chain.version) == ("Hello", "retry.json", 2, 1)
    assert not Arrival.objects.exists()
    assert not list(staging.folder().iterdir())


def test_the_same_file_again_opens_the_chain_and_says_so(client: Client) -> None:
    send(client, ("retry.json", chat()))

    answer = client.get(send(client, ("copy of retry.json", chat())).url, follow=True)

    assert Chain.objects.count() == 1
    assert "copy of retry.json is already uploaded: on" in answer.content.decode()
    assert "now at version 1" in answer.content.decode()


def test_the_same_file_in_another_format_says_how_it_was_read(client: Client) -> None:
    send(client, ("retry.json", chat()))

    answer = client.get(send(client, ("retry.json", chat()), format="neutral").url, follow=True)

    assert "It was read as OpenAI Chat Completions; delete it permanently" in answer.content.decode()


def test_the_same_file_in_the_bin_can_be_restored(client: Client) -> None:
    send(client, ("retry.json", chat()))
    client.post("/bin/add/", {"chain": Chain.objects.get().pk})

    answer = send(client, ("retry.json", chat()))

    assert answer.status_code == 422
    assert "already uploaded, in the bin" in answer.content.decode()
    client.post("/bin/restore/", {"chain": Chain.objects.get().pk})
    assert not Chain.objects.get().is_in_bin


def test_another_owner_never_learns_of_it(client: Client) -> None:
    send(client, ("retry.json", chat()))
    Chain.objects.update(team=Team.objects.create(name="Strangers", store_name="team:0"))

    answer = send(client, ("retry.json", chat()))

    assert answer.status_code == 303
    assert Chain.objects.count() == 2


def test_of_many_files_each_is_taken_or_refused_for_itself(client: Client) -> None:
    answer = send(client, ("a.json", chat()), ("b.json", MISSING_COMMA), ("c.json", chat(say="Another")))

    page = client.get(answer.url).content.decode()
    assert answer.status_code == 303
    assert {chain.file_name for chain in Chain.objects.all()} == {"a.json", "c.json"}
    assert re.search(r'<b title="b.json">b.json</b>.*?Line 5, column 4', page, re.DOTALL)
    assert "Nothing was stored." in page
    assert ("<b data-tray-title>3 files</b>" in page) and "1 failed, 2 added" in page


def test_a_long_tray_shows_its_newest_lines_and_counts_all(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    """Files that ask nothing of a person are one line together beyond the newest; what failed is shown to the last."""
    monkeypatch.setattr(tray, "SHOWN", {"added": SHOWN})
    files = [(f"{number}.json", chat(say=f"Run {number}")) for number in range(SHOWN + 2)]
    answer = send(client, *files, *((f"bad {number}.json", MISSING_COMMA) for number in range(2)))

    page = client.get(answer.url).content.decode()
    assert page.count('id="upload-') - page.count('id="upload-row"') == SHOWN + 2
    assert "2 earlier files added" in page and f'<b title="{SHOWN + 1}.json">' in page and '<b title="0.json">' not in page
    assert f"2 failed, {SHOWN + 2} added" in page and '<b title="bad 1.json">' in page


def test_a_refusal_shows_three_lines_and_marks_the_place(client: Client) -> None:
    send_row(client, "b.json", MISSING_COMMA)

    found = Arrival.objects.get().failure["lines"]

    assert [line["number"] for line in found] == [3, 4, 5]
    assert [line["mark"] for line in found] == [-1, -1, 3]
    assert found[2]["text"].startswith('   "content": "Moved"')


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b"", "empty"),
        (b"[]", "list of messages is empty"),
        (b"\x89PNG\r\n\x1a\n0000", "PNG image"),
        (b"<!doctype html><p>hello", "HTML"),
        (b"[" * 100_000, "nested"),
        (b'{"items": [1, 2]}', "“items”"),
        (b"only words", "not JSON"),
        (chat()[:-20], "Line 1"),
        (b"null", "only a single value"),
        (b"\0" * 4000, "zero bytes"),
    ],
)
def test_what_is_no_transcript_is_refused_in_a_sentence(client: Client, body: bytes, said: str) -> None:
    answer = send_row(client, "odd.json", body)

    assert answer.status_code == 422
    assert said in answer.content.decode()
    assert "Nothing was stored." in answer.content.decode()
    assert not Chain.objects.exists()
    assert not Upload.objects.exists()


@pytest.mark.parametrize(
    "body",
    [
        b"\xef\xbb\xbf" + chat(),
        chat(say="naïve").decode().encode("utf-16"),
        b'[{"role": "user", "content": "x", "n": NaN}]',
        b'[{"role": "user", "role": "user", "content": "twice"}]',
        b'[{"role": "user", "content": "a\\u0000b\\ud83d"}]',
        b'[{"role": "user", "content": "\xff\xfe"}]',
    ],
    ids=["BOM", "UTF-16", "NaN", "key twice", "NUL and half a pair", "no UTF-8"],
)
def test_what_is_only_odd_is_taken(client: Client, body: bytes) -> None:
    assert send(client, ("odd.json", body)).status_code == 303
    assert Chain.objects.get().messages >= 1


def test_what_is_odd_about_a_file_is_told_on_arrival_and_on_the_page_of_problems(client: Client) -> None:
    glued = b'{"role": "user", "content": "Hello"}{"role": "assistant", "content": "Hi"}\n'
    sentence = "Line 1, column 37: a second value is on the same line."
    page = client.get(send(client, ("odd.jsonl", glued)).url, follow=True).content.decode()
    assert sentence in page
    assert sentence in client.get(f"/c/{Chain.objects.get().pk}/v/1/problems").content.decode()


def test_two_chains_on_one_line_and_lists_in_no_format_are_told_before_anybody_picks(client: Client) -> None:
    send_row(client, "two.json", chat() + chat())
    page = client.get(f"/pick/{Arrival.objects.get().pk}/").content.decode()
    assert "a second value is on the same line" in page
    Arrival.objects.all().delete()
    strange = b'{"a": %s, "b": {"messages": [{"role": "user", "parts": [{"foo": 1}]}]}}' % chat()
    send_row(client, "three.json", strange)
    assert "in no known format" in client.get(f"/c/{Chain.objects.get().pk}/v/1/problems").content.decode()


def test_a_file_that_breaks_off_can_be_kept_as_far_as_it_is_whole(client: Client) -> None:
    broken = chat({"role": "user", "content": "And then?"}, {"role": "assistant", "content": "Then nothing"})[:-20]
    page = send_row(client, "cut.json", broken).content.decode()
    assert "Keep the 3 complete messages" in page

    answer = client.post(f"/upload/{Arrival.objects.get().pk}/keep/", {"how": "salvage"})

    assert answer.status_code == 303
    assert Chain.objects.get().messages == 3


def test_what_is_no_transcript_can_be_kept_as_raw_text(client: Client) -> None:
    send_row(client, "notes.txt", b"only words")

    client.post(f"/upload/{Arrival.objects.get().pk}/keep/", {"how": "text"})

    assert (Chain.objects.get().format, Chain.objects.get().messages) == ("raw", 1)


def test_a_forgotten_file_leaves_nothing_behind(client: Client) -> None:
    send_row(client, "notes.txt", b"only words")
    assert list(staging.folder().iterdir())

    client.post(f"/upload/{Arrival.objects.get().pk}/forget/")

    assert not Arrival.objects.exists()
    assert not list(staging.folder().iterdir())


def test_waiting_bytes_that_no_upload_names_are_deleted(client: Client) -> None:
    send(client, ("two.jsonl", lines(2)))
    kept = Arrival.objects.get().waiting
    names = {"0" * 32, "1" * 32, kept}
    for name in names:
        staging.path_of(name).touch()
        os.utime(staging.path_of(name), (0, 0))
    os.utime(staging.path_of("1" * 32))
    arrivals.clear_orphans()
    assert {path.name for path in staging.folder().iterdir()} == {"1" * 32, kept}
    for name in names:
        staging.forget(name)


def test_pasted_text_becomes_a_chain(client: Client) -> None:
    assert client.post("/upload/", {"text": chat().decode()}).status_code == 303
    assert Chain.objects.get().file_name.startswith("Pasted")


def test_a_file_with_many_chains_asks_which(client: Client) -> None:
    answer = send(client, ("runs.jsonl", lines(3)))
    page = client.get(answer.url).content.decode()
    assert page.count('name="pick"') == 3
    assert "Question 2" in page

    keys = [row["key"] for row in Arrival.objects.get().found]
    client.post(answer.url, {"pick": keys[:2]})

    assert sorted(chain.file_line for chain in Chain.objects.all()) == ["runs.jsonl: line 1", "runs.jsonl: line 2"]
    assert Upload.objects.count() == 1


def test_chains_of_a_file_that_are_here_already_cannot_be_picked_again(client: Client) -> None:
    first = send(client, ("runs.jsonl", lines(3)))
    keys = [row["key"] for row in Arrival.objects.get().found]
    client.post(first.url, {"pick": keys[:2]})

    again = client.get(send(client, ("runs.jsonl", lines(3))).url).content.decode()

    assert again.count('name="pick"') == 1
    assert again.count("version 1</a>") == 2


def test_a_pasted_text_that_is_refused_comes_back_with_its_fault(client: Client) -> None:
    answer = client.post("/upload/", {"text": '[{"role": "user", "content": "Hi <b>', "format": ""})

    page = answer.content.decode()
    assert answer.status_code == 422 and "Line 1, column" in page
    assert "Hi &lt;b&gt;</textarea>" in page


def test_picking_nothing_is_told(client: Client) -> None:
    answer = client.post(send(client, ("runs.jsonl", lines(2))).url, {})

    assert answer.status_code == 422
    assert "Tick at least one chain." in answer.content.decode()


def test_a_format_can_be_chosen_for_a_file_with_many_chains(client: Client) -> None:
    page = send(client, ("runs.jsonl", lines(2)))
    keys = [row["key"] for row in Arrival.objects.get().found]

    client.post(page.url, {"pick": keys, "format": "neutral"})

    assert {chain.format for chain in Chain.objects.all()} == {"neutral"}


@pytest.mark.parametrize(
    "content",
    [
        json.dumps([{"role": "user", "content": "a"}] * 8).replace("}, {", "} ,\n {"),
        "\n".join(json.dumps({"role": "user", "content": "a"}) for _ in range(8)),
        "".join(f"User: q{n}\n\nAssistant: a{n}\n\n" for n in range(4)),
        "".join(f"#### q{n}\n\nanswer\n\n" for n in range(4)),
    ],
    ids=["spaced", "lines", "text", "markdown"],
)
def test_very_many_messages_are_imported_by_a_job_however_they_are_written(client: Client, monkeypatch: Any, content: str) -> None:
    monkeypatch.setattr(arrivals, "MANY", 7)
    send(client, ("many.txt", content.encode()))
    assert Arrival.objects.get().job is not None


def test_objects_inside_of_strings_do_not_make_a_file_long(client: Client, monkeypatch: Any) -> None:
    monkeypatch.setattr(arrivals, "MANY", 7)
    send(client, ("code.json", json.dumps([{"role": "user", "content": '{"a": 1},\n' * 20}]).encode()))
    assert Chain.objects.count() == 1


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(("limit", "value"), [("BIG", 10), ("MANY", 0)])
def test_a_big_file_is_imported_by_a_job(client: Client, monkeypatch: Any, limit: str, value: int) -> None:
    monkeypatch.setattr(arrivals, limit, value)

    answer = send(client, ("big.json", chat()))
    arrival = Arrival.objects.get()
    assert answer.url == f"/upload/{arrival.pk}/"
    page = client.get(answer.url).content.decode()
    assert "waiting" in page
    assert 'http-equiv="refresh"' in page

    assert arrival.job is not None
    run_job(arrival.job.pk)

    assert Chain.objects.get().file_name == "big.json"
    assert client.get(answer.url).url == f"/c/{Chain.objects.get().pk}/"


@pytest.mark.django_db(transaction=True)
def test_first_messages_are_shown_while_a_big_file_is_imported(client: Client, monkeypatch: Any) -> None:
    monkeypatch.setattr(arrivals, "BIG", 10)
    text, odd_role = "Move 3 pallets", {"role": "\ud83d", "content": "Moved"}
    address = send(client, ("big.json", chat(odd_role, say=text))).url
    assert text in client.get(address).content.decode()  # before the job begins
    job = Arrival.objects.get().job
    shown: dict[str, str] = {}

    def look(*args: Any, **options: Any) -> Any:
        headers = {"HX-Request": "true", "HX-Current-URL": f"http://testserver{address}"}
        shown["page"] = client.get(address).content.decode()
        shown["line"] = client.get(address, headers=headers).content.decode()
        shown["tray"] = client.get(address, headers={"HX-Request": "true"}).content.decode()
        return imports.import_offer(*args, **options)

    monkeypatch.setattr(arrivals, "import_offer", look)
    assert job is not None
    run_job(job.pk)

    assert text in shown["page"] and text in shown["line"] and text not in shown["tray"]
    assert "Nothing has been checked yet" in shown["page"] and "accepted" not in shown["page"]
    assert "First messages" in shown["tray"]
    assert Chain.objects.get().file_name == "big.json" and not list(staging.folder().iterdir())


@pytest.mark.django_db(transaction=True)
def test_first_messages_are_shown_before_the_import_only_if_they_can_be_read(client: Client, monkeypatch: Any) -> None:
    monkeypatch.setattr(arrivals, "BIG", 10)
    monkeypatch.setattr(arrivals, "BEGINNING", 200)
    assert send(client, ("cut.json", chat({"role": "user", "content": "x" * 500}, say="Move"))).status_code == 303
    assert send(client, ("long.json", chat(say="Move " * 100))).status_code == 303
    assert send(client, ("noise.json", b"\x00" * 400)).status_code == 303
    assert [len(each.first_messages) for each in Arrival.objects.order_by("pk")] == [2, 0, 0]


@pytest.mark.django_db(transaction=True)
def test_a_cancelled_import_stores_nothing(client: Client, monkeypatch: Any) -> None:
    monkeypatch.setattr(arrivals, "BIG", 10)
    send(client, ("big.json", chat()))
    arrival = Arrival.objects.get()

    client.post(f"/upload/{arrival.pk}/forget/")
    assert arrival.job is not None
    run_job(arrival.job.pk)

    assert not Chain.objects.exists()
    assert not Upload.objects.exists()
    assert not list(staging.folder().iterdir())


def test_a_request_that_is_too_big_is_refused_before_it_is_read(client: Client, settings: Any) -> None:
    settings.CHAINVIZ = settings.CHAINVIZ.model_copy(update={"max_upload_mb": 1})

    answer = send(client, ("big.json", b" " * 1_100_000))

    assert answer.status_code == 413
    assert "larger than this server takes (1.00 MB). Nothing was stored." in answer.content.decode()


def test_somebody_elses_upload_is_not_there(client: Client) -> None:
    send_row(client, "notes.txt", b"only words")
    Arrival.objects.update(owner=get_user_model().objects.create(username="stranger"))
    number = Arrival.objects.get().pk

    assert client.get(f"/upload/{number}/").status_code == 404
    assert client.get(f"/pick/{number}/").status_code == 404
    assert client.post(f"/upload/{number}/keep/", {"how": "text"}).status_code == 404
    client.post(f"/upload/{number}/forget/")
    assert Arrival.objects.exists()


def test_a_fault_of_ours_is_told_and_spoils_nothing_else(client: Client, monkeypatch: Any) -> None:
    real = arrivals.offers_of

    def fails_once(source: Any, format: str) -> Any:
        if source.read(0, 5) == b"FAULT":
            raise ZeroDivisionError
        return real(source, format)

    monkeypatch.setattr(arrivals, "offers_of", fails_once)

    page = client.get(send(client, ("a.json", b"FAULT"), ("b.json", chat())).url).content.decode()

    assert "This is a bug in chainviz, not in your file (ZeroDivisionError)" in page
    assert Chain.objects.get().file_name == "b.json"


@pytest.mark.django_db(transaction=True)
def test_an_import_that_was_stopped_can_be_tried_again(client: Client, monkeypatch: Any) -> None:
    monkeypatch.setattr(arrivals, "BIG", 10)
    send(client, ("big.json", chat()))
    arrival = Arrival.objects.get()
    assert arrival.job is not None
    Job.objects.update(state=Job.State.INTERRUPTED, message="The worker stopped.")
    page = client.get("/?page=1").content.decode()
    assert "The worker stopped." in page and 'aria-label="Retry big.json"' in page

    client.post(f"/upload/{arrival.pk}/keep/", {"how": "again"})
    run_job(Arrival.objects.get().job_id)

    assert Chain.objects.get().file_name == "big.json"


def test_earlier_states_of_a_growing_chain_are_folded_under_the_final_one(client: Client) -> None:
    turns = [{"role": role, "content": f"turn {n}"} for n, role in enumerate(["user", "assistant"] * 2)]
    requests = [{"messages": turns[:end]} for end in (1, 3, 4)] + [{"messages": [{"role": "user", "content": "other"}]}]
    send(client, ("requests.jsonl", "".join(json.dumps(each) + "\n" for each in requests).encode()))
    arrival = Arrival.objects.get()

    assert [row["final"] for row in arrival.found] == ["/2/messages", "/2/messages", "", ""]
    page = client.get(f"/pick/{arrival.pk}/").content.decode()
    assert "Final state, after 2 earlier ones" in page and "2 of the 4 chains are earlier states" in page
    assert re.findall(r'name="pick" value="([^"]+)"[^>]* checked', page) == ["/2/messages", "/3/messages"]
    assert page.count("As versions") == 1 and re.search(r"v1</span>[^<]+line 1 .*v2</span>[^<]+line 2 ", page, re.DOTALL)

    answer = client.post(f"/pick/{arrival.pk}/", {"pick": ["/2/messages", "/3/messages"], "states": "final"}, follow=True)
    page = answer.content.decode()
    assert "2 chains added" in page and [chain.version for chain in Chain.objects.all()] == [1, 1]
    assert all(f'href="/c/{chain.pk}/"' in page for chain in Chain.objects.all())
    assert not Arrival.objects.get().found, "what the file held is where a purge finds it"

    answer = client.post(f"/upload/{arrival.pk}/undo/", follow=True)
    assert "2 chains are in the bin." in answer.content.decode()
    assert not Chain.objects.in_library() and not Arrival.objects.exists()


def test_earlier_states_become_versions_with_their_own_documents(client: Client) -> None:
    turns = [{"role": role, "content": f"turn {n}"} for n, role in enumerate(["user", "assistant"] * 2)]
    lines = [json.dumps({"id": n, "messages": turns[:end]}) for n, end in enumerate((1, 3, 3, 4))]
    send(client, ("requests.jsonl", "".join(line + "\n" for line in lines).encode()))
    client.post(f"/pick/{Arrival.objects.get().pk}/", {"pick": "/3/messages", "states": "versions"})

    chain = Chain.objects.get()
    assert (chain.version, chain.messages) == (3, 4)
    versions = Version.objects.filter(history=chain.history).order_by("number")
    assert [b"".join(export(each.snapshot)).decode() for each in versions] == [lines[0], lines[1], lines[3]]
    assert list(Fsck().findings()) == []
    page = client.get(f"/c/{chain.pk}/versions/").content.decode()
    assert page.count("Uploaded") >= 3 and "Restored" not in page
    for place in ("v/1/", "versions/compare/?pick=1&pick=3", "versions/3/report/", "v/3/"):
        assert client.get(f"/c/{chain.pk}/{place}", follow=True).status_code == 200


def test_picks_are_kept_from_page_to_page_and_under_every_filter(client: Client, monkeypatch: Any) -> None:
    monkeypatch.setattr(pick, "ROWS", 4)
    place = send(client, ("runs.jsonl", lines(10))).url
    page = client.get(place).content.decode()
    assert "10 of 10 ticked" in page and "1 to 4 of 10" in page

    # two of the first page stay ticked, of the next one none that fits the filter
    page = press(client, place, page, "page:2", keep=2)
    assert "8 of 10 ticked" in page and "5 to 8 of 10" in page
    page = press(client, place, page, "show", q="Question 5")
    assert page.count('name="pick"') == 1 and "1 match<" in page
    page = press(client, place, page, "none", q="Question 5")
    page = press(client, place, page, "show", q="")
    assert "7 of 10 ticked" in page

    client.post(place, {**fields_of(page), "act": "add"})
    assert sorted(chain.part for chain in Chain.objects.all()) == sorted(f"line {n}" for n in (1, 2, 5, 7, 8, 9, 10))


def test_a_folded_row_stands_for_its_earlier_states(client: Client) -> None:
    turns = [{"role": role, "content": f"turn {n}"} for n, role in enumerate(["user", "assistant"] * 2)]
    logs = [[{**turns[0], "content": name}, *turns[1:end]] for name in "ab" for end in (1, 3)]
    body = "".join(json.dumps({"messages": each}) + "\n" for each in logs).encode()
    place = send(client, ("requests.jsonl", body)).url

    page = press(client, place, client.get(place).content.decode(), "show", keep=1, states="each")
    assert re.findall(r'value="(/\d/messages)"[^>]* checked', page) == ["/0/messages", "/1/messages"]
    page = press(client, place, page, "show", states="versions")
    assert "1 of 2 ticked" in page
    client.post(place, {**fields_of(page), "act": "add"})
    assert (Chain.objects.get().version, Chain.objects.get().messages) == (2, 3)


@given(st.sets(st.integers(0, 60)))
def test_picks_travel_as_ranges(places: set[int]) -> None:
    assert pick.from_ranges(pick.to_ranges(places), 61) == places
    assert pick.from_ranges("x,3-,-4,2-1,,7-99999999999,1e3,²,58-70,5", 60) == {3, 5, 58, 59}


def fields_of(page: str, keep: int = 99) -> dict[str, Any]:
    """Return the fields that a browser would send for a page of picks, with only the first ones ticked."""
    names = "picked", "shown", "rendered", "page"
    hidden = {name: re.findall(rf'name="{name}" value="([^"]*)"', page)[0] for name in names}
    states = re.findall(r'name="states" value="(\w+)" checked', page)
    ticks = re.findall(r'name="pick" value="([^"]+)"[^>]* checked', page)[:keep]
    return {**hidden, "states": states, "pick": ticks}


def press(client: Client, place: str, page: str, act: str, keep: int = 99, **fields: str) -> str:
    return client.post(place, {**fields_of(page, keep), "act": act, **fields}).content.decode()


def test_long_states_are_folded_too_and_their_problems_are_not_counted(client: Client, monkeypatch: Any) -> None:
    monkeypatch.setattr(imports, "JUDGED", 10)
    turns = [{"role": role, "content": f"turn {n}"} for n, role in enumerate(["user", "assistant"] * 2)]
    send(client, ("requests.jsonl", "".join(json.dumps({"messages": turns[:end]}) + "\n" for end in (1, 3)).encode()))
    arrival = Arrival.objects.get()
    assert [row["final"] for row in arrival.found] == ["/1/messages", ""]
    assert "not counted" in client.get(f"/pick/{arrival.pk}/").content.decode()


def test_a_file_that_nobody_is_asked_about_has_the_same_versions(client: Client, tmp_path: Path) -> None:
    turns = [{"role": role, "content": f"turn {n}"} for n, role in enumerate(["user", "assistant"] * 2)]
    requests = [json.dumps({"id": n, "messages": turns[:end]}) + "\n" for n, end in enumerate((1, 3, 3, 4))]
    file = tmp_path / "requests.jsonl"
    file.write_text("".join([*requests, json.dumps({"messages": [{"role": "user", "content": "other"}]})]))
    client.get("/")
    taken = take_file(local_member(), file)
    assert [(chain.version, chain.messages) for chain in taken.chains] == [(3, 4), (1, 1)]
    assert taken.fresh == 2
    assert take_file(local_member(), file).fresh == 0


def test_a_pasted_command_is_unwrapped_and_the_page_says_so(client: Client) -> None:
    body = json.dumps({"model": "m", "messages": json.loads(chat())})
    pasted = f"$ curl https://api.test/v1/chat/completions \\\n  -H 'X-Y: z' -d '{body}'"

    answer = client.get(client.post("/upload/", {"text": pasted}).url, follow=True)

    assert "About the file: This is a cURL command; the JSON in it was unwrapped." in answer.content.decode()
    assert b"".join(export(Version.objects.get().snapshot)).startswith(b'{"model"')
