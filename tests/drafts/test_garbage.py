"""Discarded drafts and what they wrote are collected after their time; nothing else is."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.db import connection
from django.test import Client
from django.utils import timezone

from chainviz.chains.models import Chain
from chainviz.drafts.models import Draft
from chainviz.drafts.services import KEPT_DAYS, collect_discarded
from chainviz.store.fsck import fsck
from chainviz.store.models import Body, Run, Snapshot
from chainviz.store.models import Draft as StoreDraft
from tests.drafts.pages import send_form
from tests.drafts.test_draft import begin, of, page

pytestmark = [pytest.mark.django_db, pytest.mark.database]


def rows() -> tuple[int, ...]:
    return tuple(model._default_manager.count() for model in (Run, Body, Snapshot, StoreDraft))


def test_twenty_discarded_drafts_leave_nothing(client: Client, chain: Chain) -> None:
    before = rows()
    for number in range(20):
        client.post(of(begin(client, chain, text=f"Try {number}."), "discard"))
    assert Draft.objects.count() == 1, "the next draft replaces the discarded one"
    collect_discarded()
    assert Draft.objects.count() == 1, "it can still be restored"
    Draft.objects.update(discarded_at=timezone.now() - timedelta(days=KEPT_DAYS, seconds=1))
    collect_discarded()
    assert Draft.objects.count() == 0 and rows() == before
    assert not [finding for finding in fsck() if finding.severity == "error"]


def test_open_drafts_and_saved_versions_stay(client: Client, chain: Chain) -> None:
    client.post(of(begin(client, chain), "save"))
    draft = begin(client, chain, text="Another.", version=2)
    before = rows()
    collect_discarded()
    assert rows() == before
    assert "Another" in page(client, draft)


def test_the_run_of_a_step_that_only_removes_stays(client: Client, chain: Chain) -> None:
    client.post(of(begin(client, chain), "discard"))
    send_form(client, f"/c/{chain.pk}/edit/s1.p2?v=1", act="delete:s1.p2")
    client.post(of(Draft.objects.get(discarded_at=None), "save"))
    Draft.objects.update(discarded_at=timezone.now() - timedelta(days=KEPT_DAYS, seconds=1))
    collect_discarded()
    connection.check_constraints()
    assert set(Snapshot.objects.values_list("run", flat=True)) <= set(Run.objects.values_list("pk", flat=True))
