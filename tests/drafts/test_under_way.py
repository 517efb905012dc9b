"""The library's rows name a person's open draft and running job of each chain, and nobody else's."""

from __future__ import annotations

import re
from html import unescape

import pytest
from django.test import Client
from django.utils import timezone

from chainviz.accounts.models import User, local_owner
from chainviz.chains.models import Chain
from chainviz.drafts.models import Draft
from chainviz.jobs.models import Job
from chainviz.store.history.drafts import head_of
from chainviz.store.models import History
from tests.chains.making import STORY, human, make_chain
from tests.drafts.pages import send_form

pytestmark = pytest.mark.django_db


def rows(client: Client) -> dict[str, str]:
    """The text of each row, by the file of its chain."""
    page = client.get("/").content.decode()
    texts = [unescape(" ".join(re.sub(r"<[^>]*>", " ", row).split())) for row in page.split('<tr role="row"')[2:]]
    return {name: next(text for text in texts if name in text) for name in ("one.json", "two.json")}


def job(function: str, state: str = Job.State.RUNNING, owner: User | None = None, **args: object) -> Job:
    given = {"function": function, "args": args, "state": state, "progress": 0.4, "created_at": timezone.now()}
    return Job.objects.create(owner=owner or local_owner(), **given)


@pytest.fixture
def one() -> Chain:
    make_chain([human("Second")], "two.json")
    return make_chain(STORY, "one.json")


def test_an_open_draft_is_a_link_until_it_is_saved(client: Client, one: Chain) -> None:
    send_form(client, f"/c/{one.pk}/edit/s1.h.m1?v=1", s1__h__m1__c0__text="Which one?")
    draft = Draft.objects.get()
    assert "draft, 1 step" in rows(client)["one.json"]
    assert f'href="/c/{one.pk}/d/{draft.pk}/"' in client.get("/").content.decode()
    assert "draft," not in rows(client)["two.json"]
    client.post(f"/c/{one.pk}/d/{draft.pk}/save", {})
    assert "draft," not in rows(client)["one.json"]


def test_a_job_is_found_by_its_chain_or_by_its_content(client: Client, one: Chain) -> None:
    running = job("run-operation", chain=one.pk, operation="mask")
    assert "mask secrets 40%" in rows(client)["one.json"]
    assert "40%" not in rows(client)["two.json"]
    Job.objects.filter(pk=running.pk).update(state=Job.State.DONE)
    assert "40%" not in rows(client)["one.json"]
    job("scan-chain", Job.State.QUEUED, snapshot=head_of(History.objects.get(pk=one.history)).snapshot_id)
    assert "scan for secrets waits" in rows(client)["one.json"]


def test_jobs_of_others_are_not_shown(client: Client, one: Chain) -> None:
    other = User.objects.create(email="mei@example.org")
    job("purge", chain=one.pk, owner=other)
    assert "purge" not in rows(client)["one.json"]
