"""The pages of redact and summarize compute their content for a long chain once, by a job."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from chainviz.chains.models import Chain
from chainviz.drafts.operations import presets
from chainviz.jobs.models import Job
from chainviz.jobs.worker import run_waiting_jobs
from chainviz.store.content import at_hand
from chainviz.store.content import chain as stored_chain
from tests.chains.making import ai, human, make_chain, result
from tests.drafts.pages import send_form

pytestmark = pytest.mark.django_db
ROUNDS = [[human(f"Look {i}"), ai(None, (f"c{i}", "look", {})), result(f"c{i}", "seen " * 20), ai("done")] for i in range(8)]


def forget_all() -> None:
    """Clear what the process remembers, as if it had just started."""
    presets._kept.clear()
    at_hand.forget()


@pytest.fixture
def chain(monkeypatch: pytest.MonkeyPatch) -> Chain:
    monkeypatch.setattr("chainviz.drafts.operations.run.MESSAGES_AT_ONCE", 10)
    return make_chain([message for each in ROUNDS for message in each])


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many shapes each reading of a whole chain took."""
    numbers: list[int] = []
    shapes = stored_chain.read_shapes

    def counted(pieces: Any) -> Any:
        found = list(shapes(pieces))
        numbers.append(len(found))
        return iter(found)

    monkeypatch.setattr(stored_chain, "read_shapes", counted)
    return numbers


@pytest.mark.parametrize("name", ["redact", "summarize"])
def test_a_job_reads_the_chain_and_no_look_at_the_page_does(client: Client, chain: Chain, read: list[int], name: str) -> None:
    page = f"/c/{chain.pk}/do/{name}/?v=1"
    for _ in range(2):
        answer = client.get(page)
        assert (answer.status_code, answer["Refresh"]) == (202, "1")
    assert f'<li><a href="/">Chains</a></li><li><a href="/c/{chain.pk}/">Look 0</a></li>' in answer.content.decode()
    assert not read
    forget_all()
    run_waiting_jobs()
    assert read
    read.clear()
    forget_all()
    first = client.get(page).content.decode()
    assert "look" in first and not read
    assert Job.objects.get(function="read-first-page").state == "done"


@pytest.mark.parametrize("name", ["redact", "summarize"])
def test_it_says_the_same_as_a_page_without_a_job(client: Client, chain: Chain, name: str, monkeypatch: Any) -> None:
    page = f"/c/{chain.pk}/do/{name}/?v=1"
    client.get(page)
    run_waiting_jobs()
    by_job = client.get(page)
    monkeypatch.setattr("chainviz.drafts.operations.run.MESSAGES_AT_ONCE", 1000)
    at_once = client.get(page)
    for key in ("table", "tools", "plan"):
        ours, theirs = by_job.context["page"].get(key), at_once.context["page"].get(key)
        if key == "table" and ours is not None:
            ours, theirs = ours.rows, theirs.rows
        assert ours == theirs


def test_a_job_that_failed_does_not_lock_the_page(client: Client, chain: Chain) -> None:
    page = f"/c/{chain.pk}/do/redact/?v=1"
    client.get(page)
    Job.objects.update(state=Job.State.FAILED)
    assert client.get(page).status_code == 200


def test_other_options_have_a_reading_of_their_own(client: Client, chain: Chain) -> None:
    client.get(f"/c/{chain.pk}/do/summarize/?v=1")
    client.get(f"/c/{chain.pk}/do/summarize/?v=1&preset=assistant")
    assert Job.objects.filter(function="read-first-page").count() == 2


def test_other_settings_decide_from_what_was_read_for_the_first(client: Client, chain: Chain, read: list[int]) -> None:
    page = f"/c/{chain.pk}/do/redact/?v=1"
    client.get(page)
    run_waiting_jobs()
    forget_all()
    read.clear()
    pages = [
        send_form(client, page, act="look", **changed).context["page"]
        for changed in ({"placeholder": "[gone]"}, {"placeholder": "gone"}, {"policy": "every"}, {"policy": "by_hand"}, {"min_bytes": "1"})
    ]
    assert [shown["table"].redacted for shown in pages] == [8, 8, 8, 0, 8]
    assert read == [len(ROUNDS) * 4]
