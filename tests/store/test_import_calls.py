"""An import does little for each message: counted in calls of functions, since every one costs about the same."""

from __future__ import annotations

import json
import sys
from typing import Any

import pytest

from chainviz.core.documents.source import open_source
from chainviz.core.formats.offers import offers_of
from chainviz.store.transfer.imports import MessageList, import_chain

pytestmark = pytest.mark.django_db


def calls_to_import(pairs: int) -> int:
    """Count the calls of functions, those written in C included, while a chain is found in its file and imported."""
    messages: list[dict[str, Any]] = [{"role": "user", "content": f"go {pairs}"}]
    for number in range(pairs):
        call = {"id": f"call_{number}", "type": "function", "function": {"name": "run", "arguments": '{"command": "ls"}'}}
        messages += [{"role": "assistant", "content": "I look", "tool_calls": [call]}]
        messages += [{"role": "tool", "tool_call_id": f"call_{number}", "content": f"result {number}"}]
    count = 0

    def note(frame: Any, event: str, argument: Any) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    with open_source(json.dumps({"model": "m", "messages": messages}).encode()) as source:
        found = offers_of(source)[0]
        sys.setprofile(note)
        try:
            import_chain(MessageList(source, found.found, found.formats[0]), owner="me")
        finally:
            sys.setprofile(None)
    return count


def test_a_message_costs_few_calls() -> None:
    calls_to_import(10)  # fills caches
    few, many = calls_to_import(500), calls_to_import(1_500)
    each = (many - few) / 2_000
    assert each < 240, each  # usually 219
