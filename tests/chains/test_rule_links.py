"""A problem of a provider leads to its rule in the help; a call that the API stores is no problem on any page."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.test import Client

from tests.chains.making import make_chain_of

pytestmark = pytest.mark.django_db
CALL = {"type": "function_call", "call_id": "call_1", "name": "docks", "arguments": "{}"}
OUTPUT = {"type": "function_call_output", "call_id": "call_1", "output": "4"}


def page(client: Client, document: dict[str, Any], address: str = "problems?provider=openai-responses") -> str:
    chain = make_chain_of(json.dumps({"model": "gpt-5.6", **document}).encode())
    return client.get(f"/c/{chain.pk}/v/1/{address}").content.decode()


def test_problem_leads_to_its_rule(client: Client) -> None:
    document = {"input": [{"role": "user", "content": "Docks?"}, CALL, {"role": "user", "content": "Docks?"}]}
    assert 'href="/help/provider-rules/#openai-responses-result-missing"' in page(client, document)
    assert 'id="openai-responses-result-missing"' in client.get("/help/provider-rules/").content.decode()


def test_call_that_the_api_stores_is_not_checked(client: Client) -> None:
    document = {"previous_response_id": "resp_1", "input": [OUTPUT]}
    text = page(client, document)
    assert "Not fully checked" in text or "not checked" in text
    assert "result-without-call" not in text
    assert "Structure valid" in page(client, document, "problems?provider=structure")
