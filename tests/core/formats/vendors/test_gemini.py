"""Gemini's contents: calls without ids, both cases, signatures, responses and texts beside one another."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from chainviz import load
from chainviz.core.chain.messages import (
    AI,
    HUMAN,
    SYSTEM,
    TOOL,
    Binary,
    Image,
    Message,
    Part,
    Reasoning,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)
from chainviz.core.chain.problems import tree_problems
from chainviz.core.chain.tree import parse
from chainviz.core.formats import get_format
from chainviz.core.formats.contract import Style
from chainviz.core.load import LoadedChain, document_in, load_file, restyle
from tests.core.formats.chains import differing, edited, exported
from tests.shared_folder import SAMPLES

GEMINI = get_format("gemini")

FOLDER = SAMPLES / "gemini"


def loaded(*contents: dict[str, Any], **beside: Any) -> tuple[bytes, LoadedChain]:
    document = json.dumps({**beside, "contents": list(contents)}).encode()
    (chain,) = load_file(document, "gemini")
    return document, chain


def test_calls_without_ids_are_answered_in_order() -> None:
    (chain,) = load_file(FOLDER / "ok_snake_noids.json")
    assert [call.id for call in chain.messages[1].calls] == ["get_weather", "get_weather#2"]
    assert [result.id for result in chain.messages[2].results] == ["get_weather", "get_weather#2"]
    assert not list(tree_problems(parse(chain.messages)))
    again = b"".join(document_in(GEMINI, chain.messages, GEMINI))
    assert b'"id"' not in again
    assert [message.parts for message in load_file(again, "gemini")[0].messages] == [m.parts for m in chain.messages]


def test_defects_of_the_broken_sample() -> None:
    (chain,) = load_file(FOLDER / "broken_counts.json")
    found = [(problem.rule, str(problem.path)) for problem in tree_problems(parse(chain.messages))]
    assert found == [
        ("pending-call", "s1.p1.m0.c0"), ("pending-call", "s1.p1.m0.c1"), ("unmatched-result", "s1.p1.m1.c0"),
    ]  # fmt: skip
    assert [message.label for message in chain.messages] == ["", "", "function", "", "assistant"]


def test_responses_and_a_text_beside_them_are_two_messages_of_one_content() -> None:
    document, chain = loaded(
        {"role": "user", "parts": [{"functionResponse": {"name": "ls", "response": {"output": "a"}}}, {"text": "note"}]}
    )
    assert [(m.role, m.source[0].blocks) for m in chain.messages] == [(TOOL, (0,)), (HUMAN, (1,))]
    assert exported(document, chain) == document
    gone = json.loads(exported(document, chain, chain.messages[:1]))
    assert [list(part) for part in gone["contents"][0]["parts"]] == [["functionResponse"]]


@pytest.mark.parametrize(("response", "content", "is_error"), [
    ({"output": "a"}, "a", False),
    ({"error": "gone"}, "gone", True),
    ({"output": {"n": 1}}, '{"n": 1}', False),
    ({"result": 1}, '{"result": 1}', False),
    ({}, "{}", False),
])  # fmt: skip
def test_what_a_response_says(response: dict[str, Any], content: str, is_error: bool) -> None:
    document, chain = loaded({"role": "user", "parts": [{"functionResponse": {"id": "1", "name": "ls", "response": response}}]})
    assert chain.messages[0].parts == (ToolResult("1", "ls", content, is_error),)
    changed = replace(chain.messages[0], parts=(ToolResult("1", "ls", "new", is_error, origin=0),))
    styled = restyle(chain.messages, 0, changed, "gemini", chain.envelope)
    assert styled.parts == changed.parts
    bare = get_format("gemini").message(TOOL, get_format("gemini").write(replace(chain.messages[0], source=()), Style()))
    assert bare.parts == chain.messages[0].parts
    assert exported(document, chain) == document


@pytest.mark.parametrize(("part", "expected"), [
    ({"text": "hm", "thought": True, "thoughtSignature": "s"}, Thinking("hm", "s")),
    ({"text": "", "thoughtSignature": "s"}, Text("", Reasoning(signature="s"))),
    ({"functionCall": {"name": "ls", "args": {}}, "thoughtSignature": "s"}, ToolCall("ls", "ls", "{}", reasoning=Reasoning(signature="s"))),
    ({"functionCall": {"name": "ls"}}, ToolCall("ls", "ls", "")),
    ({"inlineData": {"mimeType": "image/png", "data": "-_8="}}, Image("data:image/png;base64,-_8=")),
    ({"inlineData": {"mimeType": "application/pdf", "data": "-_8="}}, Binary("application/pdf", b"\xfb\xff")),
    ({"fileData": {"fileUri": "gs://b/x.png"}}, Image("gs://b/x.png")),
])  # fmt: skip
def test_parts(part: dict[str, Any], expected: Part) -> None:
    _, chain = loaded({"role": "model", "parts": [part]})
    assert chain.messages[0].parts == (expected,)
    again = b"".join(document_in(GEMINI, chain.messages, GEMINI))
    assert load_file(again, "gemini")[0].messages == chain.messages


def test_snake_case_stays_snake_case() -> None:
    document, chain = loaded(
        {"role": "user", "parts": [{"text": "q"}]},
        {"role": "model", "parts": [{"function_call": {"name": "ls", "args": {}}}]},
        system_instruction={"parts": [{"text": "Be brief."}]},
    )
    ai = chain.messages[2]
    call = ToolCall("7", "rm", '{"a": 1}', reasoning=Reasoning(signature="s"))
    styled = restyle(chain.messages, 2, replace(ai, parts=(*ai.parts, call)), "gemini", chain.envelope)
    after = json.loads(exported(document, chain, (*chain.messages[:2], styled)))
    assert after["contents"][1]["parts"][1] == {
        "function_call": {"id": "7", "name": "rm", "args": {"a": 1}}, "thought_signature": "s",
    }  # fmt: skip
    assert list(after) == ["system_instruction", "contents"]
    assert "system_instruction" not in json.loads(exported(document, chain, chain.messages[1:]))


def test_system_messages_share_the_system_instruction() -> None:
    messages = (Message(SYSTEM, (Text("one"),)), Message(SYSTEM, (Text("two"),)), Message(HUMAN, (Text("q"),)))
    document = json.loads(b"".join(document_in(GEMINI, messages, GEMINI)))
    assert document["systemInstruction"] == {"parts": [{"text": "one"}, {"text": "two"}]}
    assert [message.role for message in load_file(json.dumps(document).encode())[0].messages] == [SYSTEM, HUMAN]


def test_the_content_of_a_response_is_a_chain() -> None:
    document = {"candidates": [{"content": {"role": "model", "parts": [{"text": "hi"}]}, "finishReason": "STOP"}]}
    (chain,) = load_file(json.dumps(document).encode())
    assert (chain.format, [message.role for message in chain.messages]) == ("gemini", [AI])


SINGLE = {
    "system_instruction": {"parts": {"text": "Be a cat."}},
    "tools": {"function_declarations": [{"name": "look"}]},
    "contents": {"role": "USER", "parts": {"text": "Hello"}},
    "toolConfig": {},
}  # fmt: skip
"""A request as the vendor's examples for the command line spell it: a single object in place of each list."""


@pytest.mark.parametrize("order", [1, -1])
def test_single_objects_in_place_of_lists(order: int) -> None:
    document = json.dumps(dict([*SINGLE.items()][::order]), indent=1).encode()
    (chain,) = load_file(document)
    assert (chain.format, chain.envelope.unread) == ("gemini", ())
    assert [(each.role, each.parts, each.label) for each in chain.messages] == [
        (SYSTEM, (Text("Be a cat."),), ""), (HUMAN, (Text("Hello"),), ""),
    ]  # fmt: skip
    assert exported(document, chain) == document
    for place, at in ((0, ("system_instruction", "parts")), (1, ("contents", "parts"))):
        message = replace(chain.messages[place], parts=(Text("ça", origin=0),))
        after = edited(document, chain, place, message)
        assert differing(json.loads(document), after) == {at}
        assert after[at[0]]["parts"] == [{"text": "ça"}]
    added = exported(document, chain, (*chain.messages, Message(AI, (Text("Meow"),))))
    assert [each["parts"] for each in json.loads(added)["contents"]] == [{"text": "Hello"}, [{"text": "Meow"}]]
    assert len(load_file(added)[0].messages) == 3


def test_single_objects_are_accepted_and_their_tools_converted(tmp_path: Path) -> None:
    calls = [
        {"role": "USER", "parts": {"text": "q"}},
        {"role": "MODEL", "parts": {"functionCall": {"name": "look", "args": {}}, "thoughtSignature": "c2lnbmF0dXJl"}},
        {"role": "user", "parts": {"functionResponse": {"name": "look", "response": {"output": "a"}}}},
    ]  # fmt: skip
    (tmp_path / "request.json").write_text(json.dumps(SINGLE | {"contents": calls}))
    (chain,) = load(tmp_path / "request.json")
    assert chain.verdict("gemini_2.5").state == "accepted"
    chain.convert("openai_chat").chain.save(tmp_path / "converted.json")
    request = json.loads((tmp_path / "converted.json").read_text())
    assert [each["role"] for each in request["messages"]] == ["system", "user", "assistant", "tool"]
    assert [each["function"]["name"] for each in request["tools"]] == ["look"]
