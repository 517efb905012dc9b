"""The report of a long step is read once, not for every page of the draft (issue 8)."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from chainviz.chains.models import Chain
from chainviz.drafts.models import Draft
from chainviz.drafts.preview import steps
from chainviz.store.content.codec import unpack
from tests.drafts.pages import send_form

pytestmark = pytest.mark.django_db


def test_a_long_report_is_read_once(client: Client, chain: Chain, monkeypatch: pytest.MonkeyPatch) -> None:
    send_form(client, f"/c/{chain.pk}/edit/s1.p1?v=1", s1__p1__m0__c0__text="Let me see.")
    draft, read = Draft.objects.get(), list[Any]()
    monkeypatch.setattr(steps, "SHORT", 0)
    monkeypatch.setattr(steps, "unpack", lambda packed: read.append(packed) or unpack(packed))

    for page in ("", "explore/", "explore/at/s1.p1"):
        answer = client.get(f"/c/{chain.pk}/d/{draft.pk}/{page}")
        assert (answer.status_code, "Text of" in answer.content.decode()) == (200, True), page
    assert len(read) == 1
