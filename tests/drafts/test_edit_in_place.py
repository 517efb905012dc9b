"""The explorer edits a node where it stands: the same form, answered as a fragment, and the draft as a strip (issue 12)."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.test import Client

from chainviz.chains.models import Chain
from chainviz.drafts.models import Draft
from tests.drafts.pages import fields_of, send_form

pytestmark = pytest.mark.django_db
FRAGMENT = {"HX-Request": "true"}
TYPED = "It is the calendar, not the clock."


def apply(client: Client, address: str, **changed: Any) -> Any:
    """The fragment of the form, filled in and sent as the explorer does."""
    form = client.get(address, headers=FRAGMENT).content.decode()
    fields: dict[str, Any] = dict(fields_of(f"<main>{form}"))
    fields.update({name.replace("__", "-"): value for name, value in changed.items()})
    return client.post(address, fields, headers=FRAGMENT)


def facts_of(answer: Any) -> dict[str, str]:
    return dict(re.findall(r'data-(base|path|said)="([^"]*)"', answer.content.decode()))


def test_the_form_comes_alone(client: Client, chain: Chain) -> None:
    answer = client.get(f"/c/{chain.pk}/edit/s1.p1?v=1", headers=FRAGMENT)
    page = answer.content.decode()
    assert page.startswith("<form") and "<html" not in page
    assert "HX-Request" in answer["Vary"]


def test_an_edit_answers_with_the_draft(client: Client, chain: Chain) -> None:
    answer = apply(client, f"/c/{chain.pk}/edit/s1.p2?v=1", s1__p2__m0__c0__text=TYPED)
    draft = Draft.objects.get()
    assert answer.status_code == 200
    assert facts_of(answer) == {"base": f"/c/{chain.pk}/d/{draft.pk}/explore/", "path": "s1.p2", "said": "1.2 changed."}


def test_a_node_that_moves_is_named_where_it_went(client: Client, chain: Chain) -> None:
    answer = apply(client, f"/c/{chain.pk}/edit/s1.p2?v=1", act="move_up:s1.p2")
    assert facts_of(answer)["path"] == "s1.p1"


def test_a_refused_edit_keeps_the_text(client: Client, chain: Chain) -> None:
    address = f"/c/{chain.pk}/edit/s1.p1?v=1"
    answer = apply(client, address, s1__p1__m0__c0__text=TYPED, s1__p1__m0__c1__text="{broken")
    form = answer.content.decode()
    assert answer.status_code == 422 and form.startswith("<form")
    assert fields_of(f"<main>{form}")["s1-p1-m0-c0-text"] == [TYPED]


def test_a_draft_that_changed_meanwhile_is_a_conflict_with_the_text(client: Client, chain: Chain) -> None:
    apply(client, f"/c/{chain.pk}/edit/s1.p2?v=1", s1__p2__m0__c0__text="one")
    address = f"/c/{chain.pk}/edit/s1.p2?draft={Draft.objects.get().pk}"
    stale = fields_of(client.get(address).content.decode())
    apply(client, address, s1__p2__m0__c0__text="two")
    answer = client.post(address, {**stale, "s1-p2-m0-c0-text": [TYPED]}, headers=FRAGMENT)
    assert answer.status_code == 409
    assert answer.content.decode().startswith("<form") and TYPED in answer.content.decode()


def test_a_draft_that_was_saved_meanwhile_is_a_conflict_with_the_text(client: Client, chain: Chain) -> None:
    send_form(client, f"/c/{chain.pk}/edit/s1.p2?v=1", s1__p2__m0__c0__text="one")
    draft = Draft.objects.get()
    client.post(f"/c/{chain.pk}/d/{draft.pk}/save", {"note": ""})
    sent = {"seen": "x", "s1-p2-m0-c0-text": TYPED}
    answer = client.post(f"/c/{chain.pk}/edit/s1.p2?draft={draft.pk}", sent, headers=FRAGMENT)
    page = answer.content.decode()
    assert answer.status_code == 409 and "<html" not in page
    assert "saved as version 2" in page and TYPED in page


def test_the_strip_counts_what_the_draft_changes(client: Client, chain: Chain) -> None:
    assert "data-draft-strip" not in client.get(f"/c/{chain.pk}/").content.decode()
    apply(client, f"/c/{chain.pk}/edit/s1.p1?v=1", act="answer:s1.p1.m0.c2")
    page = client.get(f"/c/{chain.pk}/d/{Draft.objects.get().pk}/explore/").content.decode()
    strip = page[page.index("data-draft-strip") :]
    facts = strip[strip.index("strip-facts") :].partition("</p>")[0]
    assert "1 step" in strip and "1 node changed" in facts and "2 → 1 structure problem" in facts, facts


def test_a_node_that_two_steps_changed_counts_once(client: Client, chain: Chain) -> None:
    apply(client, f"/c/{chain.pk}/edit/s1.p2?v=1", s1__p2__m0__c0__text="one")
    apply(client, f"/c/{chain.pk}/edit/s1.p2?draft={Draft.objects.get().pk}", s1__p2__m0__c0__text="two")
    page = client.get(f"/c/{chain.pk}/d/{Draft.objects.get().pk}/explore/").content.decode()
    assert "2 steps" in page and "1 node changed" in page


def test_each_message_that_was_added_counts(client: Client, chain: Chain) -> None:
    more = {"act": "insert:", "insert__role": "ai"}
    apply(client, f"/c/{chain.pk}/edit/s1.p2?v=1", insert__place="after:s1.p2.m0", insert__text="one", **more)
    address = f"/c/{chain.pk}/edit/s1.p2?draft={Draft.objects.get().pk}"
    apply(client, address, insert__place="after:s1.p2.m0", insert__text="two", **more)
    apply(client, address, insert__place="end:", insert__text="three", **more)
    page = client.get(f"/c/{chain.pk}/d/{Draft.objects.get().pk}/").content.decode()
    assert "3 nodes changed" in page and "3 added" in page


def test_invalid_arguments_are_told_once_at_their_field(client: Client, chain: Chain) -> None:
    """The sentence is the one that the page shows while somebody types, not that of a JSON library."""
    broken = fields_of(client.get(f"/c/{chain.pk}/edit/s1.p1?v=1").content.decode()) | {"s1-p1-m0-c1-text": ["{]"]}
    page = client.post(f"/c/{chain.pk}/edit/s1.p1?v=1", broken, headers=FRAGMENT).content.decode()
    said = "The arguments are invalid JSON at line 1, column 2: a key in double quotes is missing."
    assert page.count(said) == 2, "in the notice and at the field"
    assert "Expecting" not in page and 'name="allow_invalid"' in page


def test_only_arguments_may_be_invalid_json(client: Client, chain: Chain) -> None:
    assert 'name="allow_invalid"' not in client.get(f"/c/{chain.pk}/edit/s1.p2?v=1").content.decode()


@pytest.mark.parametrize(("word", "said"), [("undo", "Undo: Text of 1.2."), ("redo", "Nothing to redo.")])
def test_undo_and_redo_answer_with_the_strip(client: Client, chain: Chain, word: str, said: str) -> None:
    apply(client, f"/c/{chain.pk}/edit/s1.p2?v=1", s1__p2__m0__c0__text=TYPED)
    address = f"/c/{chain.pk}/d/{Draft.objects.get().pk}/{word}"
    assert facts_of(client.post(address, headers=FRAGMENT))["said"] == said


def test_without_scripts_undo_comes_back_to_the_explorer(client: Client, chain: Chain) -> None:
    apply(client, f"/c/{chain.pk}/edit/s1.p2?v=1", s1__p2__m0__c0__text=TYPED)
    home = f"/c/{chain.pk}/d/{Draft.objects.get().pk}/"
    assert client.post(f"{home}undo", {"next": f"{home}explore/"}).url == f"{home}explore/"
    assert client.post(f"{home}redo").url == home


def test_rows_that_the_draft_changed_are_marked_on_every_load(client: Client, chain: Chain) -> None:
    apply(client, f"/c/{chain.pk}/edit/s1.p2?v=1", s1__p2__m0__c0__text=TYPED)
    draft = f"/c/{chain.pk}/d/{Draft.objects.get().pk}/"
    page = client.get(f"{draft}explore/").content.decode()
    assert re.findall(r'<article class="node" id="([\w-]+)"[^>]*data-changed', page) == ["s1-p2"]
    assert page.count('<i class="note-mark" data-state="changed">') == 1, "in the outline"
    assert len(re.findall(r'aria-label="[^"]*, changed"', page)) == 1, "in the minimap"
    client.post(f"{draft}undo")
    assert not re.search(r"<article[^>]*data-changed", client.get(f"{draft}explore/").content.decode())


@pytest.mark.parametrize("page", ["do/redact/", "do/compact/", "do/convert/", "repair/", "recipe/", "edit/s1.p1", "state/"])
def test_a_page_of_a_draft_undoes_its_last_step(client: Client, chain: Chain, page: str) -> None:
    apply(client, f"/c/{chain.pk}/edit/s1.p2?v=1", s1__p2__m0__c0__text=TYPED)
    draft = Draft.objects.get()
    address = f"/c/{chain.pk}/{page}?draft={draft.pk}"
    form = re.search(rf'action="(/c/{chain.pk}/d/{draft.pk}/undo)".*?name="next" value="([^"]*)"', client.get(address).content.decode())
    assert form is not None and form[2] == address
    assert client.post(form[1], {"next": form[2]}).url == address
    assert TYPED not in client.get(f"/c/{chain.pk}/d/{draft.pk}/explore/node/s1.p2").content.decode()


def test_undo_leads_to_no_foreign_page(client: Client, chain: Chain) -> None:
    apply(client, f"/c/{chain.pk}/edit/s1.p2?v=1", s1__p2__m0__c0__text=TYPED)
    home = f"/c/{chain.pk}/d/{Draft.objects.get().pk}/"
    assert client.post(f"{home}undo", {"next": "//example.org/"}).url == home
