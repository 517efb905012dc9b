"""Sign-off: only what meets the rules, once, with a record that nobody can change and that outlives its chain."""

from __future__ import annotations

import json
from hashlib import sha256
from typing import Any

import pytest
from django.db import DatabaseError, transaction

from chainviz.accounts.models import AuditRow
from chainviz.chains import audit as audit
from chainviz.chains.models import Chain
from chainviz.chains.services import delete_for_good
from chainviz.review.fsck import SIGNED, fsck_review
from chainviz.review.models import SignOff
from chainviz.review.requests.services import give_verdict
from tests.review.conftest import Room

pytestmark = [pytest.mark.django_db, pytest.mark.database]


def sign(room: Room, version: int = 1) -> Any:
    return room.client(room.ivo).post(f"{room.page}sign-off/", {"version": version}, follow=True)


def approve(room: Room) -> None:
    give_verdict(room.chain, 1, "approve", "", by=room.mei.user)


def test_it_is_refused_until_the_rules_are_met(room: Room) -> None:
    assert "rules are not met: 0 of 1 approval." in sign(room).content.decode()
    approve(room)
    assert "Version 1 exists" in sign(room, version=2).content.decode()
    assert "signed off by" in sign(room).content.decode().lower()
    assert "Version 1 is already signed off." in sign(room).content.decode()
    assert SignOff.objects.count() == 1


def test_the_record_says_who_what_and_the_digest_of_the_file(room: Room) -> None:
    approve(room)
    audit.note(room.chain, room.ivo.user, "mask", {"rows": [], "strategy": "mask", "declined": 0}, version=1)
    sign(room)
    client = room.client(room.sam)
    file = client.get(f"/c/{room.chain.pk}/v/1/export?scope=chain").getvalue()
    page = client.get("/sign-offs/1/").content.decode()
    found = json.loads(client.get("/sign-offs/1/?as=json").content)

    assert sha256(file).hexdigest() in page
    assert (found["sha256"], found["bytes"], found["who"]) == (sha256(file).hexdigest(), len(file), "Ivo")
    assert [name for name, _, _ in found["approvals"]] == ["Mei"]
    assert [name for name, _, _ in found["removed"]] == ["Masked"]
    assert found["secrets"] == 0
    row = AuditRow.objects.get(act=SIGNED)
    assert (row.facts["sha256"], row.who_name) == (found["sha256"], "Ivo <ivo@example.org>")
    assert not AuditRow.objects.filter(act="review:sign_off", outcome="done").exists(), "one row, not two"


@pytest.mark.parametrize("change", [lambda rows: rows.delete(), lambda rows: rows.update(sha256="0" * 64)])
def test_nobody_changes_a_record(room: Room, change: Any) -> None:
    approve(room)
    sign(room)
    with pytest.raises(DatabaseError, match="append-only"), transaction.atomic():
        change(SignOff.objects.all())


def test_the_record_outlives_its_chain(room: Room) -> None:
    approve(room)
    sign(room)
    delete_for_good(Chain.objects.get(pk=room.chain.pk))
    page = room.client(room.sam).get("/sign-offs/1/")
    assert page.status_code == 200
    assert "A chain that was deleted" in page.content.decode()
    assert list(fsck_review()) == []
