"""An import does little for each message: counted in calls of functions, since every one costs about the same."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import Any

import pytest

from chainviz.core.documents.source import open_source
from chainviz.core.formats.offers import offers_of
from chainviz.store.transfer.imports import MessageList, import_chain

pytestmark = pytest.mark.django_db


def calling(number: int) -> dict[str, Any]:
    call = {"id": f"call_{number}", "type": "function", "function": {"name": "run", "arguments": '{"command": "ls"}'}}
    return {"role": "assistant", "content": "I look", "tool_calls": [call]}


def answering(number: int, content: str) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": f"call_{number}", "content": content}


def pairs(count: int) -> list[dict[str, Any]]:
    return [each for number in range(count) for each in (calling(number), answering(number, f"result {number}"))]


def results(count: int) -> list[dict[str, Any]]:
    """Return one pair of a call and many results."""
    return [calling(0), *(answering(0, f"result {number}") for number in range(count))]


def calls_to_import(rest: list[dict[str, Any]]) -> int:
    """Count the calls of functions, those written in C included, while a chain is imported."""
    messages = [{"role": "user", "content": f"go {len(rest)}"}, *rest]
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


@pytest.mark.parametrize(("talk", "most"), [(pairs, 225), (results, 205)])
def test_a_message_costs_few_calls(talk: Callable[[int], list[dict[str, Any]]], most: int) -> None:
    calls_to_import(talk(10))  # fills caches
    few, many = talk(500), talk(1_500)
    each = (calls_to_import(many) - calls_to_import(few)) / (len(many) - len(few))
    assert each < most, each
