"""A text that Inspect keeps among the attachments is shown where it is referred to; the reference stays what is exported."""

from __future__ import annotations

import json

import pytest
from django.test import Client

from chainviz.chains.models import Chain
from tests.chains.files import send

HASH = "0123456789abcdef" * 2
LOG = {
    "id": 1, "epoch": 1, "target": "x", "input": "go",
    "messages": [
        {"role": "user", "content": f"attachment://{HASH}"},
        {"role": "assistant", "content": f"I read attachment://{'f' * 32}."},
    ],
    "attachments": {HASH: "A long <b>task</b>\nof two lines."},
}  # fmt: skip


@pytest.mark.django_db
def test_an_attachment_is_shown_and_the_bytes_stay(client: Client) -> None:
    content = json.dumps(LOG).encode()
    send(client, ("sample.json", content))
    chain = Chain.objects.get()
    page = client.get(f"/c/{chain.pk}/v/1/node/s1.h").content.decode()
    assert "A long &lt;b&gt;task&lt;/b&gt;\nof two lines." in page
    assert page.count("kept beside the messages") == 1
    export = client.get(f"/c/{chain.pk}/v/1/export?scope=chain")
    assert b"".join(export.streaming_content) == content  # type: ignore[attr-defined]


@pytest.mark.django_db
@pytest.mark.parametrize("query", ["scope=chain&to=openai_chat", "scope=html", "scope=markdown"])
def test_a_download_in_another_form_holds_the_attached_text(client: Client, query: str) -> None:
    send(client, ("sample.json", json.dumps(LOG).encode()))
    export = client.get(f"/c/{Chain.objects.get().pk}/v/1/export?{query}")
    content = b"".join(export.streaming_content).decode()  # type: ignore[attr-defined]
    assert "of two lines." in content
    assert HASH not in content
