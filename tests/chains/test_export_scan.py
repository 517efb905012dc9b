"""Before an export, the page shows what the scans found, at once or by a job, and every download link leads to that page."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.test import Client

from chainviz.chains.models import Chain
from chainviz.chains.observations.index_job import READING
from chainviz.chains.secrets import files as file_scans
from chainviz.chains.secrets.files import findings_in
from chainviz.jobs.models import Job
from chainviz.jobs.tasks import run_job
from tests.chains.making import ai, human, make_chain_of
from tests.drafts.pages import send_form

pytestmark = pytest.mark.django_db
MAIL = "ada.lovelace@analytical-engine.org"
OTHER = "grace.hopper@analytical-engine.org"
DOCUMENT = {"owner": OTHER, "messages": [human(f"Write to {MAIL}."), ai("Done.")]}


@pytest.fixture
def chain(client: Client) -> Chain:
    client.get("/")
    return make_chain_of(json.dumps(DOCUMENT).encode())


def test_what_stands_only_around_the_messages_is_told_too(client: Client, chain: Chain) -> None:
    page = client.get(f"/c/{chain.pk}/v/1/export").content.decode()
    assert "2 possible secrets in it" in page


def test_what_was_masked_is_still_in_the_upload_and_told(client: Client, chain: Chain) -> None:
    draft = send_form(client, f"/c/{chain.pk}/do/mask/", act="apply")
    client.post(f"{draft['Location']}save", {"note": ""})
    page = client.get(f"/c/{chain.pk}/v/2/export").content.decode()
    assert "No secrets were found" in page
    assert "2 possible secrets in the file as it was uploaded" in page


def test_every_link_leads_to_the_page_that_tells(client: Client, chain: Chain) -> None:
    for address in ("versions/", "v/1/", "v/1/node/s1.p1"):
        page = client.get(f"/c/{chain.pk}/{address}").content.decode()
        assert "scope=" not in page, address
        assert "as=file" not in page, address
    source = client.get(f"/c/{chain.pk}/v/1/raw/s1.h.m0").content.decode()
    assert "1 possible secret in it" in source
    assert "as=file" in source


def test_a_long_chain_is_looked_through_by_a_job_first(client: Client, chain: Chain, monkeypatch: Any) -> None:
    monkeypatch.setattr("chainviz.chains.secrets.findings.AT_ONCE", 10)
    monkeypatch.setattr("chainviz.chains.secrets.export_scan.AT_ONCE", 10)
    address = f"/c/{chain.pk}/v/1/export"
    page = client.get(address).content.decode()
    assert "Scan for secrets first" in page
    assert page.index("Export without the scan") < page.index("scope=chain")
    assert "finding" not in page
    assert client.post(address, {"act": "scan"}).status_code == 303
    assert client.post(address, {"act": "scan"}).status_code == 303
    jobs = list(Job.objects.all())
    assert len(jobs) == 1, "the file holds no more than this content"
    fragment = client.get(address, headers={"HX-Request": "true"}).content.decode()
    assert "<progress" in fragment
    assert "<main" not in fragment
    for job in jobs:
        run_job(job.pk)
    assert client.get(address, headers={"HX-Request": "true"})["HX-Redirect"] == address
    page = client.get(address).content.decode()
    assert "2 possible secrets in it" in page
    assert "without the scan" not in page
    stored = json.dumps([[job.args, job.result, job.message] for job in Job.objects.all()])
    assert MAIL not in stored
    assert OTHER not in stored


def test_a_scan_that_was_stopped_can_be_started_again(client: Client, chain: Chain, monkeypatch: Any) -> None:
    monkeypatch.setattr("chainviz.chains.secrets.findings.AT_ONCE", 10)
    address = f"/c/{chain.pk}/v/1/export"
    client.post(address, {"act": "scan"})
    client.post(address, {"act": "stop"})
    run_job(Job.objects.get().pk)
    assert "The scan was stopped" in client.get(address).content.decode()
    client.post(address, {"act": "scan"})
    assert Job.objects.count() == 2


def test_a_secret_between_two_stretches_is_found_once(monkeypatch: Any) -> None:
    monkeypatch.setattr(file_scans, "STRETCH", 64)
    monkeypatch.setattr(file_scans, "LONGEST", 50)
    text = json.dumps({"a": "x " * 20 + MAIL + " y" * 40, "b": json.dumps({"to": f"\n{OTHER}\n"})}).encode()
    for size in (7, 40, 1000):
        found = findings_in(text[i : i + size] for i in range(0, len(text), size))
        assert found.values == 2
        assert found.by_rule == {"email": 2}


def test_what_is_looked_through_at_once_is_measured_as_it_is_stored(client: Client, chain: Chain, monkeypatch: pytest.MonkeyPatch) -> None:
    """Many small calls are few bytes of content and many to read (issue 8)."""
    monkeypatch.setattr("chainviz.chains.secrets.findings.AT_ONCE", 1_000)
    monkeypatch.setattr("chainviz.chains.observations.index_job.BYTES_AT_ONCE", 1_000)
    many = make_chain_of(json.dumps([human("Go on."), ai(None, *[("c", "f", {}) for _ in range(20)])]).encode(), "many.json")
    assert many.size < 1_000
    assert "This export is long, so it is scanned" in client.get(f"/c/{many.pk}/v/1/export").content.decode()
    client.get(f"/c/{many.pk}/v/1/observations")
    assert Job.objects.filter(function=READING).exists()
