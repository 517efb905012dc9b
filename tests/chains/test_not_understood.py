"""A field with instructions that no format reads, or an element that is not a message: no page, command or function says that
a provider accepts the chain (issue 8)."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

import chainviz
from chainviz.chains.models import Arrival, Chain
from chainviz.cli import main
from chainviz.core.formats.vendors import PROVIDERS
from chainviz.drafts.models import Draft
from tests.drafts.pages import fields_of, send_form

pytestmark = pytest.mark.django_db
CHAT: dict[str, Any] = {
    "instructions": "Answer in French only.",
    "messages": [{"role": "user", "content": "Where is bay 4?"}, {"role": "assistant", "content": "Behind the office."}],
}
STRANGE = {"messages": [*CHAT["messages"], "Goodbye."]}
FILE = json.dumps(CHAT).encode()
WORDS = "not fully checked"


def upload(client: Client, content: bytes = FILE) -> None:
    client.post("/upload/", {"file": SimpleUploadedFile("bays.json", content)})


def page(client: Client, path: str) -> str:
    return " ".join(client.get(path, follow=True).content.decode().split())


@pytest.fixture(params=[CHAT, STRANGE], ids=["a field", "an element"])
def chain(client: Client, request: pytest.FixtureRequest) -> Chain:
    upload(client, json.dumps(request.param).encode())
    return Chain.objects.get()


def test_no_page_says_accepted(client: Client, chain: Chain) -> None:
    home = f"/c/{chain.pk}/"
    for path in ("/", home, f"{home}v/1/problems", f"{home}v/1/problems?provider=openai-chat", f"{home}repair/"):
        shown = re.sub(r"<select.*?</select>|<nav.*?</nav>", "", page(client, path))  # filters offer every verdict
        assert WORDS in shown, path
        assert "accepted" not in shown.lower(), path


def test_a_draft_and_its_version_keep_the_verdict(client: Client, chain: Chain) -> None:
    send_form(client, f"/c/{chain.pk}/edit/s1.p1?v=1", s1__p1__m0__c0__text="Let me see.")
    draft = Draft.objects.get()
    preview = page(client, f"/c/{chain.pk}/d/{draft.pk}/")
    assert WORDS in preview
    client.post(f"/c/{chain.pk}/d/{draft.pk}/save", {"note": ""})
    assert WORDS in page(client, "/")
    assert "accepted" not in page(client, f"/c/{chain.pk}/v/2/problems")


def test_the_upload_asks_without_a_green_word(client: Client) -> None:
    upload(client, json.dumps([CHAT, {**CHAT, "messages": [{"role": "user", "content": "Which bay?"}]}]).encode())
    arrival = Arrival.objects.get()
    assert page(client, f"/pick/{arrival.pk}/").count(WORDS) == 2


def test_the_choice_of_chains_says_it_of_elements_too(client: Client) -> None:
    upload(client, json.dumps([STRANGE, {"messages": [{"role": "user", "content": "Which bay?"}]}]).encode())
    assert page(client, f"/pick/{Arrival.objects.get().pk}/").count(WORDS) == 1


def test_command_and_api_say_it_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "bays.json"
    file.write_bytes(FILE)
    opened = chainviz.load(file)[0]
    assert {opened.verdict(provider.name).state for provider in PROVIDERS} == {"unchecked"}
    for fail_on, code in (("error", 0), ("warning", 1), ("unchecked", 1)):
        assert main(["check", str(file), "--provider", "openai_chat", "--fail-on", fail_on]) == code
        said = capsys.readouterr().out
        assert f"OpenAI Chat Completions: {WORDS}" in said
        assert "instructions" in said


def test_what_was_not_read_is_named_on_the_pages_and_by_the_api(client: Client, tmp_path: Path, capsys: Any) -> None:
    upload(client, json.dumps([*CHAT["messages"], {"role": "observer", "content": "A gull."}]).encode())
    chain = Chain.objects.get()
    said = "1 message with a role that chainviz does not know (“observer”) in record 3."
    assert [each[:3] for each in chain.unread] == [["role", "observer", 1]]
    library, explorer = page(client, "/"), page(client, f"/c/{chain.pk}/")
    assert "not fully read" in library and said in library
    assert "not fully read" in explorer and "structure valid" not in explorer.lower()
    assert said in page(client, f"/c/{chain.pk}/v/1/problems")
    for answer in (client.get(f"/api/v1/chains/{chain.pk}"), client.get(f"/api/v1/chains/{chain.pk}/versions/1/problems")):
        (unread,) = answer.json()["unread"]
        assert (unread["kind"], unread["name"], unread["places"], unread["text"]) == ("role", "observer", [{"index": 2, "line": 0}], said)
    file = tmp_path / "gull.json"
    file.write_text(json.dumps([*CHAT["messages"], {"role": "observer", "content": "A gull."}]))
    assert main(["show", str(file)]) == 0
    assert f"unchecked: not-fully-read at s1: {said}" in capsys.readouterr().out
    assert main(["check", str(file)]) == 1
    assert "gull.json: not fully read" in capsys.readouterr().out


def test_a_version_whose_roles_are_known_is_fully_read(client: Client) -> None:
    """The role is gone from the new version, in Python as in the store; the first version still says so."""
    content = json.dumps([CHAT["messages"][0], {"role": "observer", "content": "A gull."}, CHAT["messages"][1]]).encode()
    assert chainviz.load(content)[0].apply("repair").chain.is_fully_read
    upload(client, content)
    chain = Chain.objects.get()
    draft = send_form(client, f"/c/{chain.pk}/repair/?v=1", act="preview")["Location"]
    assert "not fully read" not in page(client, f"{draft}explore/")
    client.post(f"{draft}save", fields_of(client.get(draft).content.decode()))
    chain.refresh_from_db()
    assert (chain.version, chain.unread) == (2, [])
    assert client.get(f"/api/v1/chains/{chain.pk}").json()["unread"] == []
    assert "not fully read" not in page(client, "/") + page(client, f"/c/{chain.pk}/")
    assert "not fully read" in page(client, f"/c/{chain.pk}/v/1/")
