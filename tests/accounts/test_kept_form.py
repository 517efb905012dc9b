"""A form that is sent after its session has ended is found again after signing in, without JavaScript (issue 8)."""

from __future__ import annotations

from html.parser import HTMLParser
from typing import Any

import pytest
from django.contrib.sessions.models import Session
from django.core import signing
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from chainviz.accounts import forms
from chainviz.accounts.models import Team
from chainviz.accounts.permissions import Role
from chainviz.review.models import Comment
from tests.accounts.people import PASSWORD, make_member
from tests.chains.making import STORY, make_chain

pytestmark = pytest.mark.django_db
TYPED = 'First line,\r\n"quoted" & <b>kept</b> ⟦U+0000⟧ 🚪\r\n\r\nlast'
SIGN_IN = {"email": "lin@example.org", "password": PASSWORD}


class Form(HTMLParser):
    """The hidden fields of the page's form in <main>, as a browser sends them: a line break as CR LF."""

    def __init__(self, answer: Any) -> None:
        super().__init__()
        self.fields: dict[str, list[str]] = {}
        self.feed(answer.content.decode().partition("<main")[2].partition("</main>")[0].replace("\r\n", "\n"))

    def handle_starttag(self, tag: str, attributes: Any) -> None:
        found = dict(attributes)
        if tag == "form":
            self.address = found["action"]
        if tag == "input" and found.get("type") == "hidden":
            self.fields.setdefault(found["name"], []).append(found["value"].replace("\n", "\r\n"))


@pytest.fixture
def client(team_mode: Team) -> Client:
    """A client of a person whose session has ended, with the cookie of the forms."""
    make_member(team_mode, "Lin", Role.OWNER)
    client = Client(enforce_csrf_checks=True)
    client.get("/sign-in/")
    client.post("/sign-in/", {**SIGN_IN, **token(client)})
    Session.objects.all().delete()
    return client


def token(client: Client) -> dict[str, str]:
    return {"csrfmiddlewaretoken": client.cookies["chainviz_csrf"].value}


def test_a_comment_is_sent_again_after_signing_in(client: Client) -> None:
    chain = make_chain(STORY)
    form = {"body": TYPED, "kind": "node", "path": "s1.p1", "tags": ["", "two"], **token(client)}
    asked = client.post(f"/c/{chain.pk}/v/1/comment/", form)
    assert (asked.status_code, asked["Cache-Control"], "session has ended" in asked.content.decode()) == (401, "no-store", True)

    wrong = client.post(Form(asked).address, {**Form(asked).fields, **SIGN_IN, "password": "wrong"})
    assert wrong.status_code == 422
    found = client.post(Form(wrong).address, {**Form(wrong).fields, **SIGN_IN})

    again = Form(found)
    assert (found.status_code, again.address) == (200, f"/c/{chain.pk}/v/1/comment/")
    assert again.fields["tags"] == ["", "two"]
    assert not Comment.objects.exists(), "nothing is sent without a click"
    assert client.post(again.address, again.fields).status_code == 303
    assert Comment.objects.get().body.split() == TYPED.split()


def test_a_file_has_to_be_chosen_again(client: Client) -> None:
    asked = client.post("/upload/", {"text": TYPED, "file": SimpleUploadedFile("a.json", b"[]"), **token(client)})
    found = client.post("/sign-in/", {**Form(asked).fields, **SIGN_IN})
    assert "files have to be chosen again" in found.content.decode()
    assert Form(found).fields["text"] == [TYPED]


def test_the_passwords_of_the_own_account_are_not_kept(client: Client) -> None:
    form = {"current_password": PASSWORD, "new_password": "a longer one to keep", **token(client)}
    assert client.post("/account/", form).status_code == 302


def test_a_form_without_text_leads_to_the_page_of_sign_in(client: Client) -> None:
    assert client.post("/c/1/rename/", {"act": "rename", **token(client)}).status_code == 302


def test_a_long_text_is_sent_again_after_signing_in(client: Client) -> None:
    typed = "A transcript that somebody pasted. " * 400_000
    asked = client.post("/upload/", {"text": typed, **token(client)})
    found = client.post("/sign-in/", {**Form(asked).fields, **SIGN_IN})
    assert Form(found).fields["text"] == [typed]


@pytest.mark.parametrize(("limit", "most"), [("LARGEST", 1000), ("MOST_KEPT", 100)])
def test_what_is_too_large_to_be_kept_is_said(client: Client, monkeypatch: Any, limit: str, most: int) -> None:
    monkeypatch.setattr(forms, limit, most)
    asked = client.post("/upload/", {"text": TYPED * 20, **token(client)})
    assert asked.status_code == 401
    page = asked.content.decode()
    assert "too large to be kept" in page and "nothing was changed" in page and TYPED not in page


@pytest.mark.parametrize("kept", ["", "forged:by:hand", signing.dumps(["//evil.example/", [], [["a", "b"]], False])])
def test_only_what_was_kept_here_comes_back(client: Client, kept: str) -> None:
    answer = client.post("/sign-in/", {**SIGN_IN, **token(client), "kept_form": kept})
    assert (answer.status_code, answer["Location"]) == (303, "/")
