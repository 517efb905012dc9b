"""Calls and responses of Gemini that have no ids, or ids on one side only."""

from __future__ import annotations

import json

import pytest

from chainviz.core.chain.messages import ToolResult
from chainviz.core.chain.problems import tree_problems
from chainviz.core.chain.tree import parse
from chainviz.core.load import load_file
from tests.core.formats.chains import exported

CALL = {"functionCall": {"name": "glob", "args": {"pattern": "*"}}}
NAMED = {"role": "model", "parts": [CALL]}


def answered(*ids: str) -> dict[str, object]:
    responses = [{"functionResponse": {"id": id, "name": "glob", "response": {"output": id}}} for id in ids]
    return {"role": "user", "parts": responses}


@pytest.mark.parametrize("calls", [1, 2])
def test_calls_without_ids_are_answered_by_responses_whose_ids_the_program_made(calls: int) -> None:
    """Histories of Gemini CLI of 2025 have such calls."""
    ids = [f"glob-175250887952{place}-3c6e" for place in range(calls)]
    contents = [{"role": "user", "parts": [{"text": "List."}]}, {**NAMED, "parts": [CALL] * calls}, answered(*ids)]
    content = json.dumps(contents).encode()
    (chain,) = load_file(content)
    assert not list(tree_problems(parse(chain.messages)))
    assert exported(content, chain) == content


def test_ids_of_the_api_stay_what_they_are() -> None:
    (chain,) = load_file(json.dumps([NAMED, answered("call_7")]).encode())
    assert [part.call_id for part in chain.messages[1].parts if isinstance(part, ToolResult)] == ["call_7"]
