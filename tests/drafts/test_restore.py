"""A button of the comparison restores a text of an earlier version, without scripts."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from django.http import HttpResponse
from django.test import Client

from chainviz.accounts.models import local_owner
from chainviz.chains.models import Chain
from chainviz.core.operations.summarize import SUMMARIZE, SummarizeOptions
from chainviz.drafts import services
from chainviz.drafts.models import Draft
from chainviz.drafts.operations.run import change
from chainviz.drafts.target import target_of_version
from tests.chains.making import ai, human, make_chain, make_chain_of, result
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
def chain(client: Client) -> Chain:
    """Version 2 has both results redacted."""
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


def buttons(client: Client, chain: Chain, versions: str = "1..2", of_nodes: bool = False) -> list[str]:
    page = client.get(f"/c/{chain.pk}/diff/{versions}/").content.decode()
    found = re.findall(r'form="restore" name="part" value="([^"]+)"', page)
    return [each for each in found if ("." not in each) == of_nodes]


def saved(client: Client, chain: Chain, answer: Any) -> None:
    assert answer.status_code == 303
    client.post(f"{answer['Location']}save", {"note": ""})
    chain.refresh_from_db()


def exported(client: Client, chain: Chain, version: int) -> bytes:
    return b"".join(client.get(f"/c/{chain.pk}/v/{version}/export?scope=chain").streaming_content)


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
    assert "The newest version already has this" in answer.content.decode()


def test_a_result_that_is_gone_is_refused_in_a_sentence(client: Client, chain: Chain) -> None:
    part = buttons(client, chain)[0]
    answer = send_form(client, f"/c/{chain.pk}/edit/s1.p1", act="delete:s1.p1")
    client.post(f"{answer['Location']}save", {"note": ""})
    chain.refresh_from_db()
    assert chain.version == 3
    answer = client.post(f"/c/{chain.pk}/diff/1..2/restore", {"part": part}, follow=True)
    assert "cannot be found in the newest version" in answer.content.decode()
    assert not Draft.objects.open().exists()


def test_nodes_that_are_gone_come_back_byte_for_byte(client: Client, chain: Chain) -> None:
    saved(client, chain, send_form(client, f"/c/{chain.pk}/edit/s1.p1", act="delete:s1.p1"))
    assert len(contents(client, chain)) == 2
    (gone,) = buttons(client, chain, "1..3", of_nodes=True)
    saved(client, chain, client.post(f"/c/{chain.pk}/diff/1..3/restore", {"part": gone}))
    assert chain.version == 4
    assert exported(client, chain, 4) == exported(client, chain, 1)


ANTHROPIC: list[dict[str, Any]] = [
    {"role": "user", "content": [{"type": "text", "text": "Look at both"}, {"type": "text", "text": "and tell me"}]},
    {
        "role": "assistant",
        "content": [
            {"type": "thinking", "thinking": "which first? " * 30, "signature": "sig=="},
            {"type": "tool_use", "id": "t1", "name": "read_file", "input": {"path": "a"}},
        ],
    },
    {
        "role": "user",
        "content": [
            {
                "type": "tool_result",
                "tool_use_id": "t1",
                "content": [
                    {"type": "text", "text": FIRST},
                    {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="}},
                ],
            },
            {"type": "text", "text": "There it is."},
        ],
    },
    {"role": "assistant", "content": [{"type": "text", "text": "Both are fine."}]},
]


@pytest.mark.parametrize("act", ["delete:s1.p1", "delete:s1.p1.m1"])
def test_blocks_of_a_message_they_share_come_back_in_their_places(client: Client, chain: Chain, act: str) -> None:
    made = make_chain_of(json.dumps({"messages": ANTHROPIC}).encode(), "claude.json")
    saved(client, made, send_form(client, f"/c/{made.pk}/edit/s1.p1", act=act))
    before = json.loads(exported(client, made, 1))
    assert json.loads(exported(client, made, 2)) != before
    for part in buttons(client, made, "1..2", of_nodes=True):
        answer = client.post(f"/c/{made.pk}/diff/1..2/restore", {"part": part})
    saved(client, made, answer)
    assert json.loads(exported(client, made, 3)) == before


def test_a_result_comes_back_with_its_pictures_and_reasoning_with_its_signature(client: Client, chain: Chain) -> None:
    made = make_chain_of(json.dumps({"messages": ANTHROPIC}).encode(), "claude.json")
    saved(client, made, send_form(client, f"/c/{made.pk}/do/redact/", parts=["result", "reasoning"], act="apply"))
    gone = exported(client, made, 2)
    assert b"iVBOR" not in gone
    assert b"sig==" not in gone
    (result_alone,) = buttons(client, made)
    client.post(f"/c/{made.pk}/diff/1..2/restore", {"part": result_alone})
    draft = Draft.objects.open().get(chain=made)
    saved(client, made, redirect_to(f"/c/{made.pk}/d/{draft.pk}/"))
    back = json.loads(exported(client, made, 3))["messages"]
    assert back[2] == ANTHROPIC[2]
    assert len(back[1]["content"]) == 1
    (node,) = buttons(client, made, "1..3", of_nodes=True)
    saved(client, made, client.post(f"/c/{made.pk}/diff/1..3/restore", {"part": node}))
    assert json.loads(exported(client, made, 4))["messages"] == ANTHROPIC


def test_what_a_summary_replaced_comes_back(client: Client, chain: Chain) -> None:
    long = make_chain([each for n in range(6) for each in (human(f"Question {n}"), ai(f"Answer {n} " * 50))], "long.json")
    page = client.get(f"/c/{long.pk}/do/summarize/")
    assert page.status_code == 200
    target = target_of_version(long, 1, local_owner())
    draft = change(target, SUMMARIZE, SummarizeOptions(preserve_last=False, keep_qa_sections=1))
    services.save(draft, note="", by=local_owner())
    long.refresh_from_db()
    assert exported(client, long, 2) != exported(client, long, 1)
    for part in buttons(client, long, "1..2", of_nodes=True):
        answer = client.post(f"/c/{long.pk}/diff/1..2/restore", {"part": part})
    saved(client, long, answer)
    assert exported(client, long, 3) == exported(client, long, 1)


def redirect_to(address: str) -> Any:
    response = HttpResponse(status=303)
    response["Location"] = address
    return response


def test_the_page_of_a_node_tells_what_stood_there_and_brings_it_back(client: Client, chain: Chain) -> None:
    address = f"/c/{chain.pk}/earlier/s1.p1"
    assert f"{address}?v=2" in client.get(f"/c/{chain.pk}/v/2/inspect/s1.p1").content.decode()
    assert f"{address}?v=2" in client.get(f"/c/{chain.pk}/v/2/node/s1.p1").content.decode()
    assert "/earlier/" not in client.get(f"/c/{chain.pk}/v/2/inspect/s1.h.m0").content.decode()
    assert "/earlier/" not in client.get(f"/c/{chain.pk}/v/1/inspect/s1.p1").content.decode()
    page = client.get(address).content.decode()
    assert "the whole first file" in page
    assert "the whole second file" in page
    (first, _) = re.findall(r'action="([^"]+)".*?name="part" value="([^"]+)"', page)
    saved(client, chain, client.post(first[0], {"part": first[1]}))
    assert contents(client, chain)[2] == FIRST
    left = client.get(address).content.decode()
    assert "the whole second file" in left
    assert left.count("Restore this") == 2, "the placeholder of version 2 is an earlier text too"
    assert "No other version of this node" in client.get(f"/c/{chain.pk}/earlier/s1.p2").content.decode()
    assert client.get(f"/c/{chain.pk}/earlier/s9.p9").status_code == 404


TALK = [human("Where is it?"), ai("In the hall. " * 20), ai("By the door. " * 20), human("Thanks"), ai("Any time.")]


def earlier(client: Client, chain: Chain, path: str) -> list[tuple[str, str]]:
    """(address, part) of each button that brings something back."""
    page = client.get(f"/c/{chain.pk}/earlier/{path}").content.decode()
    return re.findall(r'action="([^"]+/restore)".*?name="part" value="([^"]+)"', page)


def test_a_message_that_was_merged_into_another_comes_back(client: Client, chain: Chain) -> None:
    talk = make_chain(TALK, "talk.json")
    saved(client, talk, send_form(client, f"/c/{talk.pk}/edit/s1.p1", act="merge:s1.p1.m0"))
    assert len(contents(client, talk)) == 4
    address, part = next(found for found in earlier(client, talk, "s1.p1") if "." not in found[1])
    saved(client, talk, client.post(address, {"part": part}))
    assert TALK[2]["content"] in contents(client, talk)
    assert earlier(client, talk, "s2.p1") == []


def test_the_text_of_a_split_message_comes_back(client: Client, chain: Chain) -> None:
    talk = make_chain(TALK, "talk.json")
    saved(client, talk, send_form(client, f"/c/{talk.pk}/edit/s1.p1", act="split:s1.p1.m0.c0", at="13"))
    assert contents(client, talk)[1] == "In the hall. "
    ((address, part),) = earlier(client, talk, "s1.p1")
    saved(client, talk, client.post(address, {"part": part}))
    assert contents(client, talk)[1] == TALK[1]["content"]


@pytest.mark.parametrize("part", ["", "x", "0", "99", "2.", "99.0", "2.9", "-1.0"])
def test_odd_forms_are_refused(client: Client, chain: Chain, part: str) -> None:
    answer = client.post(f"/c/{chain.pk}/diff/1..2/restore", {"part": part})
    assert answer.status_code == 303
    assert not Draft.objects.open().exists()


def test_the_newest_version_has_nothing_to_restore_from(client: Client, chain: Chain) -> None:
    assert len(buttons(client, chain)) == 2
    assert buttons(client, chain, "2..1") == []
