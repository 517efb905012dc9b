"""Verdicts on pages: three states everywhere, and never those of rules that have changed since."""

from __future__ import annotations

import json
import re

import pytest
from django.test import Client

from chainviz.chains.models import Chain
from chainviz.chains.versions.heads import start_if_needed
from chainviz.jobs.models import Job
from chainviz.jobs.worker import run_waiting_jobs
from chainviz.store.history.drafts import head_of
from chainviz.store.models import History, Outline
from chainviz.store.outline import build
from chainviz.store.outline.edition import RULES_EDITION
from tests.chains.files import send

pytestmark = pytest.mark.django_db
HOLOGRAM = [{"role": "user", "content": [{"type": "hologram"}]}, {"role": "assistant", "content": "hi"}]


def upload(client: Client, messages: object) -> Chain:
    send(client, ("chain.json", json.dumps(messages).encode()))
    return Chain.objects.get()


def test_every_page_says_what_was_not_fully_checked(client: Client) -> None:
    chain = upload(client, HOLOGRAM)
    # the filter offers every verdict
    library = re.sub(r"(?s)<select.*?</select>|<nav.*?</nav>", "", client.get("/").content.decode())
    assert "not fully checked" in library and "accepted" not in library
    for address in (f"/c/{chain.pk}/v/1/", f"/c/{chain.pk}/v/1/inspect/s1.h.m0"):
        assert "not fully checked" in client.get(address).content.decode()


def test_chains_are_judged_again_when_the_rules_change(client: Client) -> None:
    open_call = {"id": "call_b", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    said = {"role": "user", "content": "hi"}
    chain = upload(client, [said, {"role": "assistant", "tool_calls": [open_call]}, said])
    assert chain.verdicts["openai-chat"][0] == 1
    Chain.objects.update(rules=RULES_EDITION - 1, verdicts={})
    Outline.objects.update(rules=RULES_EDITION - 1)
    client.post("/columns/", {"column": ["verdicts"]})
    assert "being checked again" in client.get("/").content.decode()

    assert start_if_needed() is not None
    assert start_if_needed() is None
    run_waiting_jobs()

    job = Job.objects.get(function="judge-again")
    assert (job.state, job.result) == ("done", 1)
    chain.refresh_from_db()
    assert (chain.rules, chain.verdicts["openai-chat"][0]) == (RULES_EDITION, 1)
    assert start_if_needed() is None


def test_a_pasted_error_leads_to_its_node_and_its_fix(client: Client) -> None:
    call = {"type": "function", "function": {"name": "f", "arguments": "{}"}}
    chain = upload(client, [
        {"role": "user", "content": "hi"},
        {"role": "assistant", "content": None, "tool_calls": [{**call, "id": "call_a"}, {**call, "id": "call_b"}]},
        {"role": "tool", "tool_call_id": "call_a", "content": "x"},
    ])  # fmt: skip
    message = (
        "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. "
        "The following tool_call_ids did not have response messages: call_b"
    )
    page = client.get(f"/c/{chain.pk}/v/1/problems", {"error": message}).content.decode()
    assert f'href="/c/{chain.pk}/v/1/at/s1.p1.m0.c1#' in page
    assert "Answer the call" in page and "kind=answer-call" in page
    assert "Show where this error is" in client.get(f"/c/{chain.pk}/v/1/find", {"q": message}).content.decode()
    unknown = client.get(f"/c/{chain.pk}/v/1/problems", {"error": "messages[2]: something new"}).content.decode()
    assert f'href="/c/{chain.pk}/v/1/at/s1.p1.m1#' in unknown
    nothing = client.get(f"/c/{chain.pk}/v/1/problems", {"error": "<b>bold</b> messages.99"}).content.decode()
    assert "This is not a known API error" in nothing and "<b>bold" not in nothing


@pytest.fixture
def outdated(client: Client, monkeypatch: pytest.MonkeyPatch) -> Chain:
    """A chain that is too large to be checked again while a page is made."""
    chain = upload(client, [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "hello"}] * 3)
    Outline.objects.update(rules=RULES_EDITION - 1)
    monkeypatch.setattr(build, "MESSAGES_AT_ONCE", 5)
    return chain


def test_the_outline_of_a_large_chain_is_rebuilt_by_a_job(client: Client, outdated: Chain) -> None:
    page = f"/c/{outdated.pk}/v/1/"
    for _ in range(2):
        answer = client.get(page)
        assert (answer.status_code, answer["Refresh"]) == (202, "1")
        assert "being checked with the current rules" in answer.content.decode()
    fragment = client.get(f"{page}rows?from=s1", headers={"HX-Request": "true"})
    assert (fragment.status_code, fragment["HX-Refresh"]) == (204, "true")
    assert not Outline.objects.filter(rules=RULES_EDITION).exists()

    run_waiting_jobs()
    assert Job.objects.get(function="rebuild-outline").state == "done"
    answer = client.get(page)
    assert answer.status_code == 200 and "Refresh" not in answer


def test_what_a_form_sends_does_not_wait_for_that_job(client: Client, outdated: Chain) -> None:
    sent = {"seen": "v1", "act": "save", "role": "human", "part-0": "Hi again"}
    assert client.post(f"/c/{outdated.pk}/edit/s1.h.m0?v=1", sent).status_code < 500
    assert Outline.objects.filter(rules=RULES_EDITION).exists()
    assert not Job.objects.filter(function="rebuild-outline").exists()


def test_a_job_that_failed_is_not_started_for_ever(client: Client, outdated: Chain) -> None:
    client.get(f"/c/{outdated.pk}/v/1/")
    Job.objects.filter(function="rebuild-outline").update(state=Job.State.FAILED)
    client.raise_request_exception = False
    assert client.get(f"/c/{outdated.pk}/v/1/").status_code == 500
    assert Job.objects.filter(function="rebuild-outline").count() == 1


def test_outside_of_a_page_the_outline_is_rebuilt_at_once(outdated: Chain) -> None:
    snapshot = head_of(History(pk=outdated.history)).snapshot
    assert build.outline_of(snapshot).rules == RULES_EDITION
