from __future__ import annotations

import json
import re
from html import unescape

import pytest
from django.test import Client

from chainviz.chains.models import Chain
from chainviz.core.operations import OPERATIONS
from chainviz.drafts.models import Draft
from chainviz.drafts.repairing import MOST_CARDS
from chainviz.drafts.stored import snapshot_of
from chainviz.store.chain import StoredChain
from tests.chains.files import send
from tests.drafts.pages import fields_of, send_form

pytestmark = pytest.mark.django_db


def roles(draft: Draft) -> list[str]:
    chain = StoredChain(snapshot_of(draft))
    return [message.role for message in chain.slice(0, len(chain))]


def test_the_page_lists_what_can_be_mended_and_changes_nothing(client: Client, chain: Chain) -> None:
    page = client.get(f"/c/{chain.pk}/repair/?v=1").content.decode()
    assert "Join the human messages" in page and "Answer the call" in page and "Make the call a text" in page
    assert len(fields_of(page)["fix"]) == 3
    assert not Draft.objects.exists()


def test_accepted_fixes_are_a_step_and_the_problems_are_cleared(client: Client, chain: Chain) -> None:
    answer = send_form(client, f"/c/{chain.pk}/repair/?v=1")
    assert answer.status_code == 303
    assert roles(Draft.objects.get())[:6] == ["system", "human", "ai", "tool", "tool", "ai"]
    page = client.get(answer.url).content.decode()
    assert "cleared" in page and "2 messages become one" in page


def test_a_declined_fix_is_left_alone(client: Client, chain: Chain) -> None:
    offered = fields_of(client.get(f"/c/{chain.pk}/repair/?v=1").content.decode())["fix"]
    send_form(client, f"/c/{chain.pk}/repair/?v=1", fix=[fix for fix in offered if not fix.startswith("merge-human")])
    assert roles(Draft.objects.get())[:4] == ["system", "human", "human", "ai"]


def test_another_way_can_be_chosen(client: Client, chain: Chain) -> None:
    offered = fields_of(client.get(f"/c/{chain.pk}/repair/?v=1").content.decode())
    call = next(fix for fix in offered["fix"] if fix.startswith("answer-call"))
    send_form(client, f"/c/{chain.pk}/repair/?v=1", **{f"way-{call}": "call-to-text"})
    assert roles(Draft.objects.get()).count("tool") == 1


def test_nothing_chosen_is_refused_in_a_sentence(client: Client, chain: Chain) -> None:
    answer = send_form(client, f"/c/{chain.pk}/repair/?v=1", fix=None)
    assert answer.status_code == 422
    assert "nothing to change" in answer.content.decode()


def test_a_repair_goes_into_the_draft_that_was_begun(client: Client, chain: Chain) -> None:
    send_form(client, f"/c/{chain.pk}/repair/?v=1")
    draft = Draft.objects.get()
    again = client.get(f"/c/{chain.pk}/repair/?v=1")
    assert again.url == f"/c/{chain.pk}/repair/?draft={draft.pk}"
    assert "Nothing to repair" in client.get(again.url).content.decode()


def open_calls(client: Client) -> Chain:
    messages: list[dict[str, object]] = [{"role": "user", "content": "Go"}]
    for i in range(MOST_CARDS + 5):
        call = {"id": f"c{i}", "type": "function", "function": {"name": "look", "arguments": "{}"}}
        messages.append({"role": "assistant", "content": None, "tool_calls": [call]})
    send(client, ("open.json", json.dumps(messages).encode()))
    return Chain.objects.get()


def test_many_fixes_are_chosen_by_kind(client: Client) -> None:
    chain = open_calls(client)
    page = client.get(f"/c/{chain.pk}/repair/").content.decode()
    assert fields_of(page)["fix"] == ["answer-call"]
    one_by_one = client.get(f"/c/{chain.pk}/repair/?kind=answer-call").content.decode()
    assert len(fields_of(one_by_one)["fix"]) == MOST_CARDS
    send_form(client, f"/c/{chain.pk}/repair/?kind=answer-call")
    assert roles(Draft.objects.get()).count("tool") == MOST_CARDS
    draft = Draft.objects.get()
    send_form(client, f"/c/{chain.pk}/repair/?draft={draft.pk}")
    assert roles(draft).count("tool") == MOST_CARDS + 5


def test_fixes_of_one_kind_stay_those_of_the_draft(client: Client) -> None:
    chain = open_calls(client)
    edited = send_form(client, f"/c/{chain.pk}/edit/s1.h.m0?v=1", s1__h__m0__c0__text="Go on")
    draft = Draft.objects.get()
    assert edited.status_code == 303
    page = client.get(f"/c/{chain.pk}/repair/?draft={draft.pk}").content.decode()
    link = next(link for link in re.findall('href="([^"]*kind=[^"]*)"', page))
    one_by_one = client.get(f"/c/{chain.pk}/repair/{unescape(link)}")
    assert one_by_one.status_code == 200
    assert len(fields_of(one_by_one.content.decode())["fix"]) == MOST_CARDS


def test_of_a_long_chain_the_page_says_what_was_read(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    messages = [{"role": "user", "content": "Go"}, {"role": "assistant", "content": ""}]
    send(client, ("long.json", json.dumps(messages).encode()))
    chain = Chain.objects.get()
    monkeypatch.setattr("chainviz.drafts.views.repair.READ_AT_ONCE", 1)
    page = client.get(f"/c/{chain.pk}/repair/").content.decode()
    assert "Only the structure was checked" in page and "Nothing to repair in its structure" in page
    whole = client.get(f"/c/{chain.pk}/repair/?v=1&content=1").content.decode()
    assert "Only the structure was checked" not in whole and "empty-content" not in whole
    assert "says nothing" in whole


def test_every_other_operation_has_a_page_from_its_options(client: Client, chain: Chain) -> None:
    for operation in OPERATIONS:
        expected = 404 if operation.name in {"repair", "edit"} else 200
        assert client.get(f"/c/{chain.pk}/do/{operation.name}/").status_code == expected
    assert client.get(f"/c/{chain.pk}/do/burn/").status_code == 404


def test_a_chain_is_converted_and_exported_in_the_other_format(client: Client, chain: Chain) -> None:
    answer = send_form(client, f"/c/{chain.pk}/do/convert/", to="anthropic")
    assert answer.status_code == 303, answer.content.decode()
    draft = Draft.objects.get()
    assert snapshot_of(draft).format == "anthropic"
    assert client.get(answer.url).status_code == 200
    wrong = send_form(client, f"/c/{chain.pk}/do/convert/?draft={draft.pk}", to="nonsense")
    assert wrong.status_code == 422
    assert "nonsense" in wrong.content.decode()
