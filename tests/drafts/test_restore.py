"""One text of an earlier version comes back with a button of the comparison, without scripts."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from django.test import Client

from chainviz.chains.models import Chain
from chainviz.drafts.models import Draft
from tests.chains.making import ai, human, make_chain, result
from tests.drafts.pages import send_form

pytestmark = pytest.mark.django_db
FIRST, SECOND = "the whole first file " * 30, "the whole second file " * 30
MESSAGES = [
    human("Look at both"),
    ai(None, ("c1", "read_file", {"path": "a"}), ("c2", "read_file", {"path": "b"})),
    result("c1", FIRST),
    result("c2", SECOND),
    ai("Both are fine."),
]


@pytest.fixture
def chain(client: Client, settings: Any, tmp_path: Any) -> Chain:
    """Version 2 has both results redacted."""
    settings.CHAINVIZ = settings.CHAINVIZ.model_copy(update={"data": tmp_path})
    client.get("/")
    chain = make_chain(MESSAGES)
    draft = send_form(client, f"/c/{chain.pk}/do/redact/", act="apply")
    client.post(f"{draft['Location']}save", {"note": ""})
    chain.refresh_from_db()
    assert chain.version == 2
    return chain


def contents(client: Client, chain: Chain) -> list[Any]:
    chain.refresh_from_db()
    answer = client.get(f"/c/{chain.pk}/v/{chain.version}/export?scope=chain")
    return [each["content"] for each in json.loads(b"".join(answer.streaming_content))["messages"]]


def buttons(client: Client, chain: Chain, versions: str = "1..2") -> list[str]:
    page = client.get(f"/c/{chain.pk}/diff/{versions}/").content.decode()
    return re.findall(r'form="restore" name="part" value="([^"]+)"', page)


def test_one_result_comes_back_and_the_other_stays_redacted(client: Client, chain: Chain) -> None:
    first, _ = buttons(client, chain)
    answer = client.post(f"/c/{chain.pk}/diff/1..2/restore", {"part": first})
    assert answer.status_code == 303
    assert f"/c/{chain.pk}/d/" in answer["Location"]
    client.post(f"{answer['Location']}save", {"note": ""})
    now = contents(client, chain)
    assert now[2] == FIRST
    assert now[3] != SECOND


def test_two_results_come_back_in_one_draft(client: Client, chain: Chain) -> None:
    for part in buttons(client, chain):
        answer = client.post(f"/c/{chain.pk}/diff/1..2/restore", {"part": part})
    assert Draft.objects.open().count() == 1
    client.post(f"{answer['Location']}save", {"note": ""})
    assert contents(client, chain)[2:4] == [FIRST, SECOND]


def test_a_text_that_stands_already_is_said_to(client: Client, chain: Chain) -> None:
    part = buttons(client, chain)[0]
    for _ in range(2):
        answer = client.post(f"/c/{chain.pk}/diff/1..2/restore", {"part": part}, follow=True)
    assert "stands like this in the newest version already" in answer.content.decode()


def test_a_result_that_is_gone_is_refused_in_a_sentence(client: Client, chain: Chain) -> None:
    part = buttons(client, chain)[0]
    answer = send_form(client, f"/c/{chain.pk}/edit/s1.p1", act="delete:s1.p1")
    client.post(f"{answer['Location']}save", {"note": ""})
    chain.refresh_from_db()
    assert chain.version == 3
    answer = client.post(f"/c/{chain.pk}/diff/1..2/restore", {"part": part}, follow=True)
    assert "cannot be told which part" in answer.content.decode()
    assert not Draft.objects.open().exists()


@pytest.mark.parametrize("part", ["", "x", "2", "99.0", "2.9", "-1.0"])
def test_odd_forms_are_refused(client: Client, chain: Chain, part: str) -> None:
    answer = client.post(f"/c/{chain.pk}/diff/1..2/restore", {"part": part})
    assert answer.status_code == 303
    assert not Draft.objects.open().exists()


def test_the_newest_version_has_nothing_to_restore_from(client: Client, chain: Chain) -> None:
    assert len(buttons(client, chain)) == 2
    assert buttons(client, chain, "2..1") == []
