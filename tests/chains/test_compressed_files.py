"""Compressed files in the library: uploaded, opened from a folder, and exported as the file inside them."""

from __future__ import annotations

from gzip import compress
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from chainviz.accounts.models import local_member
from chainviz.chains.folders.choose_folders import watch
from chainviz.chains.models import Chain, LocalFile
from chainviz.chains.uploads import arrivals
from chainviz.core.documents.packed_files import zstd
from chainviz.jobs.models import Job
from chainviz.store.models import Upload, Version
from chainviz.store.transfer.exports import export
from tests.chains.files import chat, send, send_row
from tests.store.test_growth import session

pytestmark = pytest.mark.django_db


def test_an_uploaded_file_is_the_one_inside_it(client: Client) -> None:
    send(client, ("rollout.jsonl.zst", zstd.compress(session(4))))
    chain = Chain.objects.get()
    assert (chain.file_name, chain.messages) == ("rollout.jsonl", 4)
    assert b"".join(export(Version.objects.get(history=chain.history).snapshot)) == session(4)
    send(client, ("rollout.jsonl", session(4)))
    assert Chain.objects.get() == chain


def test_no_more_is_decompressed_than_may_be_uploaded(client: Client, settings: Any) -> None:
    settings.CHAINVIZ = settings.CHAINVIZ.model_copy(update={"max_upload_mb": 1})
    answer = send_row(client, "chat.json.gz", compress(chat(say="x" * 1_100_000)))
    assert answer.status_code == 422
    assert "decompresses to more than 1 MB" in answer.content.decode()
    assert not Upload.objects.exists()


def test_a_file_that_is_big_inside_is_imported_by_a_job(client: Client, monkeypatch: Any) -> None:
    monkeypatch.setattr(arrivals, "BIG", 5_000)
    send(client, ("chat.json.gz", compress(chat(say="x" * 10_000))))
    assert Job.objects.count() == 1 and not Chain.objects.exists()


def test_folders_list_and_open_them(client: Client, tmp_path: Path) -> None:
    path = tmp_path / "rollout.jsonl.zst"
    path.write_bytes(zstd.compress(session(4)))
    (tmp_path / "picture.bin.gz").write_bytes(compress(b"no transcript"))
    number = watch(local_member(), str(tmp_path)).number
    text = client.get("/folders/").content.decode()
    assert path.name in text and "picture" not in text
    client.post("/folders/open/", {"folder": number, "file": path.name})
    assert LocalFile.objects.get().path == str(path)
    assert Chain.objects.get().messages == 4
