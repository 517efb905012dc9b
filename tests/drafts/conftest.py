from __future__ import annotations

import json
from typing import Any

import pytest
from django.test import Client

from chainviz.chains.models import Chain
from tests.chains.files import send
from tests.own_data import own_data_folder  # noqa: F401

CALL = {"id": "call_1", "type": "function", "function": {"name": "read_file", "arguments": '{"path": "a.py"}'}}
OPEN_CALL = {"id": "call_2", "type": "function", "function": {"name": "grep", "arguments": '{"q": "x"'}}
BROKEN: list[dict[str, Any]] = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": "Why is it red?"},
    {"role": "user", "content": "(hurry)"},
    {"role": "assistant", "content": "Let me look.", "tool_calls": [CALL, OPEN_CALL]},
    {"role": "tool", "tool_call_id": "call_1", "content": "print('<b>')"},
    {"role": "assistant", "content": "It is the clock."},
    {"role": "user", "content": "Thanks"},
    {"role": "assistant", "content": "You are welcome."},
]


@pytest.fixture
def chain(client: Client) -> Chain:
    """A chain with two human messages in a row, a call without a result, and arguments that are invalid JSON."""
    send(client, ("broken.json", json.dumps(BROKEN).encode()))
    return Chain.objects.get()
