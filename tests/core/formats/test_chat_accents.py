"""Mistral, Cohere and Ollama: chat messages with an accent of their own."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from chainviz.core.chain.messages import AI, HUMAN, TOOL, Image, Message, Text, Thinking, ToolCall, ToolResult
from chainviz.core.chain.problems import tree_problems
from chainviz.core.chain.tree import parse
from chainviz.core.formats import get_format
from chainviz.core.load import document_in, load_file
from tests.core.formats.chains import edited
from tests.shared_folder import SAMPLES

CALLING = (Message(HUMAN, (Text("q"),)), Message(AI, (Thinking("plan"), ToolCall("c", "ls", "{}"))))


def first_written(name: str) -> dict[str, Any]:
    document = json.loads(b"".join(document_in(get_format(name), CALLING, get_format(name))))
    written: dict[str, Any] = (document if isinstance(document, list) else document["messages"])[1]
    return written


def test_reasoning_stands_where_each_format_has_it() -> None:
    assert first_written("openai_chat")["reasoning_content"] == "plan"
    assert first_written("cohere")["tool_plan"] == "plan"
    assert first_written("ollama")["thinking"] == "plan"
    chunk = {"type": "thinking", "thinking": [{"type": "text", "text": "plan"}]}
    assert first_written("mistral")["content"] == [chunk]
    for name in ("openai_chat", "cohere", "ollama", "mistral"):
        (chain,) = load_file(b"".join(document_in(get_format(name), CALLING, get_format(name))), name)
        assert chain.messages == CALLING


def test_mistral_reasoning_changes_in_its_first_chunk() -> None:
    content = [{"type": "thinking", "thinking": [{"type": "text", "text": "a", "x": 1}, {"type": "text", "text": "b"}]}]
    document = json.dumps({"messages": [{"role": "assistant", "content": content, "prefix": False}]}).encode()
    (chain,) = load_file(document)
    assert (chain.format, chain.messages[0].parts) == ("mistral", (Thinking("a\n\nb"),))
    message = replace(chain.messages[0], parts=(Thinking("c", origin=0), Thinking("new")))
    after = edited(document, chain, 0, message)["messages"][0]["content"]
    assert after == [
        {"type": "thinking", "thinking": [{"type": "text", "text": "c", "x": 1}]},
        {"type": "thinking", "thinking": [{"type": "text", "text": "new"}]},
    ]  # fmt: skip


def test_cohere_results_are_documents() -> None:
    result = {"role": "tool", "tool_call_id": "c", "content": [{"type": "document", "document": {"id": "1", "data": "a"}}]}
    document = json.dumps({"model": "command-a-03-2025", "messages": [{"role": "user", "content": "q"}, result]}).encode()
    (chain,) = load_file(document)
    assert (chain.format, chain.messages[1].parts) == ("cohere", (ToolResult("c", "", "a"),))
    after = edited(document, chain, 1, replace(chain.messages[1], parts=(ToolResult("c", "", "b", origin=0),)))
    assert after["messages"][1]["content"] == [{"type": "document", "document": {"id": "1", "data": "b"}}]


def test_ollama_results_without_ids_are_answered_in_order() -> None:
    calls = [{"function": {"name": "ls", "arguments": {"n": n}}} for n in (1, 2)]
    messages = [
        {"role": "user", "content": "q"}, {"role": "assistant", "content": "", "tool_calls": calls},
        {"role": "tool", "tool_name": "ls", "content": "a"}, {"role": "tool", "tool_name": "ls", "content": "b"},
    ]  # fmt: skip
    document = json.dumps({"messages": messages}).encode()
    (chain,) = load_file(document)
    assert chain.format == "ollama"
    assert [result.id for result in chain.messages[2].results] == ["ls", "ls#2"]
    assert not list(tree_problems(parse(chain.messages)))
    last = chain.messages[2]
    after = edited(document, chain, 2, replace(last, parts=(last.parts[0], replace(last.parts[1], content="c"))))  # type: ignore[call-arg]
    assert after["messages"] == [*messages[:3], {**messages[3], "content": "c"}]
    again = b"".join(document_in(get_format("ollama"), chain.messages))
    assert load_file(again, "ollama")[0].messages == chain.messages
    assert b"tool_call_id" not in again


def test_ollama_defects_of_the_broken_sample() -> None:
    (chain,) = load_file(SAMPLES / "ollama" / "broken_string_args.json")
    assert chain.messages[0].parts == (Text("parts"),)
    found = [(problem.rule, str(problem.path)) for problem in tree_problems(parse(chain.messages))]
    assert found == [("pending-call", "s1.p1.m0.c0"), ("unmatched-result", "s1.p1.m1.c0")]


def test_ollama_pictures_are_raw_base64() -> None:
    document = json.dumps({"messages": [{"role": "user", "content": "q", "images": ["/9j/AA=="]}]}).encode()
    (chain,) = load_file(document)
    image = chain.messages[0].parts[1]
    assert image == Image("data:image/jpeg;base64,/9j/AA==")
    new = Image("data:image/png;base64,iVBORw==", origin=1)
    after = edited(document, chain, 0, replace(chain.messages[0], parts=(chain.messages[0].parts[0], new)))
    assert after["messages"][0]["images"] == ["iVBORw=="]
    lost = get_format("ollama").losses(Message(TOOL, (ToolResult("c", "ls", "", True, (Image("http://x"),)),)))
    assert lost == ("a result cannot be marked as an error", "images inside results are left out")
