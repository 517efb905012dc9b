"""Exports: any format, alone or in the file, with what would be lost said before."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import urlencode

import pytest
from django.test import Client

from chainviz.accounts.models import local_member
from chainviz.chains.exports import export
from chainviz.chains.exports.documents import merged
from chainviz.chains.models import Chain
from chainviz.chains.uploads.imports import import_offer
from chainviz.core.documents.source import open_source
from chainviz.core.formats import WRITTEN
from chainviz.core.formats.offers import offers_of
from chainviz.core.load import load_file
from tests.chains.making import STORY, ai, human, make_chain, make_chain_of
from tests.drafts.pages import send_form

pytestmark = [pytest.mark.django_db]

RUNS = {"seed": 7, "simulations": [{"reward": n, "messages": [human(f"Question {n}"), ai(f"Answer {n}")]} for n in range(3)]}


def container(content: bytes) -> list[Chain]:
    with open_source(content) as source:
        return [import_offer(local_member(), source, offer, file_name="runs.json") for offer in offers_of(source)]


def download(chain: Chain, query: str) -> bytes:
    response = Client().get(f"/c/{chain.pk}/v/{chain.version}/export?{query}")
    assert response.status_code == 200
    return b"".join(response.streaming_content)  # type: ignore[attr-defined]


def page(chain: Chain, query: str = "", status: int = 200) -> str:
    response = Client().get(f"/c/{chain.pk}/v/{chain.version}/export?{query}")
    assert response.status_code == status
    return response.content.decode()


@pytest.mark.parametrize("format", WRITTEN, ids=lambda format: format.name)
def test_a_chain_is_written_in_any_format(format: Any) -> None:
    chain = make_chain(STORY)
    is_own = format.name == chain.format
    for typed in (format.name, format.label.upper()):
        assert (f"?scope=chain&amp;to={format.name}" in page(chain, urlencode({"to": typed})).partition('id="conversion"')[2]) is not is_own
    again = load_file(download(chain, f"scope=chain&to={format.name}"), format.name)[0]
    assert again.format == format.name
    if format.name != "raw":
        assert [message.role for message in again.messages][-2:] == ["human", "ai"]


def test_the_page_says_what_a_format_would_lose() -> None:
    chain = make_chain([*STORY, {"role": "user", "content": "Hi", "name": "ada"}])
    assert "only text is kept" in page(chain, "to=raw")
    assert "only text is kept" not in page(chain)


def test_the_page_names_fields_that_only_the_own_format_has() -> None:
    document = {"model": "gpt", "user": "ada", "messages": [{"role": "user", "content": "Hi", "vendor_note": 1}, ai("Hello")]}
    shown = page(make_chain_of(json.dumps(document).encode()), "to=anthropic")
    assert "Left out of messages: vendor_note." in shown
    assert "model" in shown and "user" in shown


def test_fields_that_are_too_long_to_be_looked_at_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(export, "LOOKED_AT", 20)
    monkeypatch.setattr("chainviz.store.transfer.exports.MOST_AROUND", 20)
    shown = page(make_chain_of(json.dumps({"model": "gpt" * 20, "messages": STORY}).encode()), "to=anthropic")
    assert "Fields beside the messages are left out; they are too long to list." in shown
    assert "will be written without a check" in shown


def test_a_search_lists_the_formats_that_match() -> None:
    chain = make_chain(STORY)
    several = page(chain, "to=gemini%20session")
    assert "?scope=chain&amp;to=gemini_cli" in several, "one format matches all words"
    several = page(chain, "to=state")
    assert "formats match “state”" in several and 'href="?to=goaitools_state#convert-title"' in several
    assert "No format matches “&lt;b&gt;”." in page(chain, "to=%3Cb%3E")
    fragment = Client().get(f"/c/{chain.pk}/v/1/export?to=anthropic", headers={"HX-Request": "true", "HX-Target": "conversion"})
    assert "Anthropic Messages: 1 error" in fragment.content.decode() and "<main" not in fragment.content.decode()


def test_the_page_offers_usual_formats_and_one_download_of_equal_files() -> None:
    chain = make_chain(STORY)
    first = page(chain).partition('id="conversion"')
    assert 'href="?to=anthropic#convert-title"' in first[2] and f'href="?to={chain.format}#' not in first[2]
    assert "scope=original" not in page(chain)


def test_a_data_set_is_one_line_for_fine_tuning() -> None:
    line = download(make_chain(STORY), "scope=training")
    assert line.count(b"\n") == 1 and list(json.loads(line)) == ["messages"]


def test_an_unknown_format_is_a_sentence() -> None:
    chain = make_chain(STORY)
    assert "There is no format" in page(chain, "scope=chain&to=nonsense", 422)


def test_a_chain_in_another_format_stands_in_its_file_and_leaves_the_rest_alone() -> None:
    chains = container(json.dumps(RUNS, indent=1).encode())
    assert json.loads(download(chains[1], "scope=file")) == RUNS
    found = json.loads(download(chains[1], "scope=file&to=neutral"))
    assert found["simulations"][0] == RUNS["simulations"][0]
    assert found["simulations"][1]["reward"] == 1
    assert found["simulations"][1]["messages"][0] == {"role": "human", "parts": [{"type": "text", "text": "Question 1"}]}
    assert "cannot be part of another file" in page(chains[1], "to=claude_code")
    page(chains[1], "scope=file&to=claude_code", 422)


def test_a_file_with_a_chain_a_line_keeps_its_lines() -> None:
    lines = [json.dumps({"messages": run["messages"], "id": n}) for n, run in enumerate(RUNS["simulations"])]
    chains = container("\n".join(lines).encode() + b"\n")
    found = download(chains[0], "scope=file&to=anthropic").decode().splitlines()
    assert found[1:] == lines[1:]
    assert json.loads(found[0])["id"] == 0


def test_a_chain_that_was_saved_in_another_format_still_has_its_place_in_the_file() -> None:
    chains = container(json.dumps(RUNS, indent=1).encode())
    client, chain = Client(), chains[1]
    converted = send_form(client, f"/c/{chain.pk}/do/convert/", to="anthropic")
    assert converted.status_code == 303, converted.content.decode()
    client.post(f"{converted['Location']}save")
    chain.refresh_from_db()
    assert chain.version == 2
    found = json.loads(download(chain, "scope=file"))
    assert found["simulations"][0] == RUNS["simulations"][0]
    assert found["simulations"][2] == RUNS["simulations"][2]
    assert found["simulations"][1]["reward"] == 1
    assert found["simulations"][1]["messages"][0]["role"] == "user"
    assert json.loads(download(chains[0], "scope=file")) == found


def test_who_turns_a_chain_of_a_file_into_lines_learns_what_the_file_keeps() -> None:
    chains = container(json.dumps(RUNS, indent=1).encode())
    client, chain = Client(), chains[1]
    converted = send_form(client, f"/c/{chain.pk}/do/convert/", to="claude_code")
    assert "cannot be part of runs.json" in client.get(converted["Location"]).content.decode()
    client.post(f"{converted['Location']}save")
    chain.refresh_from_db()
    own = page(chain)
    assert "cannot be part of another file" in own
    assert "scope=file" not in own
    assert "1 of them became a file of lines" in page(chains[0])
    assert json.loads(download(chains[0], "scope=file")) == RUNS
    alone = send_form(client, f"/c/{make_chain(STORY).pk}/do/convert/", to="claude_code")
    assert "cannot be part of" not in client.get(alone["Location"]).content.decode()


def test_a_branch_stands_in_the_place_of_its_chain() -> None:
    chains = container(json.dumps(RUNS).encode())
    client = Client()
    client.post(f"/c/{chains[1].pk}/versions/1/branch/")
    branch = Chain.objects.get(is_branch=True)
    changed = send_form(client, f"/c/{branch.pk}/edit/s1.p1?v=1", s1__p1__m0__c0__text="Another answer")
    client.post(f"{changed['Location'].split('#')[0]}save")
    branch.refresh_from_db()
    assert branch.version == 2
    found = json.loads(download(branch, "scope=file"))
    assert found["simulations"][1]["messages"][1]["content"] == "Another answer"


ANSWERS = {"messages": [human("Question")], "response": {"choices": [{"index": n, "message": ai(f"Answer {n}")} for n in range(3)]}}


def edited(chain: Chain, path: str, text: str) -> None:
    fields = {f"{path.replace('.', '__')}__c0__text": text}
    changed = send_form(Client(), f"/c/{chain.pk}/edit/{path.rpartition('.')[0]}?v=1", **fields)
    Client().post(f"{changed['Location'].split('#')[0]}save")
    chain.refresh_from_db()
    assert chain.version == 2


def test_the_file_holds_the_changes_of_all_answers_to_one_request() -> None:
    chains = container(json.dumps(ANSWERS).encode())
    for place in (2, 0):
        edited(chains[place], "s1.p1.m0", f"Changed {place}")
    for chain in chains:
        found = json.loads(download(chain, "scope=file"))
        contents = [choice["message"]["content"] for choice in found["response"]["choices"]]
        assert contents == ["Changed 0", "Answer 1", "Changed 2"]
        assert found["messages"] == ANSWERS["messages"]
        assert "Left out, because" not in page(chain)


def test_changes_of_one_place_are_told_apart() -> None:
    chains = container(json.dumps(ANSWERS).encode())
    edited(chains[0], "s1.h.m0", "Another question")
    edited(chains[1], "s1.h.m0", "A third question")
    found = json.loads(download(chains[0], "scope=file"))
    assert found["messages"][0]["content"] == "Another question"
    assert "Left out, because" in page(chains[0])
    assert chains[1].title in page(chains[0])


@pytest.mark.parametrize(("one", "other", "both"), [
    (b"aXcdef", b"abcdYf", b"aXcdYf"), (b"abcdYf", b"aXcdef", b"aXcdYf"), (b"acdef", b"abcdeef", b"acdeef"),
    (b"abcdef", b"abcdYf", b"abcdYf"), (b"aXcdef", b"abcdef", b"aXcdef"), (b"aXcdef", b"aXcdef", b"aXcdef"),
    (b"aXcdef", b"aYcdef", None), (b"abXXef", b"abcYYf", None), (b"Xabcdef", b"Yabcdef", None), (b"", b"abcdeX", None),
])  # fmt: skip
def test_two_changes_of_one_text(one: bytes, other: bytes, both: bytes | None) -> None:
    assert merged(b"abcdef", one, other) == both
