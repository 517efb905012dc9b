"""Fifty canaries, planted in every spelling and every corner of a chain, are nowhere afterwards: not in tables, not in
the database's files, not on any page or download."""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import psycopg
import pytest
from django.conf import settings as django_settings
from django.db import connection
from django.test import Client

from chainviz.chains.models import Chain
from chainviz.chains.uploads import staging
from chainviz.drafts.models import Draft
from chainviz.jobs.models import Job
from chainviz.purge import jobs
from chainviz.review.labels import LabelChoice, set_label
from chainviz.review.models import Thread
from chainviz.review.requests.services import ask, dismiss, give_verdict
from chainviz.review.threads.writing import NewThread, begin
from chainviz.store.fsck import fsck
from tests.chains.files import send
from tests.chains.making import ai, human, make_chain
from tests.drafts.pages import fields_of, send_form
from tests.purge.canaries import CANARIES, COUNT, document, files, held, stored
from tests.store.test_fsck import is_buried
from tests.waiting import PATIENCE

ORPHAN = "0" * 32
"""Name of a waiting file that no upload knows."""
pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.database]


@pytest.fixture
def chain(client: Client) -> Chain:
    """A chain with versions, an edit that adds canaries, an open draft, a job and a title that hold some."""
    staging.path_of(ORPHAN).write_text(f"a killed upload with {CANARIES[0]}")
    send(client, ("run.json", document()))
    chain = Chain.objects.get()
    client.post(f"/c/{chain.pk}/rename/", {"title": f"About {CANARIES[1]}"})
    send_form(client, f"/c/{chain.pk}/edit/s2.p2?v=1", s2__p2__m0__c0__text=f"Rather {CANARIES[2]} {CANARIES[49]}.")
    draft = Draft.objects.get()
    client.post(f"/c/{chain.pk}/d/{draft.pk}/save", {"note": f"because of {CANARIES[3]}"})
    send_form(client, f"/c/{chain.pk}/do/redact/?v=2", act="apply")
    client.get(f"/c/{chain.pk}/d/{Draft.objects.latest('pk').pk}/")
    ask(chain, [chain.owner_id], f"because of {CANARIES[5]}", by=chain.owner)
    dismiss(give_verdict(chain, 1, "changes", f"There is {CANARIES[6]}", by=chain.owner), CANARIES[7], by=chain.owner)
    quoted = NewThread(1, Thread.Kind.TEXT, "s1.h.m1.c0", 4, 9, quote=CANARIES[8])
    begin(chain, chain.owner, quoted, f"```suggestion\n{CANARIES[9]}\n```")
    set_label(chain, LabelChoice(1, "", "tag", CANARIES[10]), by=chain.owner)
    Job.objects.create(owner=chain.owner, function="x.y", args={"text": CANARIES[4]}, created_at=chain.created_at)
    chain.refresh_from_db()
    return chain


def pages(client: Client, chain: Chain) -> bytes:
    at = f"/c/{chain.pk}"
    draft = Draft.objects.latest("pk").pk
    addresses = ["/", f"{at}/versions/", f"{at}/audit/", f"{at}/diff/1..2/", f"{at}/d/{draft}/", f"{at}/do/mask/?draft={draft}"]
    for version in (1, 2):
        base = f"{at}/v/{version}"
        addresses += [f"{base}/", f"{base}/problems", f"{base}/rows?from=s20", f"{base}/node/s2.p1", f"{base}/raw/s2.p1"]
        addresses += [f"{base}/export?scope={scope}" for scope in ("chain", "html", "markdown", "original")]
    found = []
    for address in addresses:
        answer = client.get(address)
        assert answer.status_code == 200, address
        found.append(b"".join(answer.streaming_content) if answer.streaming else answer.content)
    return b"\n".join(found)


def purge(client: Client, chain: Chain, **changed: str) -> Any:
    fields = {"values": "\r\n".join(CANARIES), "paths": "", "title": chain.title, "act": "purge", **changed}
    return client.post(f"/c/{chain.pk}/purge/", fields)


def test_no_canary_is_left_anywhere(client: Client, chain: Chain, caplog: Any) -> None:
    caplog.set_level(logging.DEBUG)
    old = bytes.fromhex(chain.sha256)
    assert len(held(stored())) == COUNT
    assert len(held(pages(client, chain))) == COUNT
    assert purge(client, chain).status_code == 303
    assert held(stored()) == []
    assert held(pages(client, chain)) == []
    assert held(files()) == []
    assert held(caplog.text.encode()) == []
    assert not staging.is_there(ORPHAN)
    assert is_buried(old)
    chain.refresh_from_db()
    assert old.hex() != chain.sha256
    assert [finding.text for finding in fsck() if finding.severity == "error"] == []


def test_a_word_of_the_product_leaves_its_own_records_readable(client: Client, chain: Chain) -> None:
    """A purge blanks the words in the records of an earlier one too, but no name that a page asks for."""
    purge(client, chain)
    chain.refresh_from_db()
    assert purge(client, chain, values="values\r\nchains").status_code == 303
    assert client.get(f"/c/{chain.pk}/audit/").status_code == 200
    assert [finding.text for finding in fsck() if finding.severity == "error"] == []


def test_versions_stay_and_read_as_before(client: Client, chain: Chain) -> None:
    before = json.loads(b"".join(client.get(f"/c/{chain.pk}/v/1/export?scope=chain").streaming_content))
    purge(client, chain)
    after = json.loads(b"".join(client.get(f"/c/{chain.pk}/v/1/export?scope=chain").streaming_content))
    assert [message["role"] for message in after["messages"]] == [message["role"] for message in before["messages"]]
    assert after["messages"][1]["content"].startswith("Say xxxx")
    assert after["messages"][2]["tool_calls"][0]["id"] == "c0"
    assert "basic" in json.loads(after["messages"][2]["tool_calls"][0]["function"]["arguments"])
    chain.refresh_from_db()
    assert chain.version == 2


def test_it_is_counted_first_and_the_title_sets_it_off(client: Client, chain: Chain) -> None:
    assert fields_of(client.get(f"/c/{chain.pk}/purge/").content.decode())["values"] == [""], "nobody typed yet"
    page = purge(client, chain, act="look").content.decode()
    assert "Type the title or the file name to confirm" in page
    assert "1 waiting or unfinished upload with such a value will be deleted" in page
    refused = purge(client, chain, title="About something else")
    assert refused.status_code == 422
    assert "This is not the title." in refused.content.decode()
    assert len(held(stored())) == COUNT


@pytest.mark.parametrize("values", ["abc", "role", "content\ntool_calls"])
def test_what_would_break_the_chain_is_refused_whole(client: Client, chain: Chain, values: str) -> None:
    before = stored(jobs=False)
    answer = purge(client, chain, values=values)
    assert answer.status_code == 422
    assert stored(jobs=False) == before


def test_whole_messages_go_with_every_copy_of_their_texts(client: Client, chain: Chain) -> None:
    answer = purge(client, chain, values="", paths="s1.p1.m1")
    assert answer.status_code == 303
    text = json.dumps({"nested": json.dumps({"v": CANARIES[0]})})
    assert json.dumps(text)[1:-1].encode() not in stored()
    assert CANARIES[0].encode() in stored()


def test_a_file_that_would_equal_another_one_is_refused_in_a_sentence(client: Client) -> None:
    """A file is stored once, so both cannot stay."""
    words = ("first-secret", "other-secret")
    for word in words:
        send(client, (f"{word}.json", json.dumps([{"role": "user", "content": f"my {word}"}]).encode()))
    first, other = Chain.objects.order_by("pk")
    assert purge(client, first, values=words[0]).status_code == 303
    before = stored(jobs=False)
    answer = purge(client, other, values=words[1])
    assert (answer.status_code, "Permanently delete one of the two chains" in answer.content.decode()) == (422, True)
    assert stored(jobs=False) == before


def test_values_are_purged_as_typed_or_in_other_cases(client: Client) -> None:
    made = make_chain([human("anna, Anna and ANNA MEIER wrote to Anna"), ai("Done.")])
    page = f"/c/{made.pk}/purge/"
    assert "Case counts" in client.get(page).content.decode()
    typed = {"values": "anna meier\r\nAnna", "paths": "", "title": "x"}
    answer = client.post(page, {**typed, "act": "cases"}).content.decode()
    values = re.search(r"<textarea[^>]*>\n(.*?)</textarea>", answer, re.DOTALL)
    assert values and values[1].split("\n") == ["anna meier", "ANNA MEIER", "Anna meier", "Anna Meier", "Anna", "anna", "ANNA"]
    assert 'value="x"' not in answer, "the title is typed after the count"
    counts = [count_of(client, page, text) for text in ("Anna", "ANNA", "anna", values[1])]
    assert 0 < min(counts) <= max(counts[:-1]) < counts[-1]


def count_of(client: Client, page: str, values: str) -> int:
    """How many places the page says that the values have."""
    answer = client.post(page, {"values": values, "paths": "", "act": "look"}).content.decode()
    found = re.search(r'notice-title">(\d+) places? with', answer)
    assert found
    return int(found[1])


def test_a_number_stays_a_number(client: Client) -> None:
    send(client, ("n.json", b'{"card": 4539578763621486, "messages": [{"role": "user", "content": "my 4539578763621486"}]}'))
    chain = Chain.objects.get()
    assert purge(client, chain, values="4539578763621486").status_code == 303
    after = json.loads(b"".join(client.get(f"/c/{chain.pk}/v/1/export?scope=chain").streaming_content))
    assert after == {"card": 1111111111111111, "messages": [{"role": "user", "content": "my 1111111111111111"}]}


@pytest.fixture
def postgresql() -> None:
    if connection.vendor != "postgresql":
        pytest.skip("SQLite has one database a file, and tests of its own in test_jobs.py")


@pytest.mark.usefixtures("postgresql")
def test_a_transaction_from_before_keeps_old_rows_and_the_purge_says_so(monkeypatch: pytest.MonkeyPatch, chain: Chain) -> None:
    monkeypatch.setattr(jobs, "WAITS", 1)
    other = connection.copy()
    other.set_autocommit(False)
    with closing(other), other.cursor() as reading:
        reading.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        reading.execute("SELECT 1")  # from here on it sees this state, and holds no table
        chain.save()
        assert jobs.settle() == jobs.BUSY
        other.rollback()
    monkeypatch.setattr(jobs, "WAITS", int(PATIENCE))  # tests beside this one write to the same server
    assert jobs.settle() == jobs.LOGGED


@pytest.mark.usefixtures("postgresql")
def test_a_writer_in_another_database_of_the_server_keeps_old_rows_and_the_purge_says_so(
    monkeypatch: pytest.MonkeyPatch, chain: Chain
) -> None:
    monkeypatch.setattr(jobs, "WAITS", 1)
    with psycopg.connect(django_settings.POSTGRESQL_URL, dbname="postgres") as other:
        other.execute("SELECT pg_current_xact_id()")
        assert jobs.settle() == jobs.BUSY


@pytest.mark.usefixtures("postgresql")
def test_a_transaction_that_begins_meanwhile_keeps_old_statistics_and_the_purge_says_so(
    monkeypatch: pytest.MonkeyPatch, chain: Chain
) -> None:
    monkeypatch.setattr(jobs, "WAITS", 1)
    other = connection.copy()
    other.set_autocommit(False)
    with closing(other), other.cursor() as reading:

        def labels() -> Iterator[str]:
            reading.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
            reading.execute("SELECT 1")
            yield from ("drafts", "chains")

        monkeypatch.setattr(jobs, "LABELS", labels())
        assert jobs.settle() == jobs.BUSY


@pytest.mark.usefixtures("postgresql")
def test_database_files_of_postgresql_hold_nothing(client: Client, chain: Chain, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobs, "WAITS", int(PATIENCE))  # tests beside this one write to the same server
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")  # statistics quote frequent values
    assert purge(client, chain).status_code == 303
    assert jobs.settle() == jobs.LOGGED
    with connection.cursor() as cursor:
        cursor.execute("CHECKPOINT")
        cursor.execute("SELECT relname, pg_relation_filepath(oid) FROM pg_class WHERE relkind IN ('r', 't', 'i') AND relfilenode > 0")
        found, size = {}, 0
        for name, path in cursor.fetchall():
            cursor.execute("SELECT pg_read_binary_file(%s)", [path])
            content = bytes(cursor.fetchone()[0])
            size += len(content)
            if held(content):
                found[name] = held(content)
    assert size and found == {}
    assert django_settings.POSTGRESQL
