"""Rules of Bedrock and Gemini that what a document records beside its messages decides, and the fixes that end them."""

from __future__ import annotations

import json
from typing import Any

import pytest

import chainviz
from tests.core.broken_rules import broken_rules

HELLO = {"role": "assistant", "content": [{"text": "Hello"}]}
ASK = {"role": "user", "content": [{"text": "Docks?"}]}
CALL = {"role": "assistant", "content": [{"toolUse": {"toolUseId": "tooluse_1", "name": "docks", "input": {}}}]}
RESULT = {"role": "user", "content": [{"toolResult": {"toolUseId": "tooluse_1", "content": [{"text": "4"}], "status": "success"}}]}
TOOLS = {"tools": [{"toolSpec": {"name": "docks", "inputSchema": {"json": {"type": "object"}}}}]}


def load(document: Any, format: str) -> chainviz.Chain:
    (chain,) = chainviz.load(json.dumps(document).encode(), format)
    return chain


@pytest.mark.parametrize(
    ("model", "expected"),
    [("", ["first-role warning"]), ("us.anthropic.claude-opus-4-8", []), ("amazon.nova-pro-v1:0", ["first-role error"])],
)
def test_bedrock_takes_an_assistant_first_where_the_model_does(model: str, expected: list[str]) -> None:
    around = {"modelId": model} if model else {}
    assert broken_rules(load({**around, "messages": [HELLO, ASK]}, "bedrock_converse"), "bedrock") == expected


@pytest.mark.parametrize("content", [HELLO["content"], CALL["content"]])
def test_a_response_alone_is_not_judged_as_a_request(content: Any) -> None:
    message = {"role": "assistant", "content": content}
    response = {"output": {"message": message}, "stopReason": "end_turn", "usage": {"inputTokens": 1, "outputTokens": 1}}
    (chain,) = chainviz.load(json.dumps(response).encode())
    assert chain.format == "bedrock_converse"
    assert not [each for each in broken_rules(chain, "bedrock") if "error" in each or "first" in each]


@pytest.mark.parametrize("wrap", [lambda request: request, lambda request: {"id": 1, "body": {"note": "{[", "request": request}}])
def test_a_request_to_bedrock_that_calls_tools_defines_them(wrap: Any) -> None:
    request = {"modelId": "amazon.nova-pro-v1:0", "messages": [ASK, CALL, RESULT]}
    chain = load(wrap(request), "bedrock_converse")
    assert broken_rules(chain, "bedrock") == ["tools-undefined error"]
    fixed = chain.apply("repair", goal="bedrock").chain
    assert json.loads(fixed.to_bytes()) == wrap({**request, "toolConfig": TOOLS})
    (read,) = chainviz.load(fixed.to_bytes(), "bedrock_converse")
    assert broken_rules(read, "bedrock") == []
    assert read.apply("repair", goal="bedrock").chain.to_bytes() == fixed.to_bytes()


@pytest.mark.parametrize("document", [{"messages": [ASK, CALL, RESULT]}, [ASK, CALL, RESULT]])
def test_messages_alone_define_no_tools(document: Any) -> None:
    assert broken_rules(load(document, "bedrock_converse"), "bedrock") == ["tools-undefined-in-list warning"]
    assert broken_rules(load([ASK], "bedrock_converse"), "bedrock") == []


@pytest.mark.parametrize(("beside", "expected"), [({"prefix": True}, []), ({"prefix": False}, ["last-role warning"])])
def test_mistral_continues_a_prefix(beside: dict[str, bool], expected: list[str]) -> None:
    messages = [{"role": "user", "content": "Where?"}, {"role": "assistant", "content": "At", **beside}]
    assert broken_rules(load({"model": "mistral-large-latest", "messages": messages}, "mistral"), "mistral") == expected


def model(*names: str) -> dict[str, Any]:
    calls = [{"functionCall": {"name": name, "args": {}}, "thoughtSignature": "AAAA"} for name in names]
    return {"role": "model", "parts": calls}


def responses(*names: str) -> dict[str, Any]:
    return {"role": "user", "parts": [{"functionResponse": {"name": name, "response": {}}} for name in names]}


QUESTION = {"role": "user", "parts": [{"text": "Docks?"}]}


def test_gemini_joins_contents_of_the_model() -> None:
    with_ids = json.loads(json.dumps([QUESTION, model("a"), model("b"), responses("a", "b")]))
    for id, part in zip("1212", [part for content in with_ids[1:] for part in content["parts"]], strict=True):
        next(iter(part.values()))["id"] = id
    chain = load({"contents": with_ids}, "gemini")
    assert not [each for each in broken_rules(chain, "gemini-3") if "error" in each]
    assert chain.apply("repair", goal="gemini-3").chain.to_bytes() == chain.to_bytes()
    apart = load({"contents": [*with_ids[:2], QUESTION, *with_ids[2:]]}, "gemini")
    assert "result-count error" in broken_rules(apart, "gemini-3")


def test_an_unanswered_call_at_the_end_is_a_warning() -> None:
    assert broken_rules(load({"contents": [QUESTION, model("a")]}, "gemini"), "gemini-3") == ["result-missing-at-end warning"]
