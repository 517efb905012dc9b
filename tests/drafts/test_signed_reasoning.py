"""A draft that changes something before signed reasoning offers to drop exactly that, however far behind the change it is."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.test import Client

from chainviz.chains.models import Chain
from chainviz.core.chain.messages import Thinking
from chainviz.drafts.models import Draft
from chainviz.jobs.models import Job
from chainviz.jobs.tasks import run_job
from chainviz.store.content.chain import StoredChain
from tests.chains.files import send
from tests.drafts.pages import send_form, snapshot_of

pytestmark = pytest.mark.django_db
OFFER = 'value="drop-signed"'


def answer(words: str, signature: str = "") -> dict[str, Any]:
    thought = [{"type": "thinking", "thinking": "hm", "signature": signature}] if signature else []
    return {"role": "assistant", "content": [*thought, {"type": "text", "text": words}]}


def conversation(client: Client) -> Chain:
    messages: list[dict[str, Any]] = []
    for i in range(60):
        messages += [{"role": "user", "content": f"question {i}"}, answer(f"answer {i}", "sig" if i in (0, 50, 55) else "")]
    send(client, ("long.json", json.dumps({"model": "claude", "messages": messages}).encode()))
    return Chain.objects.get()


def signed_in(draft: Draft) -> list[int]:
    chain = StoredChain(snapshot_of(draft))
    found = [i for i, message in enumerate(chain.slice(0, len(chain))) if any(isinstance(part, Thinking) for part in message.parts)]
    assert list(chain.signed(0)) == found
    return found


def test_what_a_change_makes_refused_goes_with_one_click(client: Client) -> None:
    chain = conversation(client)
    page = send_form(client, f"/c/{chain.pk}/edit/s3.h.m0?v=1", s3__h__m0__c0__text="Another question").url
    draft = Draft.objects.get()
    shown = client.get(page).content.decode()
    assert OFFER in shown and "from 51.1 on" in shown
    form = shown[shown.index('id="drop-signed"') :]
    seen, since = (form.split(f'name="{name}" value="')[1].split('"')[0] for name in ("seen", "since"))
    sent = {"act": "drop-signed", "seen": seen, "since": since}
    assert client.post(f"/c/{chain.pk}/repair/?draft={draft.pk}", sent).status_code == 303
    assert signed_in(draft) == [1]
    assert OFFER not in client.get(page).content.decode()


def test_a_change_behind_all_signed_reasoning_offers_nothing(client: Client) -> None:
    chain = conversation(client)
    page = send_form(client, f"/c/{chain.pk}/edit/s58.h.m0?v=1", s58__h__m0__c0__text="Another question").url
    assert OFFER not in client.get(page).content.decode()


def test_the_fix_of_a_pasted_error_drops_it_from_that_place_on_also_beside_a_draft(client: Client) -> None:
    chain = conversation(client)
    wanted = f"/c/{chain.pk}/repair/?v=1&kind=drop-signed&since=s51.p1"
    send_form(client, wanted)
    assert signed_in(Draft.objects.get()) == [1]
    beside = client.get(wanted)
    assert beside.status_code == 302 and beside["Location"].endswith(f"?draft={Draft.objects.get().pk}&kind=drop-signed&since=s51.p1")


def test_on_a_long_chain_a_job_finds_what_the_pasted_error_asks_for(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("chainviz.drafts.operations.run.MESSAGES_AT_ONCE", 1)
    wanted = f"/c/{conversation(client).pk}/repair/?v=1&kind=drop-signed&since=s51.p1"
    shown = client.get(wanted).content.decode()
    waited = shown.split('hx-get="')[1].split('"')[0].replace("&amp;", "&")
    assert "kind=drop-signed" in waited
    run_job(Job.objects.latest("pk").pk)
    assert client.get(waited, headers={"HX-Request": "true"})["HX-Redirect"].endswith("repair/?v=1&kind=drop-signed&since=s51.p1")
    send_form(client, wanted)
    run_job(Job.objects.latest("pk").pk)
    assert signed_in(Draft.objects.get()) == [1]
