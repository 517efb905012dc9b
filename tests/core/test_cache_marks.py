"""More than four blocks with cache_control in one request of Anthropic's API: found, told in its words, and repaired."""

from __future__ import annotations

import json
from copy import deepcopy
from typing import Any

import pytest

import chainviz
from chainviz.core.pasted_errors.locate import locate_error
from chainviz.core.pasted_errors.message import read_error

MARK = {"cache_control": {"type": "ephemeral"}}
SAYS = "A maximum of 4 blocks with cache_control may be provided."
TOOLS = [{"name": "look", "input_schema": {"type": "object", "properties": {"cache_control": {"type": "string"}}}, **MARK}]


def text(words: str, **members: Any) -> dict[str, Any]:
    return {"type": "text", "text": words, **members}


def request(marked: int, **members: Any) -> dict[str, Any]:
    """Four messages: in the third a marked result beside `marked - 1` marked texts."""
    texts = [text(f"note {number}", **MARK) for number in range(marked - 1)]
    result = {"type": "tool_result", "tool_use_id": "toolu_1", "content": [text("seen", **MARK)]}
    return {
        "model": "claude-sonnet-4-5", **members,
        "messages": [
            {"role": "user", "content": "hi"},
            {"role": "assistant", "content": [{"type": "tool_use", "id": "toolu_1", "name": "look", "input": {}}]},
            {"role": "user", "content": [result, *texts]},
            {"role": "assistant", "content": "done"},
        ],
    }  # fmt: skip


def loaded(document: Any) -> chainviz.Chain:
    (chain,) = chainviz.load(json.dumps(document).encode(), "anthropic")
    return chain


def said(chain: chainviz.Chain) -> list[str]:
    return [each.text for each in chain.problems("anthropic") if each.rule == "cache-marks"]


SYSTEM = {"system": [text("You help.", **MARK)]}


@pytest.mark.parametrize(
    ("document", "marked"),
    [
        (request(4), 0),
        (request(5), 5),
        (request(4, **SYSTEM), 5),
        (request(3, **SYSTEM), 0),
        (request(4, tools=TOOLS), 5),
        (request(3, tools=TOOLS), 0),
        (request(4, **MARK), 5),
        (request(4, tools=TOOLS, **SYSTEM), 6),
    ],
)
def test_blocks_of_messages_system_and_tools_count(document: Any, marked: int) -> None:
    chain = loaded(document)
    assert [f"{marked} cache_control blocks" in each and SAYS in each for each in said(chain)] == [True] * bool(marked)
    assert chain.verdict("anthropic").errors == bool(marked)


def test_the_words_of_the_api_lead_to_it() -> None:
    chain = loaded(request(5))
    located = locate_error(read_error(f"{SAYS} Found 5."), chain.messages, chain.format)
    assert (located.problems[0].rule, located.fixes) == ("cache-marks", ("drop-cache-marks",))


@pytest.mark.parametrize("options", [{"goal": "anthropic"}, {"only": ["drop-cache-marks"]}])
@pytest.mark.parametrize(("beside", "left"), [({}, 4), ({"tools": TOOLS}, 3)])
def test_the_last_ones_are_kept(options: dict[str, Any], beside: dict[str, Any], left: int) -> None:
    document = deepcopy(request(5, **SYSTEM, **beside))
    result = loaded(document).apply("repair", **options)
    after = json.loads(result.chain.to_bytes())
    assert "cache_control" not in after["system"][0]
    content = after["messages"][2]["content"]
    marked = ["cache_control" in (block["content"][0] if "content" in block else block) for block in content]
    assert marked == [False] * (5 - left) + [True] * left
    assert said(loaded(after)) == []
    for block in (*document["system"], *document["messages"][2]["content"], *after["messages"][2]["content"], *after["system"]):
        for each in (block, *block.get("content", ())):
            each.pop("cache_control", None)
    assert after == document


def test_other_formats_are_not_counted() -> None:
    content = [text(f"note {number}", **MARK) for number in range(6)]
    (chain,) = chainviz.load(json.dumps([{"role": "user", "content": content}]).encode(), "openai_chat")
    assert said(chain) == []
