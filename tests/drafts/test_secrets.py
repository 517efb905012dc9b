"""Secrets on a page: found, reviewed, masked everywhere in the document; nothing of them is stored beside it."""

from __future__ import annotations

import html
import json
import re
import sys
from typing import Any

import pytest
from django.test import Client

from chainviz.chains.audit import AuditEntry
from chainviz.chains.models import Chain
from chainviz.drafts import services
from chainviz.drafts.models import Draft
from chainviz.drafts.operations.run import run_operation
from chainviz.jobs import lease
from chainviz.jobs.models import Job
from chainviz.jobs.tasks import Cancelled, JobContext, run_job
from chainviz.jobs.worker import do_chores
from chainviz.store.models import Draft as StoredDraft
from chainviz.store.models import History
from tests.chains.making import ai, human, make_chain_of, result
from tests.drafts.pages import fields_of, send_form

pytestmark = pytest.mark.django_db
MAIL = "ada.lovelace@analytical-engine.org"
CARD = "4539578763621486"
KEY = "ghp_" + "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5"[:36]
MESSAGES = [
    human(f"Write to {MAIL}, she pays with {CARD}."),
    ai(None, ("c1", "send", {"to": MAIL, "token": KEY})),
    result("c1", f"sent to {MAIL}"),
    ai("Done."),
]
DOCUMENT = {"owner": MAIL, "card": int(CARD), "messages": MESSAGES, "run": {"env": [f"TOKEN={KEY}"]}}


@pytest.fixture
def chain(client: Client) -> Chain:
    client.get("/")
    return make_chain_of(json.dumps(DOCUMENT).encode())


@pytest.fixture
def address(chain: Chain) -> str:
    return f"/c/{chain.pk}/do/mask/"


def saved(client: Client, chain: Chain, answer: Any) -> bytes:
    """The download of the version that the draft becomes."""
    assert answer.status_code == 303, answer.content.decode()
    client.post(f"{answer['Location']}save", {"note": ""})
    chain.refresh_from_db()
    return b"".join(client.get(f"/c/{chain.pk}/v/{chain.version}/export?scope=chain").streaming_content)


def test_findings_stand_in_their_context(client: Client, address: str) -> None:
    page = client.get(address).content.decode()
    assert f"Write to <mark>{MAIL}</mark>, she pays" in page
    assert "4 times" in page, "one of them around the messages"
    assert "[EMAIL_1]" in page


def test_masked_values_are_gone_from_the_whole_document(client: Client, chain: Chain, address: str) -> None:
    document = saved(client, chain, send_form(client, address, act="apply"))
    for value in (MAIL, CARD, KEY):
        assert value.encode() not in document
    found = json.loads(document)
    assert found["owner"] == "[EMAIL_1]"
    assert found["messages"][2]["content"] == "sent to [EMAIL_1]"
    assert found["messages"][0]["content"].startswith("Write to [EMAIL_1]")
    assert found["messages"][1]["tool_calls"][0]["id"] == "c1"


def test_a_declined_value_stays_everywhere(client: Client, chain: Chain, address: str) -> None:
    fields = fields_of(client.get(address).content.decode())
    marks = fields["value"]
    answer = client.post(address, fields | {"value": marks[1:], "act": ["apply"]})
    document = saved(client, chain, answer)
    assert document.count(MAIL.encode()) == 4
    assert KEY.encode() not in document


def test_a_declined_finding_stays_alone(client: Client, chain: Chain, address: str) -> None:
    fields = fields_of(client.get(address).content.decode())
    kept = [each for each in fields["finding"] if not each.startswith("s1.h.m0")]
    document = saved(client, chain, client.post(address, fields | {"finding": kept, "act": ["apply"]}))
    assert json.loads(document)["messages"][0]["content"] == f"Write to {MAIL}, she pays with {CARD}."
    assert json.loads(document)["messages"][2]["content"] == "sent to [EMAIL_1]"


def test_a_value_can_be_taken_back_in(client: Client, address: str) -> None:
    fields = fields_of(client.get(address).content.decode())
    without = client.post(address, fields | {"value": fields["value"][1:], "act": ["look"]}).content.decode()
    assert re.search("Preview with [345] masked", without)
    again = fields_of(without)
    page = client.post(address, again | {"value": fields["value"], "act": ["look"]}).content.decode()
    assert 'data-chosen="none"' not in page


@pytest.mark.parametrize("is_long", [False, True])
@pytest.mark.parametrize("is_ticked", [True, False])
def test_what_stands_around_the_messages_alone_is_listed_and_masked(
    client: Client, chain: Chain, is_ticked: bool, is_long: bool, monkeypatch: Any
) -> None:
    """Each value can be declined: in run metadata and in fields of a message that no part was read from."""
    told = [human("Nothing here"), ai("No") | {"metadata": {"sent": [f"to {MAIL}"]}}]
    whole = {"run": {"env": f"TOKEN={KEY}"}, "messages": told, "owner": {"card": int(CARD)}}
    other = make_chain_of(json.dumps(whole).encode(), "other.json")
    address = f"/c/{other.pk}/do/mask/"
    if is_long:
        address = scanned(client, address, monkeypatch)
    page = client.get(address).content.decode()
    for value, place in ((KEY, "/run/env"), (MAIL, "/metadata/sent/0"), (CARD, "/owner/card")):
        assert re.search(f">{place}</span>[^/]*<mark>{value}</mark>", page)
    fields = fields_of(page)
    assert len(fields["value"]) == 3 and "finding" not in fields
    values = fields["value"] if is_ticked else []
    answer = client.post(address, fields | {"value": values, "act": ["apply"]})
    if not is_ticked:
        assert answer.status_code == 422 or "Nothing is chosen" in ended(client, answer)
        return
    document = json.loads(saved(client, other, made(client, answer) if is_long else answer))
    assert document["run"] == {"env": "TOKEN=[GITHUB_TOKEN_1]"}
    assert document["owner"] == {"card": "[CARD_1]"}
    assert document["messages"][1]["metadata"] == {"sent": ["to [EMAIL_1]"]}


def test_one_value_around_the_messages_stays_and_another_goes(client: Client, chain: Chain) -> None:
    whole = {"run": {"env": f"TOKEN={KEY}", "by": MAIL}, "messages": [human("Nothing here"), ai("No")]}
    other = make_chain_of(json.dumps(whole).encode(), "other.json")
    address = f"/c/{other.pk}/do/mask/"
    fields = fields_of(client.get(address).content.decode())
    document = saved(client, other, client.post(address, fields | {"value": fields["value"][:1], "act": ["apply"]}))
    assert json.loads(document)["run"] == {"env": "TOKEN=[GITHUB_TOKEN_1]", "by": MAIL}


def test_lines_that_are_no_message_are_named(client: Client, chain: Chain) -> None:
    lines = [{"type": "summary", "summary": f"for {MAIL}", "leafUuid": "u1"}]
    for number, (role, text) in enumerate((("user", "Nothing here"), ("assistant", "No"))):
        head = {"type": role, "uuid": f"u{number}", "parentUuid": None, "sessionId": "s", "toolUseResult": {"env": KEY}}
        lines.append(head | {"message": {"role": role, "content": [{"type": "text", "text": text}]}})
    other = make_chain_of("".join(json.dumps(each) + "\n" for each in lines).encode(), "session.jsonl")
    page = client.get(f"/c/{other.pk}/do/mask/").content.decode()
    assert "line 1 /summary" in page and f"<mark>{MAIL}</mark>" in page
    assert "/toolUseResult/env" in page and f"<mark>{KEY}</mark>" in page
    document = saved(client, other, send_form(client, f"/c/{other.pk}/do/mask/", act="apply"))
    assert MAIL.encode() not in document and KEY.encode() not in document


def test_rules_can_be_left_out(client: Client, chain: Chain, address: str) -> None:
    fields = fields_of(client.get(address).content.decode())
    rules = [each for each in fields["rule"] if each != "email"]
    assert len(rules) < len(fields["rule"])
    document = saved(client, chain, client.post(address, fields | {"rule": rules, "act": ["apply"]}))
    assert MAIL.encode() in document
    assert KEY.encode() not in document


def test_nothing_chosen_is_refused(client: Client, address: str) -> None:
    fields = fields_of(client.get(address).content.decode())
    answer = client.post(address, fields | {"value": [], "act": ["apply"]})
    assert answer.status_code == 422
    assert not Draft.objects.exists()


def test_the_audit_holds_no_value(client: Client, chain: Chain, address: str) -> None:
    send_form(client, address, act="apply")
    record = json.dumps(AuditEntry.objects.get().record)
    assert "rows" in record
    assert not [value for value in (MAIL, CARD, KEY) if value in record]


def test_a_long_chain_is_scanned_by_a_job_that_holds_no_value(client: Client, chain: Chain, address: str, monkeypatch: Any) -> None:
    monkeypatch.setattr("chainviz.chains.secrets.findings.AT_ONCE", 10)
    first = client.get(address).content.decode()
    assert 'hx-trigger="load"' in first and "Scan for secrets first" in first
    waiting = client.post(address, {"act": "scan"})["Location"]
    assert "Scanning" in client.get(waiting).content.decode()
    job = Job.objects.get()
    run_job(job.pk)
    job.refresh_from_db()
    assert job.state == Job.State.DONE
    assert MAIL not in json.dumps(job.result)
    assert f"<mark>{MAIL}</mark>" in client.get(waiting).content.decode()
    masking = send_form(client, waiting, act="apply")["Location"]
    assert "Masking" in client.get(masking).content.decode()
    run_job(Job.objects.latest("pk").pk)
    document = saved(client, chain, client.get(masking))
    assert MAIL.encode() not in document


def test_a_scan_of_a_long_chain_that_was_stopped_does_not_start_by_itself(
    client: Client, chain: Chain, address: str, monkeypatch: Any
) -> None:
    monkeypatch.setattr("chainviz.chains.secrets.findings.AT_ONCE", 10)
    waiting = client.post(address, {"act": "scan"})["Location"]
    stopped = client.get(client.post(waiting, {"act": "stop"})["Location"]).content.decode()
    assert "The scan was stopped." in stopped and 'hx-trigger="load"' not in stopped
    assert Job.objects.get().state == Job.State.CANCELLED


def scanned(client: Client, address: str, monkeypatch: Any) -> str:
    """The page of a long chain once a worker has looked through it."""
    monkeypatch.setattr("chainviz.chains.secrets.findings.AT_ONCE", 10)
    waiting = str(client.post(address, {"act": "scan"})["Location"])
    run_job(Job.objects.latest("pk").pk)
    return waiting


def made(client: Client, answer: Any) -> Any:
    """Return the address to which the page redirects after a worker has masked."""
    run_job(Job.objects.latest("pk").pk)
    return client.get(answer["Location"])


def ended(client: Client, answer: Any) -> str:
    """The page behind a job that failed: the choices again, with the reason."""
    return str(made(client, answer).content.decode())


@pytest.fixture
def masking(client: Client, chain: Chain, address: str, monkeypatch: Any) -> str:
    """The page of a job that is to mask a long chain; nobody has taken it up yet."""
    scan = scanned(client, address, monkeypatch)
    waiting = send_form(client, scan, act="apply", own_patterns="she pays")
    run_job(Job.objects.latest("pk").pk)
    answer = client.post(scan, fields_of(waiting.content.decode()) | {"act": ["apply"]})
    assert answer.status_code == 303
    return str(answer["Location"])


def test_masking_under_way_is_found_again(client: Client, address: str, masking: str) -> None:
    assert "Masking" in client.get(f"{address}?v=1").content.decode()
    send_form(client, f"{address}?v=1", act="apply")
    assert Job.objects.filter(function="run-operation").count() == 1


def test_masking_can_be_stopped(client: Client, masking: str) -> None:
    client.post(masking, {"act": "stop"})
    run_job(Job.objects.latest("pk").pk)
    assert Job.objects.latest("pk").state == Job.State.CANCELLED
    assert not Draft.objects.exists()
    assert "she pays" not in json.dumps(Job.objects.latest("pk").args)
    assert "nothing was changed" in client.get(masking).content.decode()


def test_own_patterns_leave_the_job_when_it_ends(client: Client, masking: str) -> None:
    job = Job.objects.latest("pk")
    assert "she pays" in json.dumps(job.args)
    run_job(job.pk)
    assert "she pays" not in json.dumps(Job.objects.latest("pk").args)


def test_own_patterns_survive_a_worker_that_is_told_to_stop(client: Client, chain: Chain, masking: str, monkeypatch: Any) -> None:
    job = Job.objects.latest("pk")
    with monkeypatch.context() as stopping, pytest.raises(SystemExit):
        stopping.setattr(services, "lock_draft", lambda _: sys.exit(0))
        run_job(job.pk)
    waiting = Job.objects.get(pk=job.pk)
    assert (waiting.state, waiting.args) == (Job.State.QUEUED, job.args)
    run_job(job.pk)
    done = Job.objects.get(pk=job.pk)
    assert done.state == Job.State.DONE and "she pays" not in json.dumps(done.args)
    assert b"she pays" not in saved(client, chain, client.get(masking))


def test_own_patterns_stay_with_a_job_that_another_worker_takes_over(client: Client, masking: str, monkeypatch: Any) -> None:
    job = Job.objects.latest("pk")

    def lost(*_: Any) -> None:
        Job.objects.filter(pk=job.pk).update(state=Job.State.QUEUED)
        raise Cancelled

    monkeypatch.setattr("chainviz.drafts.operations.run.propose", lost)
    run_job(job.pk)
    assert Job.objects.get(pk=job.pk).args == job.args


def test_a_worker_that_dies_while_masking_leaves_no_half_step(client: Client, chain: Chain, masking: str, monkeypatch: Any) -> None:
    """The second one makes the step; a third, who takes over what is done, makes none."""
    job = Job.objects.latest("pk")
    claimed = lease.claim(job.pk)
    assert claimed is not None
    with monkeypatch.context() as dying, pytest.raises(ZeroDivisionError):
        dying.setattr(lease, "finish", lambda *_, **__: 1 / 0)
        run_operation(JobContext(claimed), **claimed.args)
    assert not Draft.objects.exists()
    Job.objects.filter(pk=job.pk).update(state=Job.State.QUEUED)
    for _ in range(2):
        run_job(job.pk)
    assert StoredDraft.objects.get(pk=Draft.objects.get().key).steps.count() == 1
    job.refresh_from_db()
    assert (job.state, job.attempts) == (Job.State.DONE, 2)


def test_masking_what_was_changed_meanwhile_is_refused(client: Client, chain: Chain, masking: str) -> None:
    History.objects.update(edition=1)
    run_job(Job.objects.latest("pk").pk)
    assert Job.objects.latest("pk").state == Job.State.FAILED
    assert not Draft.objects.exists()
    assert "The content changed after" in client.get(masking, follow=True).content.decode()


def test_a_job_finds_the_chains_that_hold_something(client: Client, chain: Chain) -> None:
    make_chain_of(json.dumps([human("Nothing here"), ai("No")]).encode(), "clean.json")
    assert "Not scanned yet" in client.get("/secrets/").content.decode()
    client.post("/secrets/", {"act": "scan"})
    assert "Scanning the library" in client.get("/secrets/").content.decode()
    job = Job.objects.get()
    run_job(job.pk)
    job.refresh_from_db()
    assert not [value for value in (MAIL, CARD, KEY) if value in json.dumps(job.result)]
    page = client.get("/secrets/").content.decode()
    assert "E-mail address 4" in page, "one of them around the messages"
    assert f"/c/{chain.pk}/do/mask/" in page
    assert page.count("Review<") == 1


def test_own_patterns_are_found_reviewed_and_masked(client: Client, chain: Chain, address: str) -> None:
    fields = fields_of(client.get(address).content.decode())
    looked = client.post(address, fields | {"own_patterns": [r"she (?P<value>pays) with"], "act": ["look"]})
    page = looked.content.decode()
    assert "<mark>pays</mark>" in page
    assert "Own pattern 1" in page
    assert 'value="own-1" checked' in page
    document = saved(client, chain, client.post(address, fields_of(page) | {"act": ["apply"]}))
    assert json.loads(document)["messages"][0]["content"].startswith("Write to [EMAIL_1], she [OWN_1_1] with")
    assert "pays" not in json.dumps(AuditEntry.objects.get(act="mask").record)


@pytest.mark.parametrize(("pattern", "word"), [("(?<=a)b", "look-around"), (r"(a)\1", "back-references")])
@pytest.mark.parametrize("act", ["look", "apply"])
def test_an_unusable_own_pattern_is_refused_in_place(client: Client, address: str, pattern: str, word: str, act: str) -> None:
    fields = fields_of(client.get(address).content.decode())
    typed = f"fine-[0-9]+\n{pattern}"
    given = {"own_patterns": [typed], "value": fields["value"][1:], "strategy": ["mask"], "act": [act]}
    answer = client.post(address, fields | given)
    assert answer.status_code == 422
    page = answer.content.decode()
    assert "Own pattern, line 2:" in page
    assert word in page
    kept = fields_of(page)
    assert [each.replace("\r\n", "\n").strip("\n") for each in kept["own_patterns"]] == [typed]
    assert kept["value"] == fields["value"][1:]
    assert not Draft.objects.exists()


def test_ticks_of_own_patterns_survive_a_pattern_that_cannot_be_used(client: Client, chain: Chain, address: str) -> None:
    given = {"own_patterns": ["she pays\nwith"], "act": ["look"]}
    fields = fields_of(client.post(address, fields_of(client.get(address).content.decode()) | given).content.decode())
    assert {"own-1", "own-2"} <= set(fields["rule"])
    without = [each for each in fields["rule"] if each != "own-2"]
    broken = client.post(address, fields | {"rule": without, "own_patterns": ["she pays\nwith\n(a"], "act": ["look"]})
    assert broken.status_code == 422
    kept = fields_of(broken.content.decode())
    assert "own-1" in kept["rule"] and "own-2" not in kept["rule"]
    mended = client.post(address, kept | {"own_patterns": ["she pays\nwith\nan?"], "act": ["look"]}).content.decode()
    assert "own-1" in fields_of(mended)["rule"] and "own-2" not in fields_of(mended)["rule"]


def test_own_patterns_work_where_nothing_else_is_found(client: Client, chain: Chain) -> None:
    plain = make_chain_of(json.dumps([human("Order 77-A of Bob"), ai("Yes")]).encode(), "plain.json")
    address = f"/c/{plain.pk}/do/mask/"
    fields = fields_of(client.get(address).content.decode())
    page = client.post(address, fields | {"own_patterns": [r"\d+-[A-Z]"], "act": ["look"]}).content.decode()
    assert "Order <mark>77-A</mark> of Bob" in page


def test_own_patterns_that_match_everywhere_are_refused(client: Client, address: str, monkeypatch: Any) -> None:
    monkeypatch.setattr("chainviz.chains.secrets.findings.MOST", 10)
    answer = client.post(address, {"own_patterns": "."})
    assert answer.status_code == 422
    assert "narrower" in answer.content.decode()


def test_own_patterns_are_looked_for_by_a_job_in_a_long_chain(client: Client, chain: Chain, address: str, monkeypatch: Any) -> None:
    """The form waits with it: nothing that was typed or ticked is lost, and no pattern is kept."""
    scan = scanned(client, address, monkeypatch)
    fields = fields_of(client.get(scan).content.decode())
    given = {"own_patterns": ["she pays"], "strategy": ["mask"], "value": fields["value"][1:], "act": ["look"]}
    waiting = client.post(scan, fields | given)
    page = waiting.content.decode()
    assert "Searching for your own patterns" in page and "she pays" in page
    progress = re.search(r'hx-get="([^"]+)"', page)
    assert progress is not None
    fragment = html.unescape(progress[1])
    assert "Searching for" in client.get(fragment, headers={"HX-Request": "true"}).content.decode()
    assert client.get(fragment).status_code == 303
    job = Job.objects.latest("pk")
    run_job(job.pk)
    job.refresh_from_db()
    assert job.state == Job.State.DONE and "she pays" not in json.dumps([job.args, job.result, job.message])
    assert "Show what was found" in client.get(fragment, headers={"HX-Request": "true"}).content.decode()
    found = client.post(scan, fields_of(page) | {"act": ["look"]}).content.decode()
    assert "<mark>she pays</mark>" in found and f"<mark>{MAIL}</mark>" in found
    kept = fields_of(found)
    assert kept["strategy"] == ["mask"] and fields["value"][0] not in kept["value"]
    assert Job.objects.latest("pk") == job, "they are not looked for twice"


def test_looking_for_own_patterns_can_be_stopped_or_fail(client: Client, chain: Chain, address: str, monkeypatch: Any) -> None:
    scan = scanned(client, address, monkeypatch)
    page = client.post(scan, {"own_patterns": "she pays", "act": "look"}).content.decode()
    stopped = client.post(scan, fields_of(page) | {"act": ["stop_own"]})
    assert "she pays" in stopped.content.decode() and f"<mark>{MAIL}</mark>" in stopped.content.decode()
    job = Job.objects.latest("pk")
    assert job.state == Job.State.CANCELLED and "she pays" not in json.dumps(job.args)
    monkeypatch.setattr("chainviz.chains.secrets.findings.MOST", 10)
    client.post(scan, {"own_patterns": ".", "act": "look"})
    run_job(Job.objects.latest("pk").pk)
    refused = client.post(scan, {"own_patterns": ".", "act": "look"})
    assert refused.status_code == 422 and "narrower" in refused.content.decode()
    client.post(scan, {"own_patterns": "she pays", "act": "look"})
    given_up = Job.objects.filter(pk=Job.objects.latest("pk").pk)
    given_up.update(state=Job.State.INTERRUPTED)
    do_chores()
    assert "she pays" not in json.dumps(given_up.get().args)
