"""Redacted and masked text is in no export of the version, in any form."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.test import Client

from chainviz.accounts.models import local_member
from chainviz.chains.exports import FORMS
from chainviz.chains.models import Chain
from chainviz.chains.uploads.imports import import_offer
from chainviz.core.documents.source import open_source
from chainviz.core.formats import WRITTEN
from chainviz.core.formats.offers import offers_of
from chainviz.core.operations.redact import POLICIES
from tests.chains.making import ai, human, result
from tests.drafts.pages import send_form

pytestmark = pytest.mark.django_db
GONE = [f'Ada Lovelace is in ward {n}\nand calls it "the mill" – {"so it goes " * 12}' for n in range(3)]
KEY = "ghp_" + "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5"
MAIL = "ada.lovelace@analytical-engine.org"
ENVELOPES = {
    "escaped once": lambda text: text,
    "escaped twice": lambda text: json.dumps({"output": text}),
    "escaped three times": lambda text: json.dumps([json.dumps({"output": text})]),
    "among other words": lambda text: f"Observation: {text} (end)",
}


def conversation(texts: list[str]) -> list[dict[str, Any]]:
    messages = [human("Read all wards")]
    for n, text in enumerate(texts):
        messages += [ai(None, (f"c{n}", "read_ward", {"ward": n})), result(f"c{n}", text) | {"raw": {"stdout": text}}]
        messages += [ai(f"Ward {n} is read."), human("Go on")]
    return [*messages, ai("All is read.")]


def log(texts: list[str]) -> list[dict[str, str]]:
    return [{name: wrap(text) for name, wrap in ENVELOPES.items()} for text in texts]


def container(document: Any) -> list[Chain]:
    Client().get("/")
    with open_source(json.dumps(document, indent=1).encode()) as source:
        return [import_offer(local_member(), source, offer, file_name="runs.json") for offer in offers_of(source)]


def runs(texts: list[str], other: list[str]) -> dict[str, Any]:
    one = {"events": log(texts), "messages": conversation(texts)}
    two = {"seen": log(texts), "messages": conversation(other)}
    return {"events": log(texts), "runs": [one, two], "at the end": log(texts)}


def saved(client: Client, chain: Chain, operation: str, **fields: Any) -> None:
    draft = send_form(client, f"/c/{chain.pk}/do/{operation}/", act="apply", **fields)
    assert draft.status_code == 303, draft.content.decode()
    client.post(f"{draft['Location']}save", {"note": ""})
    chain.refresh_from_db()
    assert chain.version == 2


def exports(client: Client, chain: Chain) -> dict[str, bytes]:
    """Every way to take the newest version out, by its query."""
    asked = [f"scope={form.scope}" for form in FORMS]
    asked += [f"scope=chain&to={format.name}" for format in WRITTEN]
    asked += [f"scope=file&to={format.name}" for format in WRITTEN if not format.lines]
    found = {}
    for query in asked:
        answer = client.get(f"/c/{chain.pk}/v/{chain.version}/export?{query}")
        assert answer.status_code == 200, query
        found[query] = b"".join(answer.streaming_content)  # type: ignore[attr-defined]
    return found


@pytest.fixture
def client() -> Client:
    return Client()


@pytest.mark.parametrize("policy", [policy.name for policy in POLICIES])
def test_what_was_redacted_is_in_no_export(client: Client, policy: str) -> None:
    chain, _ = container(runs(GONE, ["nothing of it"] * 3))
    rows = {f"row-s{n}.p1.m1.c0": "redact" for n in range(1, 4)}
    saved(client, chain, "redact", policy=policy, **rows)
    for query, content in exports(client, chain).items():
        assert b"Lovelace" not in content, query
        assert b"the mill" not in content, query
    left = json.loads(exports(client, chain)["scope=file&to=openai_chat"])
    assert left["events"][0] == {
        "escaped once": "[redacted]",
        "escaped twice": '{"output": "[redacted]"}',
        "escaped three times": json.dumps(['{"output": "[redacted]"}']),
        "among other words": "Observation: [redacted] (end)",
    }
    assert left["runs"][0]["events"] == left["runs"][1]["seen"] == left["at the end"] == left["events"]
    assert left["runs"][1]["messages"] == conversation(["nothing of it"] * 3)


@pytest.mark.parametrize("strategy", ["replace", "mask", "pseudonym"])
def test_what_was_masked_is_in_no_export(client: Client, strategy: str) -> None:
    texts = [f"the token is {KEY} here", f"it is {MAIL}"]
    chain, _ = container(runs(texts, ["nothing of it"]))
    saved(client, chain, "mask", strategy=strategy)
    for query, content in exports(client, chain).items():
        assert KEY.encode() not in content, query
        assert MAIL.encode() not in content, query
    assert json.loads(exports(client, chain)["scope=file&to=openai_chat"])["events"][0]["escaped once"].startswith("the token is ")


def test_a_value_that_stood_only_around_the_messages_is_gone_from_the_file_too(client: Client) -> None:
    chain, _ = container({"seen": KEY, "runs": [{"env": KEY, "messages": conversation([MAIL])}, {"messages": conversation(["b"])}]})
    saved(client, chain, "mask")
    assert KEY.encode() not in exports(client, chain)["scope=file&to=openai_chat"]


def test_other_chains_keep_their_messages_and_the_page_names_them(client: Client) -> None:
    chain, other = container(runs(GONE, GONE[:1]))
    saved(client, chain, "redact")
    file = json.loads(exports(client, chain)["scope=file&to=openai_chat"])
    assert file["runs"][1]["messages"] == conversation(GONE[:1])
    assert "Lovelace" not in json.dumps([file["events"], file["runs"][0], file["runs"][1]["seen"]])
    page = client.get(f"/c/{chain.pk}/v/2/export").content.decode()
    assert "still hold some of it in their own messages" in page
    assert f'href="/c/{other.pk}/"' in page
    # taken out through the other chain, the file is the same
    assert json.loads(exports(client, other)["scope=file&to=openai_chat"]) == file


def test_what_was_restored_is_not_taken_out_of_the_file(client: Client) -> None:
    chain, _ = container(runs(GONE, ["nothing of it"] * 3))
    saved(client, chain, "redact")
    answer = client.post(f"/c/{chain.pk}/diff/1..2/restore", {"part": "2.0"})
    client.post(f"{answer['Location'].split('#')[0].split('?')[0]}save", {"note": ""})
    chain.refresh_from_db()
    assert chain.version == 3
    file = json.loads(exports(client, chain)["scope=file&to=openai_chat"])
    assert file["at the end"][0]["escaped once"] == GONE[0]
    assert file["at the end"][1]["escaped once"] == "[redacted]"


def test_a_branch_knows_what_was_redacted_before_it(client: Client) -> None:
    chain, _ = container(runs(GONE, ["nothing of it"] * 3))
    saved(client, chain, "redact")
    client.post(f"/c/{chain.pk}/versions/2/branch/")
    branch = Chain.objects.get(is_branch=True)
    for query, content in exports(client, branch).items():
        assert b"Lovelace" not in content, query
