"""State documents that are uploaded: each problem is shown with its place, nothing is thrown away, and a person decides."""

from __future__ import annotations

import json
from html import unescape
from typing import Any

import pytest
from django.test import Client

from chainviz.chains.models import Arrival, Chain
from chainviz.store.content.chain import StoredChain
from chainviz.store.models import Version
from tests.chains.files import send, send_row

pytestmark = pytest.mark.django_db
USER, REPLY = {"role": "user", "content": "Hello"}, {"role": "assistant", "content": "Hi"}


def state(**members: Any) -> bytes:
    document = {"version": 1, "provider": "openai", "processed_length": 2, "messages": [USER, REPLY], **members}
    return json.dumps({key: value for key, value in document.items() if value is not ...}, indent=1).encode()


def checks(page: str) -> list[str]:
    found = page[page.index('<dl class="checks"') : page.index("</dl>")]
    return [item.split('"')[1] for item in found.split("<div data-state=")[1:] for item in [f"={item}"]]


def keep(how: str) -> Any:
    return Client().post(f"/upload/{Arrival.objects.get().pk}/keep/", {"how": how})


def messages(chain: Chain) -> list[str]:
    stored = StoredChain(Version.objects.get(history=chain.history, number=1).snapshot)
    return [message.role for message in stored.slice(0, len(stored))]


def test_a_fine_state_is_a_chain_at_once(client: Client) -> None:
    assert send(client, ("state.json", state())).status_code == 303
    assert Chain.objects.get().format == "goaitools_state"


@pytest.mark.parametrize(
    ("members", "found", "words", "button"),
    [
        ({"version": 2}, "ok problem quiet quiet", "Line 2, column 13: `version` is 2", "Read as version 1"),
        ({"version": ...}, "ok problem quiet quiet", "`version` is missing", "Read as version 1"),
        ({"provider": "bedrock"}, "ok ok problem quiet", "`provider` is “bedrock”", "Read the messages as openai"),
        ({"messages": [USER, 7, REPLY]}, "ok ok ok problem", "messages[1]: it is a number", "Keep the 2 readable messages"),
    ],
)
def test_each_problem_is_shown_and_the_file_waits(client: Client, members: dict[str, Any], found: str, words: str, button: str) -> None:
    content = state(**members)
    answer = send_row(client, "state.json", content)
    page = unescape(answer.content.decode())
    assert answer.status_code == 422
    assert words in page
    assert checks(page) == found.split()
    assert button in page
    assert not Chain.objects.exists()
    original = client.get(f"/upload/{Arrival.objects.get().pk}/original")
    assert b"".join(original.streaming_content) == content  # type: ignore[arg-type]
    assert keep("state").status_code == 303
    chain = Chain.objects.get()
    assert messages(chain) == ["human", "ai"]
    download = f"/c/{chain.pk}/state/document"
    assert f"{download}?" in (refusal := client.get(download).content.decode()) and "anyway=1" in refusal
    document = json.loads(b"".join(client.get(f"{download}?anyway=1").streaming_content))  # type: ignore[arg-type]
    assert (document["version"], document["provider"], len(document["messages"])) == (1, "openai", 2)


def test_what_was_passed_over_is_noted_on_the_page_of_problems(client: Client) -> None:
    send_row(client, "state.json", state(messages=[USER, 7, REPLY]))
    keep("state")
    page = client.get(f"/c/{Chain.objects.get().pk}/v/1/problems").content.decode()
    assert "messages[1] is not shown: it is a number; an object is expected. It stays in the file." in page
    export = client.get(f"/c/{Chain.objects.get().pk}/v/1/export?scope=chain")
    assert b"".join(export.streaming_content) == state(messages=[USER, 7, REPLY])  # type: ignore[arg-type]


def test_a_broken_state_shows_its_place_and_keeps_the_complete_messages(client: Client) -> None:
    page = send_row(client, "state.json", state()[:-20]).content.decode()
    assert checks(page) == ["problem", "quiet", "quiet", "quiet"]
    assert "Line " in page
    assert "Download the original" in page
    keep("salvage")
    assert messages(Chain.objects.get()) == ["human"]


def test_messages_that_are_no_list_are_invalid(client: Client) -> None:
    page = send_row(client, "state.json", state(messages={"0": USER})).content.decode()
    assert checks(page) == ["problem", "quiet", "quiet", "quiet"]
    assert "`messages` is an object; a list is expected." in page
    assert client.get(f"/upload/{Arrival.objects.get().pk}/original").status_code == 200


def test_other_files_have_no_such_checks(client: Client) -> None:
    page = send_row(client, "words.txt", b"only words").content.decode()
    assert "checks" not in page
