"""The page of problems: the provider of the next call first, and what the agent no longer sends apart."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.test import Client

from chainviz.store.content.message_reader import BodyReader
from tests.chains.making import make_chain_of
from tests.cli.fix.sessions import COMPACTED, SHARED, answered, called, json_lines, said, told

pytestmark = pytest.mark.django_db
BOUNDARY = {"type": "system", "subtype": "compact_boundary", "content": "Conversation compacted", "logicalParentUuid": "u2"}
BEFORE = [said(0, "Look"), called(1, "t1"), said(2, "Are you there?"), {"parentUuid": None, **SHARED, **BOUNDARY, "uuid": "u3"}]
SUMMARY = said(4, "The summary.", **COMPACTED)


def problems_of(client: Client, *lines: dict[str, object], **query: str) -> str:
    chain = make_chain_of(json_lines([*BEFORE, SUMMARY, *lines]), "session.jsonl")
    page = client.get(f"/c/{chain.pk}/v/1/problems", query).content.decode()
    return re.sub(r"\s+", " ", page[page.index("<main") :])


def test_an_accepted_session_lists_its_older_errors_apart(client: Client) -> None:
    page = problems_of(client, told(5, "Done."))
    assert "Anthropic Messages accepts the next call" in page and "1 more error in messages that the agent no longer sends" in page
    assert page.count("no longer sent") == 1 and 'data-kind="primary" href' not in page


def test_errors_of_the_next_call_come_first(client: Client) -> None:
    page = problems_of(client, answered(5, "t9"), told(6, "Done."))
    assert "would refuse the next call: 1 error." in page and "Fix 1 problem" in page
    assert page.index("Result without call") < page.index("no longer sent") < page.index("Show 1.1")


def test_the_structure_is_one_of_the_other_verdicts(client: Client) -> None:
    page = problems_of(client, answered(5, "t9"), told(6, "Done."), provider="structure")
    assert re.search(r"\d problems? in the structure of the chain", page) and "rphan" in page


def test_only_shown_messages_are_read_again(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = [*BEFORE, SUMMARY, *(told(number, "Done.") for number in range(5, 65))]
    address = f"/c/{make_chain_of(json_lines(lines), 'session.jsonl').pk}/v/1/problems"
    first = client.get(address).content.decode()
    read: list[Any] = []
    sources = BodyReader.sources
    monkeypatch.setattr(BodyReader, "sources", lambda reader, rows: read.extend(rows) or sources(reader, rows))
    again = client.get(address).content.decode()
    assert again.count("no longer sent") == first.count("no longer sent") == 1
    assert len(read) < 10
