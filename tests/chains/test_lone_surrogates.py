"""A lone surrogate in a tool's name, a call's id or a role: every page answers, and a repair can be saved."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from django.test import Client

from chainviz.chains.models import Chain
from tests.chains.files import send

pytestmark = pytest.mark.django_db
LONE = "\ud83d"


def calling(id: str, name: str) -> dict[str, Any]:
    call = {"id": id, "type": "function", "function": {"name": name, "arguments": "{"}}
    return {"role": "assistant", "content": None, "tool_calls": [call]}


USER = {"role": "user", "content": "hi"}
CHAINS: dict[str, list[dict[str, Any]]] = {
    "tool name": [USER, calling("c1", f"f{LONE}"), USER],
    "call id": [USER, calling(f"c{LONE}", "f"), {"role": "tool", "tool_call_id": f"d{LONE}", "content": "x"}, USER],
    "role": [USER, {"role": f"ex{LONE}", "content": "x"}, {"role": "assistant", "content": "x"}],
}


def test_the_key_of_a_chain_in_its_file(client: Client) -> None:
    for key in (LONE, "\0") * 2:
        content = json.dumps({f"a{key}": {"messages": [USER]}}).encode()
        client.post("/api/v1/uploads?name=keys.json", content, content_type="application/octet-stream")
    assert sorted(Chain.objects.values_list("pointer", flat=True)) == ["/a\\ud83d/messages", "/a\\x00/messages"]


@pytest.mark.parametrize("place", CHAINS)
def test_every_page_answers_and_a_repair_is_saved(client: Client, place: str) -> None:
    send(client, ("chain.json", json.dumps(CHAINS[place]).encode()))
    chain = Chain.objects.get()
    operations = [f"do/{name}/?v=1" for name in ("redact", "mask", "summarize", "compact", "convert")]
    for page in ("v/1/", "v/1/problems?provider=anthropic", "v/1/inspect/s1.p1", "edit/s1.p1?v=1", "repair/?v=1", *operations):
        assert client.get(f"/c/{chain.pk}/{page}").status_code == 200, page
    form = client.get(f"/c/{chain.pk}/repair/?v=1").content.decode()
    ticked = [field for field in re.findall("<input[^>]*>", form) if "checked" in field or 'type="hidden"' in field]
    data: dict[str, list[str]] = {"act": ["preview"]}
    for field in ticked:
        name, value = re.search('name="([^"]*)"', field), re.search('value="([^"]*)"', field)
        if name:
            data.setdefault(name[1], []).append(value[1] if value else "on")
    draft = client.post(f"/c/{chain.pk}/repair/?v=1", data)
    assert draft.status_code == 303 or draft.status_code == 302
    assert client.get(draft["Location"]).status_code == 200
    saved = client.post(f"{draft['Location'].split('?')[0]}save", {"note": ""})
    assert client.get(saved["Location"]).status_code == 200
    chain.refresh_from_db()
    assert chain.version == 2
