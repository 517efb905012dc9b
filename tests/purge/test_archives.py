"""A purge reaches the compressed copy of what it takes out of an archive."""

from __future__ import annotations

import io
from typing import Any

import pytest
from django.test import Client

from chainviz.chains.models import Chain
from chainviz.core.documents.packed_files import zipfile
from chainviz.store.fsck import fsck
from tests.chains.files import send
from tests.core.documents.test_eval_archive import SAMPLE, archive

pytestmark = pytest.mark.django_db(transaction=True)


def original(client: Client, chain: Chain) -> bytes:
    answer: Any = client.get(f"/c/{chain.pk}/v/1/export?scope=original")
    return b"".join(answer.streaming_content)


def test_an_archive_is_kept_and_packed_anew_by_a_purge(client: Client) -> None:
    secret = "canary-5f1e0c"
    content = archive(zipfile.ZIP_ZSTANDARD, 1, **{"notes.json": f'["{secret}"]'.encode()})
    send(client, ("log.eval", content))
    chain = Chain.objects.get()
    assert original(client, chain) == content
    client.post(f"/c/{chain.pk}/purge/", {"values": secret, "paths": "", "title": chain.title, "act": "purge"})
    kept = zipfile.ZipFile(io.BytesIO(original(client, chain)))
    assert kept.read("samples/task_epoch_1.json") == SAMPLE
    assert secret.encode() not in kept.read("notes.json")
    assert [finding for finding in fsck() if finding.severity == "error"] == []
