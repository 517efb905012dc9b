"""Purges as jobs: counted and carried out by workers, killed at any moment, with little memory."""

from __future__ import annotations

import gc
import json
import os
import subprocess
import sys
import time
import tracemalloc
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.test import Client

from chainviz.chains.audit import AuditEntry
from chainviz.chains.models import Chain
from chainviz.jobs.models import Job
from chainviz.jobs.tasks import run_job
from chainviz.purge import jobs as work
from chainviz.purge.jobs import BUSY, CLEAN, start_purge
from chainviz.store.content.uploads import CHUNK
from chainviz.store.fsck import fsck
from chainviz.store.models import History, Run, Upload, UploadChunk
from chainviz.store.purge.values import purge_values, reach
from tests import ROOT
from tests.chains.files import send
from tests.chains.making import ai, human, make_chain_of
from tests.jobs.test_killed_worker import database_url
from tests.purge.canaries import CANARIES, document, held, stored
from tests.waiting import wait_for

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.database]
LEASE = 4
WORKER = """
import sys
from datetime import timedelta
from pathlib import Path
from chainviz.commands.server.startup import set_up_django
set_up_django()
from chainviz.jobs import lease
lease.LEASE = timedelta(seconds={lease})
import chainviz.purge.jobs as work
mark, named = Path(sys.argv[1]), sys.argv[2]
if named:
    whole = getattr(work, named)
    def hang(*given):
        made = whole(*given) if named == "blank_rows" else None
        mark.touch()
        threading.Event().wait()
        return made
    import threading
    setattr(work, named, hang)
from chainviz.cli import main
main(["worker"])
"""


@pytest.fixture
def chain(client: Client) -> Chain:
    send(client, ("run.json", document()))
    return Chain.objects.get()


@pytest.fixture
def nothing_is_small(monkeypatch: Any) -> None:
    monkeypatch.setattr(work, "AT_ONCE", -1)


@pytest.mark.slow
@pytest.mark.parametrize("moment", ["blank_rows", "judge"])
def test_killed_it_has_changed_nothing_or_is_finished_by_the_next_worker(
    chain: Chain, nothing_is_small: None, tmp_path: Path, moment: str
) -> None:
    """The worker is killed before or after the end of the transaction."""
    environment = {**os.environ, "CHAINVIZ_DATABASE_URL": database_url(), "CHAINVIZ_DATA": str(tmp_path)}
    environment.pop("DJANGO_SETTINGS_MODULE", None)
    mark = tmp_path / "reached"

    def worker(hangs_at: str) -> subprocess.Popen[bytes]:
        code = WORKER.format(lease=LEASE)
        return subprocess.Popen([sys.executable, "-c", code, str(mark), hangs_at], cwd=ROOT, env=environment)

    before = stored(jobs=False)
    job = start_purge(chain, "\n".join(CANARIES), "", (), by=chain.owner)
    first = worker(moment)
    try:
        wait_for(mark.exists, tell=lambda: "the purge never came so far")
    finally:
        first.kill()
        first.wait()
    if moment == "blank_rows":
        assert stored(jobs=False) == before
    else:
        assert held(stored()) == []
    second = worker("")
    try:
        wait_for(lambda: Job.objects.get(pk=job.pk).is_finished, tell=lambda: Job.objects.get(pk=job.pk).message)
    finally:
        second.kill()
        second.wait()
    done = Job.objects.get(pk=job.pk)
    assert (done.state, done.attempts) == (Job.State.DONE, 2), done.message
    assert held(stored()) == []
    assert AuditEntry.objects.filter(act="purge").count() == 1
    assert [finding.text for finding in fsck() if finding.severity == "error"] == []


def test_a_long_look_and_a_long_purge_can_be_left_and_found_again(client: Client, chain: Chain, nothing_is_small: None) -> None:
    address = f"/c/{chain.pk}/purge/"
    form = {"values": CANARIES[3], "paths": "", "title": ""}
    waiting = client.post(address, {**form, "act": "look"})
    assert waiting.status_code == 303
    assert "Counting the places" in client.get(address).content.decode()
    run_job(Job.objects.latest("pk").pk)
    counted = client.get(waiting["Location"]).content.decode()
    assert "places with 1 value" in counted
    assert "Type the title or the file name to confirm" in counted
    assert "zq3811xw" in counted
    misnamed = client.post(address, {**form, "title": "something else", "act": "purge"})
    run_job(Job.objects.latest("pk").pk)
    assert "This is not the title. Nothing was purged." in client.get(misnamed["Location"]).content.decode()
    purging = client.post(address, {**form, "title": chain.title, "act": "purge"})
    assert "Purging" in client.get(address).content.decode()
    run_job(Job.objects.latest("pk").pk)
    assert client.get(purging["Location"])["Location"] == f"/c/{chain.pk}/audit/"
    assert CANARIES[3] not in held(stored())
    assert "Purging" not in client.get(address).content.decode()


def test_it_can_be_stopped_until_it_writes(client: Client, chain: Chain, nothing_is_small: None) -> None:
    form = {"values": CANARIES[3], "paths": "", "title": chain.title, "act": "purge"}
    waiting = client.post(f"/c/{chain.pk}/purge/", form)["Location"]
    assert "Stop" in client.get(waiting).content.decode()
    number = Job.objects.latest("pk").pk
    client.post(waiting, {"act": "stop"})
    run_job(number)
    assert len(held(stored(jobs=False))) == len(CANARIES)
    waiting = client.post(f"/c/{chain.pk}/purge/", form)["Location"]
    Job.objects.update(state=Job.State.RUNNING, progress=0.05)
    assert "Stop" not in client.get(waiting).content.decode()
    client.post(waiting, {"act": "stop"})
    assert not Job.objects.latest("pk").cancel_requested


def test_keeping_everything_forgets_what_was_typed(client: Client, chain: Chain) -> None:
    value = "typed but nowhere else"
    page = client.post(f"/c/{chain.pk}/purge/", {"values": value, "paths": "", "title": "", "act": "look"})
    assert "0 places" in page.content.decode()
    assert value.encode() in stored()
    client.post(f"/c/{chain.pk}/purge/", {"act": "keep"})
    assert value.encode() not in stored()


@pytest.mark.parametrize("is_ticked", [True, False])
def test_chains_of_other_files_are_listed_and_go_when_they_are_ticked(client: Client, chain: Chain, is_ticked: bool) -> None:
    other = make_chain_of(json.dumps([human(f"also {CANARIES[9]}"), ai("yes")]).encode(), "other.json")
    form = {"values": CANARIES[9], "paths": "", "title": chain.title}
    page = client.post(f"/c/{chain.pk}/purge/", {**form, "act": "look"}).content.decode()
    assert f'name="also" value="{other.pk}"' in page
    client.post(f"/c/{chain.pk}/purge/", {**form, "act": "purge", "also": [other.pk] if is_ticked else []})
    assert (CANARIES[9] in held(stored())) != is_ticked


def test_the_audit_and_the_page_say_what_the_files_may_still_hold(client: Client, chain: Chain, monkeypatch: Any) -> None:
    monkeypatch.setattr(work, "settle", lambda: BUSY)
    form = {"values": CANARIES[3], "paths": "", "title": chain.title, "act": "purge"}
    page = client.post(f"/c/{chain.pk}/purge/", form, follow=True).content.decode()
    assert page.count("freed space in its files may hold old bytes") == 2


def test_a_reader_of_sqlite_keeps_the_log_from_being_called_clean(chain: Chain, monkeypatch: Any) -> None:
    if connection.vendor != "sqlite":
        pytest.skip("this is about the write-ahead log of SQLite")
    from chainviz.purge import jobs as settling

    monkeypatch.setattr(settling, "PAUSE", 0.01)
    assert settling.settle() == CLEAN
    reader = "import sqlite3, sys; c = sqlite3.connect(sys.argv[1], isolation_level=None); c.execute('BEGIN');" + (
        "c.execute('SELECT count(*) FROM store_run').fetchall(); print('reading', flush=True); sys.stdin.read()"
    )
    name = str(connection.settings_dict["NAME"])
    process = subprocess.Popen([sys.executable, "-c", reader, name], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdout is not None and process.stdout.readline()
    try:
        History.objects.create()
        with connection.cursor() as cursor:
            cursor.execute("PRAGMA busy_timeout = 50")
        assert settling.settle() == BUSY
    finally:
        process.communicate()
        with connection.cursor() as cursor:
            cursor.execute("PRAGMA busy_timeout = 20000")


def test_a_large_upload_is_never_in_memory(chain: Chain) -> None:
    chunks = 120
    upload = Upload.objects.create(
        owner="x", sha256="0" * 64, size=chunks * CHUNK, length=chunks * CHUNK, filename="f", encoding="utf-8", bom=False
    )
    filler = os.urandom(CHUNK // 2).hex().encode()
    for index in range(chunks):
        UploadChunk.objects.create(upload=upload, index=index, content=filler)
    history = History.objects.create()
    Run.objects.create(history=history, kind=Run.IMPORT, format="raw", upload=upload)
    value = filler[-20:].decode() + filler[:20].decode()  # across every boundary
    gc.collect()
    tracemalloc.start()
    assert reach((history.pk,), (value,)).places == chunks - 1
    purge_values((history.pk,), (value,), reason="test")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 0.6 * chunks * CHUNK, f"{peak:,} bytes at once"
    assert reach((history.pk,), (value,)).places == 0


def test_time_grows_with_the_bytes_and_not_with_the_values() -> None:
    from chainviz.store.purge.blanking import Blanks

    def cpu(count: int) -> float:
        blanks = Blanks(f"value number {number:04}" for number in range(count))
        content = b"nothing of interest in here, " * 300_000
        best = 9e9
        for _ in range(3):
            started = time.process_time()
            assert blanks.count((content,)) == 0
            best = min(best, time.process_time() - started)
        return best

    assert cpu(200) < 20 * max(cpu(2), 0.005)
