"""Simultaneous imports, drafts, saves, branches and summaries bring no purged value back."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from django.db import connection, transaction
from django.test import Client

from chainviz.chains import services
from chainviz.chains.models import Arrival, Chain
from chainviz.chains.uploads import arrivals
from chainviz.chains.versions import heads
from chainviz.core.errors import Refused
from chainviz.core.operations.edit import Edit
from chainviz.core.operations.edit.locate import EditOptions
from chainviz.core.operations.mask import MASK, MaskOptions
from chainviz.core.operations.summarize import SummarizeOptions
from chainviz.drafts import services as drafts
from chainviz.drafts.operations.proposal import Proposal
from chainviz.drafts.operations.run import propose
from chainviz.drafts.summaries import job as writing
from chainviz.drafts.summaries import runs
from chainviz.drafts.summaries.models import SummaryPiece
from chainviz.drafts.target import MovedOn, Target, target_of_version, version_of
from chainviz.jobs.models import Job
from chainviz.jobs.tasks import run_job
from chainviz.purge.jobs import start_purge
from chainviz.store.fsck import fsck
from tests.chains.files import send
from tests.chains.making import ai, human
from tests.purge.canaries import CANARIES, document, files, held, stored
from tests.waiting import wait_for

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.database]
ONE = CANARIES[7]


@pytest.fixture
def chain(client: Client) -> Chain:
    send(client, ("run.json", document()))
    return Chain.objects.get()


def purge(chain: Chain) -> None:
    job = start_purge(chain, "\n".join(CANARIES), "", (), by=chain.owner)
    assert job.state == Job.State.DONE, job.message


def target_of(chain: Chain) -> Target:
    return target_of_version(chain, 1, chain.owner)


def taken(target: Target, proposal: Proposal) -> Callable[[], Any]:
    def take() -> None:
        with drafts.add_step(target, proposal):
            pass

    return take


def edited(target: Target) -> Callable[[], Any]:
    """An edit that was worked out already and only has to be written."""
    options = EditOptions(action="text", path="s2.p2.m0.c0", text=f"It is {ONE}")
    return taken(target, propose(target, Edit(), options))


def masked(target: Target) -> Callable[[], Any]:
    """A mask of something else: it writes the whole messages and surroundings anew, with what else stands there."""
    return taken(target, propose(target, MASK, MaskOptions(own_patterns="user:|Say|env")))


@pytest.mark.parametrize("worked_out", [edited, masked])
def test_a_step_worked_out_before_is_refused(chain: Chain, worked_out: Any) -> None:
    write = worked_out(target_of(chain))
    purge(chain)
    with pytest.raises(MovedOn):
        write()
    assert held(stored()) == []


def test_a_step_is_refused_also_where_only_the_surroundings_were_purged(client: Client) -> None:
    file = {"env": f"{ONE} of ada@lovelace.org", "messages": [human("mail ada@lovelace.org"), ai("yes")]}
    send(client, ("r.json", json.dumps(file).encode()))
    chain = Chain.objects.get()
    target = target_of(chain)
    write = taken(target, propose(target, MASK, MaskOptions()))
    purge(chain)
    with pytest.raises(MovedOn):
        write()
    assert held(stored()) == []


def test_a_purge_waits_for_a_step_that_is_being_written(chain: Chain) -> None:
    written, go_on = threading.Event(), threading.Event()

    def step() -> None:
        with closing(connection), transaction.atomic():
            edited(target_of(chain))()
            written.set()
            go_on.wait(30)

    thread = threading.Thread(target=step)
    thread.start()
    assert written.wait(30)
    threading.Timer(1, go_on.set).start()
    purge(chain)
    thread.join()
    assert held(stored()) == []
    assert [finding.text for finding in fsck() if finding.severity == "error"] == []


def test_old_titles_are_not_written_back(chain: Chain) -> None:
    services.rename(chain, f"About {ONE}")
    purge(Chain.objects.get())
    services.restore(chain, version_of(chain, 1), by=chain.owner)
    services.branch(chain, version_of(chain, 1), by=chain.owner)
    assert held(stored()) == []


def test_a_branch_goes_with_its_chain(chain: Chain) -> None:
    services.branch(chain, version_of(chain, 1), by=chain.owner)
    purge(chain)
    assert Chain.objects.count() == 2
    assert held(stored()) == []


def test_an_import_of_the_same_file_is_broken_off(client: Client, tmp_path: Path, monkeypatch: Any) -> None:
    """The second list of a file is read in while the first one's chain is purged."""
    lists = [[human(f"{number} {ONE}"), *(ai(f"{ONE} {i}") for i in range(20))] for number in range(2)]
    send(client, ("two.json", json.dumps({"runs": [{"messages": each} for each in lists]}).encode()))
    arrival = Arrival.objects.get()
    first, second = [row["key"] for row in arrival.found]
    monkeypatch.setattr("chainviz.chains.uploads.arrivals.let_go", lambda arrival: None)
    arrivals.take_in(arrival, {"picks": [first], "format": "openai_chat"})
    chain = Chain.objects.get()
    purged = []

    def purge_once(*said: Any) -> None:
        if not purged:
            purged.append(purge(chain))

    monkeypatch.setattr("chainviz.chains.uploads.staging.note_progress", purge_once)
    arrivals.take_in(arrival, {"picks": [second], "format": "openai_chat"})
    assert purged
    assert Chain.objects.count() == 1
    assert held(stored()) == []
    assert not [path for path in (tmp_path / "incoming").iterdir() if held(path.read_bytes())]


def test_a_summary_under_way_is_dropped(chain: Chain, monkeypatch: Any) -> None:
    class Slow:
        name = label = "slow"

        def write(self, *_: Any, **__: Any) -> str:
            begun.append(self)
            try:
                with closing(connection):
                    purge(chain)
            except BaseException as error:
                failures.append(error)
            ended.append(self)
            return f"She said {ONE}."

    begun: list[Slow] = []
    ended: list[Slow] = []
    failures: list[BaseException] = []

    monkeypatch.setattr(writing, "writer_named", lambda name, endpoint: Slow())
    options = SummarizeOptions(use_qa=True, max_qa_sections=3)
    run = runs.begin(target_of(chain), options, "extractive")
    assert run.job is not None
    run_job(run.job.pk)
    wait_for(lambda: len(begun) == len(ended))  # a dropped job does not wait for what is still written
    assert failures == []
    assert SummaryPiece.objects.exists()
    assert held(stored()) == []


def test_a_chain_that_is_judged_meanwhile_is_left_to_the_purge(chain: Chain, monkeypatch: Any) -> None:
    provider_of = heads.provider_of

    def purge_first(head: Any) -> Any:
        monkeypatch.setattr(heads, "provider_of", provider_of)
        rows = head.rows(0, len(head))
        purge(chain)
        monkeypatch.setattr(head, "rows", lambda start, stop: rows[start:stop])
        return provider_of(head)

    monkeypatch.setattr(heads, "provider_of", purge_first)
    assert not heads.judge(chain.pk)
    assert heads.judge(chain.pk)


def test_deleting_the_chain_takes_what_was_typed_with_it(chain: Chain, monkeypatch: Any) -> None:
    monkeypatch.setattr("chainviz.purge.jobs.AT_ONCE", 0)
    start_purge(chain, ONE, "", (), by=chain.owner)
    services.delete_for_good(chain)
    assert held(stored()) == []
    assert held(files()) == []


def test_a_value_that_breaks_the_chain_changes_nothing(chain: Chain) -> None:
    before = stored(jobs=False)
    job = start_purge(chain, "tool_calls", "", (), by=chain.owner)
    assert job.state == Job.State.FAILED
    assert stored(jobs=False) == before
    with pytest.raises(Refused):
        start_purge(chain, "abc", "", (), by=chain.owner)
