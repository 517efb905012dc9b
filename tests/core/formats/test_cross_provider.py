"""Content that only one provider understands never reaches another one, and each loss is reported with its place."""

from __future__ import annotations

import json
from typing import Any

import pytest

from chainviz import Chain, load
from chainviz.core.chain.messages import AI, HUMAN, TOOL, Binary, Image, Message, Opaque, Reasoning, Text, Thinking, ToolCall, ToolResult
from chainviz.core.formats import WRITTEN, get_format
from chainviz.core.formats.contract import Format
from chainviz.core.formats.cross_provider import Route, crossed
from chainviz.core.load import document_in

SECRET = "c2VjcmV0LXNpZ25hdHVyZQ=="
USER = {"role": "user", "content": "hi"}
CHAINS: dict[str, Any] = {
    "anthropic": {"model": "m", "messages": [
        {"role": "user", "content": [{"type": "text", "text": "hi", "cache_control": {"type": "ephemeral", "ttl": SECRET}}]},
        {"role": "assistant", "content": [
            {"type": "thinking", "thinking": "hm", "signature": SECRET},
            {"type": "redacted_thinking", "data": SECRET},
            {"type": "server_tool_use", "id": SECRET, "name": "web_search", "input": {}},
            {"type": "web_search_tool_result", "tool_use_id": SECRET, "content": [
                {"type": "web_search_result", "url": "u", "title": "t", "encrypted_content": SECRET},
            ]},
            {"type": "text", "text": "found"},
        ]},
    ]},
    "openai_responses": {"model": "m", "input": [
        {**USER, "type": "message", "id": SECRET},
        {"type": "reasoning", "id": SECRET, "summary": [], "encrypted_content": SECRET},
        {"type": "web_search_call", "id": SECRET, "status": "completed", "action": {"type": "search", "query": "q"}},
        {"type": "message", "id": SECRET, "role": "assistant", "content": [{"type": "output_text", "text": "found"}]},
    ]},
    "gemini": {"contents": [
        {"role": "user", "parts": [{"text": "hi"}, {"fileData": {"fileUri": SECRET, "mimeType": "audio/wav"}}]},
        {"role": "model", "parts": [
            {"text": "hm", "thought": True, "thoughtSignature": SECRET},
            {"executableCode": {"language": "PYTHON", "code": SECRET}},
            {"text": "found", "thoughtSignature": SECRET},
        ]},
    ]},
    "bedrock_converse": {"messages": [
        {"role": "user", "content": [{"text": "hi"}, {"cachePoint": {"type": "default", "ttl": SECRET}}]},
        {"role": "assistant", "content": [
            {"reasoningContent": {"reasoningText": {"text": "hm", "signature": SECRET}}}, {"text": "found"},
        ]},
    ]},
    "mistral": {"messages": [
        {"role": "user", "content": [{"type": "text", "text": "hi"}, {"type": "document_url", "document_url": SECRET}]},
        {"role": "assistant", "prefix": False, "content": [
            {"type": "thinking", "thinking": [{"type": "text", "text": "hm"}], "signature": SECRET}, {"type": "text", "text": "found"},
        ]},
    ]},
}  # fmt: skip
"""Requests in which SECRET stands wherever only their own API may see it."""
APIS = [form.name for form in WRITTEN if form.accepts is not None]


def opened(source: str) -> Chain:
    (chain,) = load(json.dumps(CHAINS[source]).encode(), source)
    return chain


@pytest.mark.parametrize("target", APIS)
@pytest.mark.parametrize("source", CHAINS)
def test_nothing_of_one_provider_reaches_another(source: str, target: str) -> None:
    chain, form = opened(source), get_format(target)
    if form.api == get_format(source).api:
        return
    result = chain.convert(target)
    written = result.chain.to_bytes()
    assert SECRET.encode() not in written
    assert b"found" in written and b"hi" in written
    assert result.chain.convert("neutral").chain.to_bytes().count(b"was here") == 0, "a message with other parts needs no note"
    places = {row.path for row in result.report if row.action == "leave_out"}
    assert places == {str(path) for path in places} and places, "each loss has its place"
    assert all(load(written)[0].messages)


@pytest.mark.parametrize("source", CHAINS)
def test_a_document_written_directly_leaves_the_same_behind(source: str) -> None:
    chain = opened(source)
    for name in APIS:
        form = get_format(name)
        if form.api != get_format(source).api:
            assert SECRET.encode() not in b"".join(document_in(form, chain.messages, get_format(source)))
            assert SECRET.encode() not in b"".join(document_in(form, chain.messages)), "nor where the source is unknown"


def test_formats_of_one_api_exchange_everything() -> None:
    for source, target in (("anthropic", "claude_code"), ("openai_responses", "codex_rollout")):
        result = opened(source).convert(target)
        assert SECRET.encode() in result.chain.to_bytes()
        assert not result.report


@pytest.mark.parametrize("name", [form.name for form in WRITTEN if form.name not in ("neutral", "raw")])
def test_a_part_that_no_api_knows_is_never_written(name: str) -> None:
    """This holds for any name of its kind, because names repeat between formats."""
    form = get_format(name)
    for kind in ("document", "file", "image", "text", "web_search_call", "server_tool_use", "content", "custom", "data", "thing"):
        foreign = Opaque(kind, json.dumps({"type": kind, "mark": SECRET}))
        messages = (Message(HUMAN, (Text("hi"), foreign)), Message(AI, (foreign,)), Message(HUMAN, (Text("?"),)))
        assert SECRET.encode() not in b"".join(document_in(form, messages)), kind


def passed(target: Format, *parts: Any, role: str = HUMAN) -> tuple[Any, ...]:
    return crossed(Route(None, target), Message(role, parts)).message.parts


PNG, WAV = Image("data:image/png;base64,iVBORw0KGgo="), Binary("audio/wav", b"RIFF")


def test_a_part_becomes_what_the_target_has() -> None:
    anthropic, chat, gemini, bedrock = map(get_format, ("anthropic", "openai_chat", "gemini", "bedrock_converse"))
    assert passed(anthropic, PNG) == (PNG,)
    assert passed(gemini, WAV) == (WAV,)
    assert passed(anthropic, WAV) == (Text("[A file of the type audio/wav and 4 bytes was here]"),)
    assert passed(anthropic, Binary("text/plain", b"a,b")) == (Text("a,b"),)
    assert passed(bedrock, Image("https://h/a.png")) == (Text("[A picture was here: https://h/a.png]"),)
    assert passed(chat, PNG, role=AI)[0].text.startswith("[A picture")  # type: ignore[union-attr]
    assert passed(anthropic, Opaque("content", '"said"')) == (Text("said"),)
    assert passed(anthropic, Thinking("hm", "s"), Text("a", Reasoning("b", "s")), role=AI) == (Text("a"),)
    assert passed(gemini, Thinking("hm", "s"), role=AI) == (Thinking("hm"),)
    assert passed(chat, Thinking("hm", "s"), role=AI) == (Text("[Reasoning was here]"),)
    assert passed(anthropic, ToolCall("c", "run", "a b", type="custom"), role=AI) == (ToolCall("c", "run", '{"input": "a b"}'),)
    result = ToolResult("c", "", "ok", media=(WAV, PNG))
    (after,) = passed(anthropic, result, role=TOOL)
    assert (after.content, after.media) == ("ok\n[A file of the type audio/wav and 4 bytes was here]", (PNG,))


@pytest.mark.parametrize("name", APIS)
def test_crossing_again_changes_nothing(name: str) -> None:
    parts = (Text("a", Reasoning("b", "s")), PNG, WAV, Thinking("hm", "s"), ToolCall("c", "run", "x", type="custom"), Opaque("x", "{}"))
    for role in (HUMAN, AI, "exit"):
        once = crossed(Route(None, get_format(name)), Message(role, parts))
        assert once.losses
        assert crossed(Route(None, get_format(name)), once.message) == type(once)(once.message)


SHOT = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII="


def test_pictures_of_results_follow_them_where_results_are_text_only() -> None:
    call = {"type": "tool_use", "id": "c1", "name": "shoot", "input": {}}
    picture = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": SHOT}}
    both = [{**call}, {**call, "id": "c2"}]
    results = [{"type": "tool_result", "tool_use_id": id, "content": [picture]} for id in ("c1", "c2")]
    messages = [USER, {"role": "assistant", "content": both}, {"role": "user", "content": results}]
    (chain,) = load(json.dumps({"messages": messages}).encode(), "anthropic")
    written = chain.convert("openai_chat")
    roles = [message["role"] for message in json.loads(written.chain.to_bytes())]
    assert roles == ["user", "assistant", "tool", "tool", "user"]
    assert written.chain.verdict("openai-chat").text == "accepted"
    assert any("move to a user message" in warning for warning in written.warnings)


PDF = "JVBERi0xLjQKJcfsj6IK"
PDF_URL = f"data:application/pdf;base64,{PDF}"
FILE = {"type": "file", "file": {"filename": "file.pdf", "file_data": PDF_URL}}
DOCUMENT = {"type": "document", "source": {"type": "base64", "media_type": "application/pdf", "data": PDF}}
WITH_PDF: dict[str, Any] = {
    "anthropic": {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": [{"type": "text", "text": "hi"}, DOCUMENT]}]},
    "openai_responses": {"model": "m", "input": [{"role": "user", "content": [
        {"type": "input_text", "text": "hi"}, {"type": "input_file", "filename": "a.pdf", "file_data": PDF_URL},
    ]}]},
    "gemini": {"generationConfig": {"temperature": 1}, "contents": [{"role": "user", "parts": [
        {"text": "hi"}, {"inlineData": {"mimeType": "application/pdf", "data": PDF}},
    ]}]},
}  # fmt: skip


@pytest.mark.parametrize("source", WITH_PDF)
def test_a_pdf_goes_to_chat_completions_as_a_file_and_back(source: str) -> None:
    chain = load(json.dumps(WITH_PDF[source]).encode())[0]
    converted = chain.convert("openai_chat")
    assert json.loads(converted.chain.to_bytes())["messages"][0]["content"][1] == FILE
    assert converted.chain.verdict("openai_chat").state == "accepted" and not converted.report
    back = json.loads(converted.chain.convert("anthropic").chain.to_bytes())["messages"][0]["content"]
    assert [{key: block[key] for key in ("type", "source")} for block in back if block["type"] == "document"] == [DOCUMENT]


def test_a_pdf_has_a_name_in_responses() -> None:
    chain = load(json.dumps(WITH_PDF["anthropic"]).encode())[0]
    content = json.loads(chain.convert("openai_responses").chain.to_bytes())["input"][0]["content"]
    assert content[1] == {"type": "input_file", "filename": "file.pdf", "file_data": PDF_URL}
