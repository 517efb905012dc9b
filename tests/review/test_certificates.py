"""Certificates: an export for somebody outside ends in a record that names what was taken out and never the values."""

from __future__ import annotations

import json
import re
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from django.db import DatabaseError, connection, transaction
from django.test import Client

from chainviz.accounts.models import AuditRow
from chainviz.accounts.permissions import Role
from chainviz.chains.models import Chain
from chainviz.chains.services import delete_for_good
from chainviz.drafts.models import Draft
from chainviz.jobs.models import Job
from chainviz.jobs.worker import run_waiting_jobs
from chainviz.review.csv_and_jsonl import is_signed_off
from chainviz.review.fsck import CERTIFIED, fsck_review
from chainviz.review.models import SignOff, TeamRules
from tests.accounts.people import client_of, make_member
from tests.chains.making import ai, human, make_chain, result
from tests.drafts.pages import send_form

pytestmark = [pytest.mark.django_db, pytest.mark.database]
MAIL, KEY = "anna.meier@example.org", "ghp_" + "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5"


@pytest.fixture
def chain(client: Client) -> Chain:
    """Version 2: masked, the result redacted by hand."""
    calls = ai(None, ("c1", "look_up", {"mail": MAIL}))
    made = make_chain([human(f"Write to {MAIL} with {KEY}."), calls, result("c1", "a long result " * 9), ai("Done, Olaf.")])
    send_form(client, f"/c/{made.pk}/do/mask/?v=1", own_words="olaf", act="apply")
    draft = Draft.objects.get()
    send_form(client, f"/c/{made.pk}/do/redact/?draft={draft.pk}", policy="every", act="apply")
    client.post(f"/c/{made.pk}/d/{draft.pk}/save", {"note": ""})
    made.refresh_from_db()
    return made


def certified(client: Client, chain: Chain, **given: str) -> Any:
    return send_form(client, f"/c/{chain.pk}/v/{chain.version}/certify/", **{"recipient": "Quality vendor", **given})


def test_it_says_what_left_and_holds_no_removed_value(client: Client, chain: Chain) -> None:
    answer = certified(client, chain)
    assert answer["Location"] == "/certificates/1/"
    page = client.get("/certificates/1/").content.decode()
    file = client.get(f"/c/{chain.pk}/v/2/export?scope=chain").getvalue()
    assert sha256(file).hexdigest() in page and "Version 2, to <b>Quality vendor</b>" in page
    assert "No secrets and no personal data found" in page and "No removed value occurs in the file" in page
    found = json.loads(client.get("/certificates/1/?as=json").content)
    assert (found["sha256"], found["bytes"], found["recipient"]) == (sha256(file).hexdigest(), len(file), "Quality vendor")
    kinds = {what.partition(" in ")[0]: count for what, _, _, count, _ in found["removed"]}
    assert kinds == {"E-mail address": 2, "GitHub token": 1, "Own word": 1, "result of look_up": 1}
    assert found["searched"]["looked_for"] == found["searched"]["removed_values"] == 4
    row = SignOff.objects.get()
    for text in (page, json.dumps(found), str(row.record), str(AuditRow.objects.get(act=CERTIFIED).facts)):
        assert not any(value in text for value in (MAIL, KEY, "Olaf", "a long result"))
    assert list(fsck_review()) == []


def test_it_names_its_file_and_leads_to_its_audit_entry(settings: Any, client: Client, chain: Chain) -> None:
    certified(client, chain)
    page = client.get("/certificates/1/").content.decode()
    name = f"{Path(chain.file_name).stem} version 2.json"
    assert f"<dd>{name}," in page and f"/c/{chain.pk}/audit/" in page and "Audit entry" not in page, "the log is for teams"
    download = client.get(f"/c/{chain.pk}/v/2/export?scope=chain")["Content-Disposition"]
    assert name in download
    settings.CHAINVIZ = settings.CHAINVIZ.model_copy(update={"mode": "team"})
    owner, viewer = (client_of(make_member(chain.team, str(role), role)) for role in (Role.OWNER, Role.VIEWER))
    certified(owner, chain)
    entry = AuditRow.objects.filter(act=CERTIFIED).latest("number")
    page = owner.get("/certificates/2/").content.decode()
    address = re.search(r'href="(/[^"]*#row-(\d+))"', page)
    assert address is not None and int(address[2]) == entry.number
    assert f'id="row-{entry.number}"' in owner.get(address[1].partition("#")[0]).content.decode()
    assert "#row-" not in viewer.get("/certificates/2/").content.decode()


def test_what_still_holds_secrets_says_so(client: Client, chain: Chain) -> None:
    send_form(client, f"/c/{chain.pk}/edit/s1.p2?v=2", s1__p2__m0__c0__text=f"Ask {MAIL} and olaf.")
    client.post(f"/c/{chain.pk}/d/{Draft.objects.latest('pk').pk}/save", {"note": ""})
    chain.refresh_from_db()
    certified(client, chain, to="anthropic")
    page = client.get("/certificates/1/").content.decode()
    assert "1 value found" in page and "E-mail address 1" in page and "1 place still holds a removed value, in 1.2" in page
    assert "Edited" in page
    file = client.get(f"/c/{chain.pk}/v/3/export?scope=chain&to=anthropic").getvalue()
    assert sha256(file).hexdigest() in page


def test_a_placeholder_longer_than_its_value_is_no_saving(client: Client) -> None:
    made = make_chain([human("Ask Olaf."), ai("Done.")])
    send_form(client, f"/c/{made.pk}/do/mask/?v=1", own_words="olaf", act="apply")
    client.post(f"/c/{made.pk}/d/{Draft.objects.get().pk}/save", {"note": ""})
    made.refresh_from_db()
    certified(client, made)
    page = client.get("/certificates/1/").content.decode()
    ((*_, saved),) = json.loads(client.get("/certificates/1/?as=json").content)["removed"]
    assert saved < 0 and page.count(f"+{-saved} B") == 2


@pytest.mark.parametrize("recipient", ["", " ", "x" * 200, f"Friends of {MAIL}"])
def test_a_recipient_that_cannot_be_is_refused_and_kept(client: Client, chain: Chain, recipient: str) -> None:
    answer = certified(client, chain, recipient=recipient)
    assert answer.status_code == 422
    assert recipient.strip() in answer.content.decode()
    assert not SignOff.objects.exists()


def test_it_is_no_sign_off_and_nobody_changes_it(client: Client, chain: Chain) -> None:
    certified(client, chain)
    assert not is_signed_off(chain, 2)
    assert client.get("/sign-offs/1/").status_code == 404
    for change in (lambda: SignOff.objects.all().delete(), lambda: SignOff.objects.update(recipient="Somebody else")):
        with pytest.raises(DatabaseError, match="append-only"), transaction.atomic():
            change()
    delete_for_good(Chain.objects.get(pk=chain.pk))
    assert "A chain that was deleted" in client.get("/certificates/1/").content.decode()
    assert list(fsck_review()) == []


def test_fsck_misses_one_that_is_gone(client: Client, chain: Chain) -> None:
    certified(client, chain)
    table = SignOff._meta.db_table
    with connection.cursor() as cursor:
        cursor.execute(f"DROP TRIGGER {f'append_only ON {table}' if connection.vendor == 'postgresql' else f'{table}_no_delete'}")
        cursor.execute(f"DELETE FROM {table}")
    assert "Sign-off or certificate 1" in " ".join(each.text for each in fsck_review())


def test_a_long_chain_is_a_job_that_can_be_stopped(client: Client, chain: Chain, monkeypatch: Any) -> None:
    monkeypatch.setattr("chainviz.review.certificates.is_long", lambda stored: True)
    waiting = certified(client, chain)["Location"]
    assert "Making the certificate" in client.get(waiting).content.decode()
    client.post(waiting, {"act": "stop"})
    assert "no certificate was made" in client.get(waiting).content.decode()
    waiting = certified(client, chain)["Location"]
    run_waiting_jobs()
    assert client.get(waiting)["Location"] == "/certificates/1/"
    assert Job.objects.latest("pk").state == Job.State.DONE


def test_the_export_lock_holds(client: Client, chain: Chain, settings: Any) -> None:
    settings.CHAINVIZ = settings.CHAINVIZ.model_copy(update={"mode": "team"})
    TeamRules.objects.create(team=chain.team, locks_export=True)
    viewer = client_of(make_member(chain.team, "Vera", Role.VIEWER))
    assert "Export is locked" in viewer.get(f"/c/{chain.pk}/v/2/certify/").content.decode()
    assert viewer.post(f"/c/{chain.pk}/v/2/certify/", {"recipient": "Vendor"}).status_code == 422
    assert not SignOff.objects.exists()


@pytest.mark.django_db(transaction=True)  # a purge cleans the files of the database
def test_certificate_holds_while_the_version_exports_with_its_digest(client: Client, chain: Chain) -> None:
    certified(client, chain)
    digest = sha256(client.get(f"/c/{chain.pk}/v/2/export?scope=chain").getvalue()).hexdigest()
    send_form(client, f"/c/{chain.pk}/purge/?masked=2", act="purge", title=chain.title)
    file = client.get(f"/c/{chain.pk}/v/2/export?scope=chain").getvalue()
    assert sha256(file).hexdigest() == digest, "the purge blanked values of version 1"
    page = client.get("/certificates/1/").content.decode()
    assert "no longer stored" not in page and "version 2.json" in page
    send_form(client, f"/c/{chain.pk}/purge/", act="purge", values="Write to", title=chain.title)
    assert "no longer stored" in client.get("/certificates/1/").content.decode()
