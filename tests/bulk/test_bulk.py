"""One act on many chains: begun in the library, run as a job, told chain by chain, undone."""

from __future__ import annotations

import csv
import io
import re
import zipfile
from typing import Any

import pytest
from django.http import QueryDict
from django.test import Client

from chainviz.accounts.models import Membership, local_member, local_owner
from chainviz.accounts.permissions import Role
from chainviz.bulk import job as services
from chainviz.bulk.acts import act_named
from chainviz.bulk.job import run_rows
from chainviz.bulk.models import BulkRow, BulkRun
from chainviz.chains.models import Chain
from chainviz.core.operations.compact import CompactOptions
from chainviz.core.operations.compact.strategy import print_strategy
from chainviz.drafts.models import Draft
from chainviz.drafts.operations import recipe
from chainviz.drafts.operations.presets import save_preset
from chainviz.jobs import lease
from chainviz.jobs.models import Job
from chainviz.jobs.tasks import JobContext
from chainviz.jobs.worker import run_waiting_jobs
from chainviz.review.models import Label, TeamRules
from tests import ROOT
from tests.accounts.people import client_of, make_member
from tests.chains.files import send
from tests.chains.making import STORY, ai, human, make_chain
from tests.drafts.pages import send_form

pytestmark = [pytest.mark.django_db, pytest.mark.database]
KEY = "ghp_" + "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5"
ALL = {"repair", "mask", "redact", "compact", "recipe", "export", "label", "bin"}
WHOLE = [human("Hello"), ai("Hi")]


@pytest.fixture
def chains() -> list[Chain]:
    """Two with an unanswered call, one that is right."""
    told = [human(f"My key is {KEY}"), ai("I keep it to myself.")]
    return [make_chain(STORY, "a.json"), make_chain([*STORY, *told], "b.json"), make_chain(WHOLE, "c.json")]


def begun(client: Client, act: str, chains: list[Chain]) -> BulkRun:
    answer = client.post("/bulk/", {"act": act, "chain": [chain.pk for chain in chains]})
    assert answer.status_code == 303, answer.content
    run = BulkRun.objects.latest("pk")
    assert answer["Location"] == f"/bulk/{run.pk}/"
    return run


def done(client: Client, run: BulkRun, **options: Any) -> dict[str, list[Any]]:
    """Sends the form of the run as its page has it, and lets a worker do it; outcome, before and after by file name."""
    answer = send_form(client, f"/bulk/{run.pk}/", do="start", **options)
    assert answer.status_code == 303, answer.content.decode()
    run_waiting_jobs()
    rows = BulkRow.objects.filter(run=run).select_related("chain").order_by("pk")
    return {row.chain.file_name: [row.outcome, row.before, row.after] for row in rows}


def test_one_saved_strategy_compacts_many_chains_with_one_report(client: Client) -> None:
    talk = [human("Hello"), ai("Hi"), human("How are you?"), ai("Fine."), human("Bye"), ai("Bye.")]
    chains = [make_chain([*talk, human(f"{n}?"), ai(f"{n}!")], f"{n}.json") for n in range(2)]
    chains.append(make_chain(WHOLE, "c.json"))
    options = CompactOptions(max_messages=4)
    save_preset(local_owner(), "compact", "Last four", options)
    run = begun(client, "compact", chains)
    answer = send_form(client, f"/bulk/{run.pk}/", do="start")
    assert answer.status_code == 422 and "Choose when to compact" in answer.content.decode()
    assert "Last four" in answer.content.decode() and not BulkRun.objects.get(pk=run.pk).job_id
    assert options.compactor is not None
    found = done(client, run, strategy=print_strategy(options.compactor))
    assert found == {"0.json": ["changed", 1, 2], "1.json": ["changed", 1, 2], "c.json": ["unchanged", 1, None]}
    page = client.get(f"/bulk/{run.pk}/").content.decode()
    assert "2 of 3 chains compacted, 1 unchanged" in page
    assert done(client, begun(client, "compact", chains[:1]), max_messages=2) == {"0.json": ["changed", 2, 3]}
    assert set(Chain.objects.values_list("title", flat=True)) == {"Hello"}, "a compaction keeps the title"


def test_ticked_chains_are_repaired_as_new_versions_and_undone(client: Client, chains: list[Chain]) -> None:
    run = begun(client, "repair", chains)
    assert done(client, run) == {"a.json": ["changed", 1, 2], "b.json": ["changed", 1, 2], "c.json": ["unchanged", 1, None]}
    page = client.get(f"/bulk/{run.pk}/").content.decode()
    assert "2 of 3 chains repaired, 1 unchanged" in page
    assert f"/c/{chains[0].pk}/diff/1..2/" in page
    assert "Answer the call. " in page and ".. " not in page
    assert not Draft.objects.open().exists()
    assert [chain.problems for chain in Chain.objects.order_by("pk")] == [0, 0, 0]
    answer = client.post(f"/bulk/{run.pk}/", {"do": "undo"})
    run_waiting_jobs()
    assert "2 of 2 chains undone" in client.get(answer["Location"]).content.decode()
    assert undo_label(client, run) == "Undone"
    assert [chain.version for chain in Chain.objects.order_by("pk")] == [3, 3, 1]
    assert (
        client.get(f"/c/{chains[0].pk}/v/3/export?scope=chain").getvalue()
        == client.get(f"/c/{chains[0].pk}/v/1/export?scope=chain").getvalue()
    )
    again = client.post(f"/bulk/{run.pk}/", {"do": "undo"})
    assert again["Location"] == answer["Location"], "it is undone once"


def test_a_repair_is_for_the_api_of_each_chain_and_names_its_fixes(client: Client, chains: list[Chain]) -> None:
    run = begun(client, "repair", chains)
    assert re.search(r'value="own" selected', client.get(f"/bulk/{run.pk}/").content.decode())
    done(client, run)
    row = BulkRow.objects.get(run=run, chain=chains[0])
    assert BulkRun.objects.get(pk=run.pk).options["goal"] == "own"
    assert row.text.startswith("Answer the call")


def test_a_repair_says_which_errors_are_left(client: Client) -> None:
    """A call without an id has no fix."""
    send(client, ("dangling.json", (ROOT / "tests/samples/langchain/broken_dangling.json").read_bytes()))
    chain = Chain.objects.get()
    run = begun(client, "repair", [chain])
    assert done(client, run) == {"dangling.json": ["changed", 1, 2]}
    assert "OpenAI still refuses it: 2 errors." in client.get(f"/bulk/{run.pk}/").content.decode()


def test_every_result_of_many_chains_is_redacted(client: Client, chains: list[Chain]) -> None:
    run = begun(client, "redact", chains)
    assert "By hand" not in client.get(f"/bulk/{run.pk}/").content.decode()
    found = done(client, run, policy="every", min_bytes_saved="0", placeholder="gone")
    assert {each[0] for each in found.values()} == {"changed", "unchanged"}
    assert b'"gone"' in client.get(f"/c/{chains[0].pk}/v/2/export?scope=chain").getvalue()


def test_an_open_draft_is_left_alone(client: Client, chains: list[Chain]) -> None:
    send_form(client, f"/c/{chains[0].pk}/edit/s1.p2?v=1", s1__p2__m0__c0__text="Mine.")
    run = begun(client, "mask", chains)
    found = done(client, run, own_patterns="drill")
    assert found["a.json"] == ["refused", 1, None]
    assert found["b.json"] == ["changed", 1, 2]
    assert Draft.objects.open().count() == 1
    assert "You have an open draft of it." in client.get(f"/bulk/{run.pk}/?show=refused").content.decode()
    masked = client.get(f"/c/{chains[1].pk}/v/2/export?scope=chain").getvalue().decode()
    assert KEY not in masked
    assert "drill" not in masked
    run.refresh_from_db()
    assert "drill" not in str(run.options), "a pattern may spell out the value"


def test_all_that_match_the_filter(client: Client, chains: list[Chain]) -> None:
    filtered = QueryDict(mutable=True)
    filtered.update({"q": "b.json"})
    client.post("/bulk/", {"act": "repair", "all": "1", "filter": filtered.urlencode(), "chain": chains[0].pk})
    assert list(BulkRow.objects.values_list("chain", flat=True)) == [chains[1].pk]
    client.post("/bulk/", {"act": "bin", "all": "1", "filter": ""})
    run = BulkRun.objects.latest("pk")
    assert {each[0] for each in done(client, run).values()} == {"changed"}
    assert Chain.objects.in_bin().count() == 3
    client.post(f"/bulk/{run.pk}/", {"do": "undo"})
    run_waiting_jobs()
    assert Chain.objects.in_library().count() == 3


def test_labels_are_set_and_taken_back(client: Client, chains: list[Chain]) -> None:
    client.post(f"/c/{chains[0].pk}/labels/", {"kind": "rating", "value": "2"})
    run = begun(client, "label", chains)
    assert send_form(client, f"/bulk/{run.pk}/", do="start").status_code == 422
    found = done(client, run, tag="vendor", rating="4")
    assert {each[0] for each in found.values()} == {"changed"}
    assert Label.objects.filter(name="vendor").count() == Label.objects.filter(value=4).count() == 3
    client.post(f"/bulk/{run.pk}/", {"do": "undo"})
    run_waiting_jobs()
    assert list(Label.objects.values_list("chain", "kind", "value")) == [(chains[0].pk, "rating", 2)]


def test_an_export_is_scanned_and_is_one_zip(client: Client, chains: list[Chain]) -> None:
    other = make_chain(WHOLE[:1], "c.json")
    run = begun(client, "export", [*chains, other])
    done(client, run)
    page = client.get(f"/bulk/{run.pk}/").content.decode()
    assert "1 chain with secrets in it" in page
    assert "1 secret value found." in page
    answer = client.get(f"/bulk/{run.pk}/chains.zip")
    with zipfile.ZipFile(io.BytesIO(answer.getvalue())) as archive:
        assert archive.testzip() is None
        names = archive.namelist()
        assert len({name.lower() for name in names}) == len(names) == 5
        assert names[-1] == "chains.csv"
        rows = list(csv.DictReader(io.StringIO(archive.read("chains.csv").decode())))
        single = client.get(f"/c/{chains[0].pk}/v/1/export?scope=chain").getvalue()
        name = next(row["file"] for row in rows if row["chain"] == str(chains[0].pk))
        assert archive.read(name) == single


def test_a_zip_in_another_format_holds_that_format(client: Client, chains: list[Chain]) -> None:
    run = begun(client, "export", chains)
    done(client, run, to="anthropic")
    with zipfile.ZipFile(io.BytesIO(client.get(f"/bulk/{run.pk}/chains.zip").getvalue())) as archive:
        assert all(b'"content"' in archive.read(name) for name in archive.namelist()[:-1])
        assert "Anthropic" in archive.read("chains.csv").decode()


def test_the_export_lock_covers_the_zip(settings: Any, chains: list[Chain]) -> None:
    team = chains[0].team
    settings.CHAINVIZ = settings.CHAINVIZ.model_copy(update={"mode": "team"})
    client = client_of(make_member(team, "Vera", Role.VIEWER))
    run = begun(client, "export", chains[:2])
    done(client, run)
    assert client.get(f"/bulk/{run.pk}/chains.zip").status_code == 200
    TeamRules.objects.create(team=team, locks_export=True)
    with zipfile.ZipFile(io.BytesIO(client.get(f"/bulk/{run.pk}/chains.zip").getvalue())) as archive:
        assert archive.namelist() == ["chains.csv"], "locked since it was prepared"
        assert "not signed off" in archive.read("chains.csv").decode()
    late = begun(client, "export", chains[:2])
    assert {each[0] for each in done(client, late).values()} == {"refused"}
    assert client.get(f"/bulk/{late.pk}/chains.zip").status_code == 404


@pytest.mark.parametrize(("role", "allowed"), [(Role.VIEWER, {"export"}), (Role.COMMENTER, {"export", "label"}), (Role.EDITOR, ALL)])
def test_roles_are_those_of_one_chain(settings: Any, chains: list[Chain], role: Role, allowed: set[str]) -> None:
    settings.CHAINVIZ = settings.CHAINVIZ.model_copy(update={"mode": "team"})
    client = client_of(make_member(chains[0].team, "Person", role))
    found = {act for act in ALL if client.post("/bulk/", {"act": act, "all": "1"}).status_code != 403}
    assert found == allowed


def test_a_person_who_may_no_longer_is_refused(settings: Any, chains: list[Chain]) -> None:
    settings.CHAINVIZ = settings.CHAINVIZ.model_copy(update={"mode": "team"})
    member = make_member(chains[0].team, "Ed", Role.EDITOR)
    client = client_of(member)
    run = begun(client, "repair", chains)
    send_form(client, f"/bulk/{run.pk}/", do="start")
    Membership.objects.filter(pk=member.pk).update(role=Role.VIEWER)
    run_waiting_jobs()
    assert set(run.rows.values_list("outcome", "text")) == {("refused", "Your role no longer allows this.")}


def test_a_worker_that_takes_over_does_no_chain_twice(chains: list[Chain], monkeypatch: Any) -> None:
    """Killed with the first chain saved and the second one's draft begun."""
    run = services.begin(act_named("repair"), Chain.objects.order_by("pk"), by=local_member())  # type: ignore[arg-type]
    job = services.start(run)
    real, calls = lease.beat, []

    def dies(held: Job) -> bool:
        calls.append(held)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return real(held)

    monkeypatch.setattr(lease, "beat", dies)
    with pytest.raises(KeyboardInterrupt):
        run_rows(JobContext(lease.claim(job.pk)), run=run.pk)  # type: ignore[arg-type]
    monkeypatch.undo()
    assert [row.outcome for row in run.rows.order_by("pk")] == ["changed", "waiting", "waiting"]
    assert Draft.objects.open().count() == 1, "of the chain it was at"
    Job.objects.filter(pk=job.pk).update(state=Job.State.QUEUED)
    run_waiting_jobs()
    assert [row.outcome for row in run.rows.order_by("pk")] == ["changed", "changed", "unchanged"]
    assert [chain.version for chain in Chain.objects.order_by("pk")] == [2, 2, 1]
    assert not Draft.objects.open().exists()


def test_a_stopped_run_says_what_it_did_not_reach_and_goes_on(client: Client, chains: list[Chain], monkeypatch: Any) -> None:
    run = begun(client, "repair", chains)
    real = JobContext.report

    def stops_at_the_second(self: JobContext, progress: float, message: str = "") -> None:
        if message.startswith("Chain 2"):
            lease.cancel(self.job)
        real(self, progress, message)

    monkeypatch.setattr(JobContext, "report", stops_at_the_second)
    done(client, run)
    monkeypatch.undo()
    page = client.get(f"/bulk/{run.pk}/").content.decode()
    assert "0 of 3 chains repaired, 1 unchanged, 2 not reached" in page
    assert "It was stopped." in page
    assert not Draft.objects.open().exists()
    client.post(f"/bulk/{run.pk}/", {"do": "go on"})
    run_waiting_jobs()
    assert "2 of 3 chains repaired, 1 unchanged" in client.get(f"/bulk/{run.pk}/").content.decode()


def test_a_fault_with_one_chain_does_not_stop_the_others(client: Client, chains: list[Chain], monkeypatch: Any) -> None:
    real = recipe.proposal_of

    def breaks(target: Any, *rest: Any) -> Any:
        if target.chain == chains[0]:
            raise ZeroDivisionError("secret detail")
        return real(target, *rest)

    monkeypatch.setattr(recipe, "proposal_of", breaks)
    found = done(client, begun(client, "repair", chains))
    assert {name: each[0] for name, each in found.items()} == {"a.json": "refused", "b.json": "changed", "c.json": "unchanged"}
    assert "secret detail" not in str(list(BulkRow.objects.values_list("text", flat=True)))


@pytest.mark.parametrize(("repaired", "label"), [(1, "Not undone"), (2, "Partly undone")])
def test_a_version_saved_since_is_not_undone(client: Client, chains: list[Chain], repaired: int, label: str) -> None:
    run = begun(client, "repair", chains[:repaired])
    done(client, run)
    client.post(f"/c/{chains[0].pk}/versions/1/restore/")
    client.post(f"/bulk/{run.pk}/", {"do": "undo"})
    assert undo_label(client, run) == "Undo"
    run_waiting_jobs()
    assert Chain.objects.get(pk=chains[0].pk).version == 3
    assert "Version 3 was saved since." in BulkRow.objects.filter(chain=chains[0]).latest("pk").text
    assert undo_label(client, run) == label


def undo_label(client: Client, run: BulkRun) -> str:
    """What the report of a run says of its undo."""
    found = re.search(r'</svg>([\w ]+)</a>\s*</div>\s*<div class="stack">', client.get(f"/bulk/{run.pk}/").content.decode())
    return found[1] if found else ""


def test_odd_requests_are_answered_with_a_sentence(client: Client, chains: list[Chain]) -> None:
    for form in ({}, {"act": "nonsense"}, {"act": "repair"}, {"act": "repair", "chain": ["x", "99999999"]}):
        assert client.post("/bulk/", form)["Location"] == "/"
    assert BulkRun.objects.count() == 0
    run = begun(client, "repair", chains)
    client.post(f"/bulk/{run.pk}/", {"do": "cancel"})
    assert BulkRun.objects.count() == 0
    assert client.get(f"/bulk/{run.pk}/").status_code == 404


@pytest.mark.django_db(transaction=True)  # a purge cleans the files of the database
def test_a_purge_takes_values_out_of_reports(client: Client, chains: list[Chain]) -> None:
    run = begun(client, "repair", chains)
    done(client, run)
    run.rows.update(text="It quotes brick-layer-7.")
    send_form(client, f"/c/{chains[1].pk}/purge/", values="brick-layer-7", title=chains[1].title, act="purge")
    texts = dict(run.rows.values_list("chain", "text"))
    assert "brick" not in texts[chains[1].pk]


def test_choices_that_were_never_started_are_forgotten(chains: list[Chain]) -> None:
    run = services.begin(act_named("repair"), Chain.objects.all(), by=local_member())  # type: ignore[arg-type]
    services.forget_unstarted()
    assert BulkRun.objects.count() == 1
    BulkRun.objects.update(created_at=run.created_at - services.UNSTARTED * 2)
    services.forget_unstarted()
    assert BulkRun.objects.count() == BulkRow.objects.count() == 0
    assert local_owner().is_active
