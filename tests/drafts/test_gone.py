"""A request to a draft that was saved or discarded meanwhile gets 409, the typed text, and a way to continue."""

from __future__ import annotations

import pytest
from django.test import Client

from chainviz.chains.models import Chain
from chainviz.core.operations import OPERATIONS
from chainviz.drafts.models import Draft
from tests.drafts.pages import send_form

pytestmark = pytest.mark.django_db
TYPED = "Something long that nobody wants to type again"
OF_CHAIN = (
    "edit/s1.p1",
    *(f"do/{operation.name}/" for operation in OPERATIONS if operation.name not in ("edit", "restore")),
    "do/compact/simulate/",
)
OF_DRAFT = ("save", "branch", "undo", "redo", "rebase", "discard")


@pytest.fixture
def gone(client: Client, chain: Chain) -> Draft:
    send_form(client, f"/c/{chain.pk}/edit/s1.p1?v=1", s1__p1__m0__c0__text="Let me see.")
    draft = Draft.objects.get()
    client.post(f"/c/{chain.pk}/d/{draft.pk}/save", {"note": ""})
    return draft


def test_every_form_answers_with_the_text(client: Client, chain: Chain, gone: Draft) -> None:
    addresses = [f"/c/{chain.pk}/{each}?draft={gone.pk}" for each in OF_CHAIN]
    addresses += [f"/c/{chain.pk}/d/{gone.pk}/{each}" for each in OF_DRAFT]
    answers = {address: client.post(address, {"note": TYPED, "act": "apply"}) for address in addresses}
    assert {address: answer.status_code for address, answer in answers.items() if answer.status_code != 409} == {}
    pages = {address: answer.content.decode() for address, answer in answers.items()}
    assert [address for address, page in pages.items() if TYPED not in page or f'href="/c/{chain.pk}/"' not in page] == []
