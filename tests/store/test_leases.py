"""Imports that run beside other writers, fail, are cancelled, or are killed: nothing half is ever seen, nothing stays."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.db import connection, transaction

from chainviz.core.documents.source import open_source
from chainviz.core.errors import Refused
from chainviz.core.formats import get_format
from chainviz.core.formats.offers import look
from chainviz.store.content import runs, uploads
from chainviz.store.fsck import fsck
from chainviz.store.models import Body, Draft, History, Message, OutlineBlock, Run, Upload, UploadChunk, Version
from chainviz.store.purge.delete import delete_for_good
from chainviz.store.transfer import imports, leases
from chainviz.store.transfer.exports import export
from chainviz.store.transfer.imports import MessageList, import_chain
from chainviz.store.transfer.snapshot_writer import copied
from tests import ROOT
from tests.bench.made_chains import write_chain
from tests.jobs.test_killed_worker import database_url

pytestmark = [pytest.mark.database, pytest.mark.django_db(transaction=True)]
MODELS = (Upload, UploadChunk, History, Run, Message, Body, OutlineBlock, Version)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return write_chain(tmp_path / "made.json", 3000)


def imported(file: Path, **how: Any) -> Version:
    with open_source(file) as source:
        return import_chain(MessageList(source, look(source).lists[0], get_format("openai_chat")), owner="me", **how)


def rows() -> list[int]:
    return [model._default_manager.count() for model in MODELS]


def errors() -> list[str]:
    return [finding.text for finding in fsck() if finding.severity == "error"]


def test_others_write_while_a_big_file_is_imported(tmp_path: Path) -> None:
    version = imported(write_chain(tmp_path / "small.json", 10))
    big = write_chain(tmp_path / "big.json", 12_000)
    ended = threading.Event()

    def work() -> None:
        with closing(connection):
            try:
                imported(big)
            finally:
                ended.set()

    thread = threading.Thread(target=work)
    thread.start()
    while not ended.wait(0.01):
        Draft.objects.create(history=version.history, base=version, author="me")
        assert not Version.objects.exclude(history__importing=None).exists(), "a half chain shows"
    thread.join()
    assert Version.objects.count() == 2
    assert Draft.objects.count() > 10, "usually 40; one long transaction lets one or two in"


@pytest.mark.parametrize("fault", [Refused("no"), OSError("no more room"), KeyboardInterrupt()])
def test_what_fails_leaves_nothing(file: Path, fault: BaseException, monkeypatch: Any) -> None:
    monkeypatch.setattr(leases, "MESSAGES", 700)
    monkeypatch.setattr(runs, "BATCH", 1000)

    def fail(done: float, text: str) -> None:
        if done > 0.8:
            assert Message.objects.count() >= 2000, "the batches before are written"
            raise fault

    with pytest.raises(type(fault)):
        imported(file, progress=fail)
    assert rows() == [0] * len(MODELS)


def test_what_fails_at_the_very_end_leaves_nothing(file: Path) -> None:
    def refuse(version: Version) -> None:
        raise ValueError("somebody was faster")

    with pytest.raises(ValueError, match="faster"):
        imported(file, arrived=refuse)
    assert rows() == [0] * len(MODELS)


def test_a_copy_is_written_in_short_transactions_and_seen_at_its_end(file: Path, monkeypatch: Any) -> None:
    version = imported(file)
    monkeypatch.setattr(runs, "BATCH", 500)
    seen = []

    def add(self: Any, message: Any, original: Any = runs.RunWriter.add) -> Any:
        if self.count % 500 == 250:
            assert not connection.in_atomic_block, "others can write"
            seen.append(Message.objects.count())
        return original(self, message)

    monkeypatch.setattr(runs.RunWriter, "add", add)
    with copied(version.snapshot) as finish, transaction.atomic():
        assert Version.objects.count() == 1
        copy = finish(author="me")
    assert len(set(seen)) == len(seen) > 3, "each batch is written before the next"
    assert b"".join(export(copy.snapshot)) == file.read_bytes()
    assert errors() == [] and Upload.objects.count() == 1


def test_a_copy_that_fails_or_is_overtaken_by_a_purge_leaves_nothing(file: Path) -> None:
    version = imported(file)
    before = rows()
    with pytest.raises(ValueError, match="faster"), copied(version.snapshot) as finish, transaction.atomic():
        finish(author="me")
        raise ValueError("somebody was faster")
    assert rows() == before
    with pytest.raises(Refused, match="purged"), copied(version.snapshot) as finish, transaction.atomic():
        History.objects.filter(pk=version.history_id).update(edition=1)
        finish(author="me")
    assert rows() == before and errors() == []


KILLED = """
import os, signal, sys
from pathlib import Path
from chainviz.commands.server.startup import set_up_django
set_up_django()
from chainviz.store.content import runs
runs.BATCH = 1000
from tests.store.test_leases import imported
def die(done, text):
    if done > float(sys.argv[2]):
        os.kill(os.getpid(), signal.SIGKILL)
imported(Path(sys.argv[1]), progress=die)
"""


def test_kill_9_leaves_nothing_that_is_seen_and_then_nothing(file: Path, tmp_path: Path, monkeypatch: Any) -> None:
    environment = {**os.environ, "CHAINVIZ_DATABASE_URL": database_url(), "CHAINVIZ_DATA": str(tmp_path)}
    environment.pop("DJANGO_SETTINGS_MODULE", None)
    for share in ("-1", "0.5"):
        killed = subprocess.run([sys.executable, "-c", KILLED, str(file), share], cwd=ROOT, env=environment)
        assert killed.returncode == -9
    assert History.objects.count() == 2 and not Version.objects.exists()
    assert errors() == []
    assert leases.clear_abandoned() == 0, "it may still be alive"
    monkeypatch.setattr(leases, "LEASE", timedelta(0))
    version = imported(file)
    assert leases.clear_abandoned() == 2
    assert b"".join(export(version.snapshot)) == file.read_bytes()
    assert errors() == [] and History.objects.count() == Upload.objects.count() == 1
    delete_for_good(version.history)
    assert rows() == [0] * len(MODELS)


def test_an_import_that_slept_too_long_finds_out(file: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr(leases, "LEASE", timedelta(0))

    def sleep(done: float, text: str) -> None:
        if done > 0.2:
            leases.clear_abandoned()

    with pytest.raises(leases.BrokenOff):
        imported(file, progress=sleep)
    assert rows() == [0] * len(MODELS)


def test_an_upload_goes_on_where_another_import_of_it_stopped(file: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr(uploads, "WRITTEN_CHUNKS", 2)
    write = uploads._write
    begun: list[int] = []

    def stop(upload: Upload, source: Any, indexes: range) -> None:
        if indexes[0] == 6:
            raise KeyboardInterrupt
        write(upload, source, indexes)

    def look(upload: Upload, source: Any, indexes: range) -> None:
        begun.append(indexes[0])
        write(upload, source, indexes)

    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(uploads, "_write", stop)
        patched.setattr(imports, "discard", lambda history: None)
        imported(file)
    monkeypatch.setattr(uploads, "_write", look)
    version = imported(file)
    assert begun[:2] == [6, 8]
    monkeypatch.setattr(leases, "LEASE", timedelta(0))
    assert leases.clear_abandoned() == 1
    assert b"".join(export(version.snapshot)) == file.read_bytes() and errors() == []


def test_two_import_the_same_file_at_once(file: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr(uploads, "WRITTEN_CHUNKS", 1)
    versions: list[Version] = []

    def work() -> None:
        with closing(connection):
            versions.append(imported(file))

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(versions) == 2 and Upload.objects.count() == 1
    assert all(b"".join(export(version.snapshot)) == file.read_bytes() for version in versions)
    assert errors() == []
