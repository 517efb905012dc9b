"""A chain in a format that is only read offers a conversion, and nothing that would be refused afterwards."""

from __future__ import annotations

import json

import pytest
from django.test import Client

from chainviz.chains.models import Chain
from tests.chains.files import send

pytestmark = pytest.mark.django_db

CHUNKS = [{"id": "c", "object": "chat.completion.chunk", "choices": [{"index": 0, "delta": {"role": "assistant", "content": word}}]}
          for word in ("Hel", "lo")]  # fmt: skip
WHY = "is read-only: convert the chain to another format, then change that."


@pytest.fixture
def stream(client: Client) -> Chain:
    send(client, ("stream.jsonl", "".join(json.dumps(chunk) + "\n" for chunk in CHUNKS).encode()))
    return Chain.objects.get()


def test_the_explorer_says_why_and_offers_only_what_works(client: Client, stream: Chain) -> None:
    page = client.get(f"/c/{stream.pk}/").content.decode()
    assert WHY in page
    links = [name for name in ("repair", "mask", "redact", "compact", "summarize", "convert") if f"/{stream.pk}/do/{name}/" in page]
    assert links == ["convert"]
    assert 'data-action="edit"' not in page


@pytest.mark.parametrize("address", ["do/repair/", "do/mask/", "edit/s1.p1"])
def test_an_address_that_would_change_it_offers_a_conversion(client: Client, stream: Chain, address: str) -> None:
    page = client.get(f"/c/{stream.pk}/{address}")
    assert page.status_code == 200 and WHY in page.content.decode()
    assert f"/c/{stream.pk}/do/convert/" in page.content.decode()
    assert client.post(f"/c/{stream.pk}/{address}").status_code == 409
