"""Two versions that differ in very many places are compared once, by a job, while the page answers at once."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from django.test import Client

from chainviz.accounts.models import local_member
from chainviz.chains.diff import compare
from chainviz.chains.models import Chain
from chainviz.chains.versions.heads import head_moved
from chainviz.core.chain.chain import Splice
from chainviz.core.chain.messages import Text
from chainviz.jobs.models import Job
from chainviz.jobs.worker import run_waiting_jobs
from chainviz.store.content.chain import StoredChain
from chainviz.store.history.drafts import add_step, head_of, save, start_draft
from chainviz.store.history.steps import NewStep
from chainviz.store.models import History
from tests.chains.making import ai, human, make_chain

pytestmark = pytest.mark.django_db
CHANGES = 30


@pytest.fixture
def chain(monkeypatch: pytest.MonkeyPatch) -> Chain:
    """A chain with two versions, which differ in every second answer."""
    chain = make_chain([message for i in range(2 * CHANGES) for message in (human(f"Question {i}"), ai(f"answer {i}"))])
    head = head_of(History(pk=chain.history))
    stored = StoredChain(head.snapshot)
    changes = []
    for place in range(1, 4 * CHANGES, 4):
        message = stored[place]
        changes.append(Splice(place, 1, (replace(message, parts=(Text(f"changed {place}", origin=0),)),)))
    draft = start_draft(head, author="me")
    add_step(draft, NewStep(changes, "edit"))
    head_moved(chain, save(draft, author="me"), local_member().user)
    monkeypatch.setattr(compare, "MOST_STRETCHES", 20)
    compare._cached_groups.cache_clear()
    return chain


def groups_of(chain: Chain) -> Any:
    versions = [History.objects.get(pk=chain.history).versions.get(number=number) for number in (1, 2)]
    return compare.compare(*[StoredChain(version.snapshot) for version in versions])


def test_a_job_compares_and_the_page_shows_what_it_found(client: Client, chain: Chain, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = groups_of(chain)
    compare._cached_groups.cache_clear()
    page = f"/c/{chain.pk}/diff/1..2/"
    for _ in range(2):
        answer = client.get(page)
        assert (answer.status_code, answer["Refresh"]) == (202, "1")
    run_waiting_jobs()
    job = Job.objects.get(function="compare-versions")
    assert job.state == "done" and "answer" not in str(job.result)

    monkeypatch.setattr(compare, "diff_chains", None)  # nothing is compared again, in no process
    answer = client.get(page)
    assert answer.status_code == 200 and f"{CHANGES} changes" in answer.content.decode()
    compare._cached_groups.cache_clear()
    found = groups_of(chain)
    assert (found.groups, found.before, found.after, found.notes) == (
        expected.groups, expected.before, expected.after, expected.notes,
    )  # fmt: skip


def test_few_changes_need_no_job(client: Client, chain: Chain, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compare, "MOST_STRETCHES", 1000)
    assert client.get(f"/c/{chain.pk}/diff/1..2/").status_code == 200
    assert not Job.objects.filter(function="compare-versions").exists()


def test_versions_of_which_nothing_is_the_same_need_one(client: Client, chain: Chain, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compare, "MOST_STRETCHES", 1000)
    monkeypatch.setattr(compare, "MOST_COMPARED", 2 * CHANGES - 1)
    assert client.get(f"/c/{chain.pk}/diff/1..2/").status_code == 202
