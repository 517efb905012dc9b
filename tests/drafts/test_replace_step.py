"""Any previewed step can be changed: later steps are repeated behind it, or it is refused and nothing is lost (issue 12)."""

from __future__ import annotations

import pytest
from django.test import Client

from chainviz.chains.models import Chain
from chainviz.drafts.models import Draft
from tests.drafts.pages import fields_of, send_form, snapshot_of, steps_of
from tests.drafts.test_edit import contents

pytestmark = pytest.mark.django_db


@pytest.fixture
def repaired(client: Client, chain: Chain) -> Draft:
    send_form(client, f"/c/{chain.pk}/repair/?v=1")
    return Draft.objects.get()


def edit(client: Client, draft: Draft, path: str, text: str) -> None:
    field = path.replace(".", "__")
    answer = send_form(client, f"/c/{draft.chain_id}/edit/{path}?draft={draft.pk}", **{f"{field}__m0__c0__text": text})
    assert answer.status_code == 303, answer.content.decode()


def without_merge(client: Client, address: str) -> list[str]:
    return [fix for fix in fields_of(client.get(address).content.decode())["fix"] if not fix.startswith("merge-human")]


def test_later_steps_are_repeated(client: Client, repaired: Draft) -> None:
    edit(client, repaired, "s2.p1", "Any time.")
    address = f"/c/{repaired.chain_id}/do/repair/?draft={repaired.pk}&at=0"
    assert "replaces it and repeats the 1 step after it" in client.get(address).content.decode()
    answer = send_form(client, address, fix=without_merge(client, address))
    assert answer.status_code == 303, answer.content.decode()
    assert [step.snapshot.operation for step in steps_of(repaired).all] == ["repair", "edit"]
    found = contents(repaired)
    assert found[1:3] == ["human: Why is it red?", "human: (hurry)"], "the repair is another one"
    assert found[-1] == "ai: Any time.", "the edit is still there"
    client.post(f"/c/{repaired.chain_id}/d/{repaired.pk}/undo")
    assert contents(repaired)[-1] == "ai: You are welcome."


def test_a_step_that_would_undo_a_later_one_is_refused_and_nothing_is_lost(client: Client, repaired: Draft) -> None:
    edit(client, repaired, "s1.p1", "Let me look again.")
    before = snapshot_of(repaired).pk
    address = f"/c/{repaired.chain_id}/do/repair/?draft={repaired.pk}&at=0"
    fixes = fields_of(client.get(address).content.decode())["fix"]
    answer = send_form(client, address, fix=[fix for fix in fixes if not fix.startswith("answer-call")])
    assert answer.status_code == 422
    assert "A later step of your draft changes the same nodes (1.1)" in answer.content.decode()
    assert snapshot_of(repaired).pk == before and steps_of(repaired).cursor == 2
