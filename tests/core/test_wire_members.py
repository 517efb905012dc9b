"""The members of parts and blocks are judged as the API takes them: what it refuses is an error, what nobody here knows is not
fully checked (issue 8)."""

from __future__ import annotations

import json
from typing import Any

import pytest

import chainviz
from chainviz.core.formats.vendors import PROVIDERS
from tests.core.claude_messages import user

Messages = list[dict[str, Any]]
ASKED = {"role": "user", "content": "hi"}
PICTURE = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII="


def state_of(provider: str, format: str, document: Any) -> str:
    return chainviz.load(json.dumps(document).encode(), format=format)[0].verdict(provider).state


def image(**source: Any) -> dict[str, Any]:
    return user({"type": "image", "source": source})


def with_result(**members: Any) -> Messages:
    call = {"type": "tool_use", "id": "t1", "name": "f", "input": {}}
    result = {"type": "tool_result", "tool_use_id": "t1", "content": "ok", **members}
    return [ASKED, {"role": "assistant", "content": [call]}, user(result)]


def answered(*blocks: Any) -> Messages:
    return [ASKED, {"role": "assistant", "content": list(blocks)}, ASKED]


TEXT = {"type": "text", "text": "hi"}
THOUGHT = {"type": "thinking", "thinking": "hm", "signature": "c2ln"}
SEARCH = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "x"}}
FOUND = {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": []}
ANTHROPIC: list[tuple[str, Messages]] = [
    ("accepted", [image(type="base64", media_type="image/png", data=PICTURE)]),
    ("accepted", [image(type="url", url="https://example.org/a.png")]),
    ("accepted", [user({**TEXT, "cache_control": {"type": "ephemeral", "ttl": "1h"}, "citations": None})]),
    ("accepted", with_result(content=[TEXT], is_error=True)),
    ("rejected", [image()]),
    ("rejected", [image(type="base64", data=PICTURE)]),
    ("rejected", [image(type="base64", media_type="image/bmp", data=PICTURE)]),
    ("rejected", [image(type="base64", media_type="image/png", data="[removed]")]),
    ("unchecked", [image(type="pigeon")]),
    ("rejected", [user({**TEXT, "cache_control": "ephemeral"})]),
    ("rejected", [user({**TEXT, "cache_control": {"type": "forever"}})]),
    ("unchecked", [user({**TEXT, "mood": "good"})]),
    ("rejected", with_result(is_error="yes")),
    ("rejected", with_result(content=[{"type": "text"}])),
    ("rejected", with_result(content=[{"type": "text", "text": 5}])),
    ("rejected", with_result(content=[{"type": "image"}])),
    ("unchecked", with_result(content=[{"type": "hologram"}])),
    ("unchecked", with_result(mood="good")),
    ("rejected", answered(THOUGHT)),
    ("unchecked", answered({**THOUGHT, "cache_control": {"type": "ephemeral"}}, TEXT)),
    ("rejected", answered({"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": "x"}, TEXT)),
    ("rejected", answered({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PICTURE}}, TEXT)),
    ("rejected", answered({"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "hi"}}, TEXT)),
    ("rejected", answered(TEXT, SEARCH)),
    ("rejected", answered({"type": "text", "text": ""})[:2]),
    ("accepted", answered(SEARCH, FOUND, TEXT)),
    ("accepted", answered(TEXT, SEARCH)[:2]),
    ("accepted", [*answered(SEARCH)[:2], {"role": "assistant", "content": [FOUND, TEXT]}]),
]


@pytest.mark.parametrize(("state", "messages"), ANTHROPIC)
def test_blocks_of_anthropic(state: str, messages: Messages) -> None:
    assert state_of("anthropic", "anthropic", {"messages": messages}) == state


@pytest.mark.parametrize(
    ("state", "messages"),
    [
        ("accepted", [ASKED, {"role": "assistant", "content": ""}]),
        ("rejected", [ASKED, {"role": "assistant", "content": ""}, ASKED]),
        ("rejected", [ASKED, {"role": "assistant", "content": "hi"}, {"role": "user", "content": ""}]),
        ("rejected", [ASKED, {"role": "assistant", "content": " "}]),
    ],
)
def test_only_the_final_assistant_message_may_be_an_empty_string(state: str, messages: Messages) -> None:
    assert state_of("anthropic", "anthropic", {"messages": messages}) == state
    assert state_of("anthropic", "openai_chat", {"messages": messages}) == state


def session(*messages: dict[str, Any]) -> bytes:
    """Lines of Claude Code around messages of Anthropic."""
    lines = [
        {"type": message["role"], "uuid": f"u{n}", "parentUuid": f"u{n - 1}" if n else None, "sessionId": "s", "message": message}
        for n, message in enumerate(messages)
    ]
    return "\n".join(map(json.dumps, lines)).encode()


@pytest.mark.parametrize(("state", "messages"), ANTHROPIC)
def test_blocks_in_a_session_are_judged_like_those_of_a_request(state: str, messages: Messages) -> None:
    (chain,) = chainviz.load(session(*messages))
    assert chain.format == "claude_code"
    assert chain.verdict("anthropic").state == state


def test_a_fault_is_told_at_its_block_and_once() -> None:
    result = {"type": "tool_result", "tool_use_id": "t1", "content": 5}
    call = {"type": "tool_use", "id": "t1", "name": "f", "input": "x"}
    split = [{"id": "m", "role": "assistant", "content": [block]} for block in (TEXT, call)]
    (chain,) = chainviz.load(session(ASKED, *split, user(result, TEXT)))
    found = [f"{problem.rule} {problem.path}" for problem in chain.problems("anthropic") if problem.provider]
    assert found == ["arguments-no-object s1.p1.m0.c1", "field-type s1.p1.m1.c0"]
    (chain,) = chainviz.load(session({"role": "user", "content": None}, *split[:1]))
    assert [problem.rule for problem in chain.problems("anthropic")] == ["content-missing"]


def test_a_word_in_place_of_a_picture_is_accepted_by_no_provider() -> None:
    def verdicts(data: str) -> set[str]:
        message = image(type="base64", media_type="image/png", data=data)
        (chain,) = chainviz.load(json.dumps({"messages": [message]}).encode(), format="anthropic")
        return {chain.verdict(provider.name).state for provider in PROVIDERS}

    assert verdicts(PICTURE) == {"accepted"}
    assert verdicts("[removed]") == {"rejected", "unchecked"}


def called(**members: Any) -> Messages:
    call = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}, **members}
    return [ASKED, {"role": "assistant", "tool_calls": [call]}, {"role": "tool", "tool_call_id": "c1", "content": "ok"}]


def calling(count: int) -> Messages:
    calls = [{"id": f"c{number}", "type": "function", "function": {"name": "f", "arguments": "{}"}} for number in range(count)]
    results = [{"role": "tool", "tool_call_id": call["id"], "content": "ok"} for call in calls]
    return [ASKED, {"role": "assistant", "tool_calls": calls}, *results]


OPENAI: list[tuple[str, Messages]] = [
    ("accepted", [user({"type": "image_url", "image_url": {"url": "https://example.org/a.png", "detail": "low"}})]),
    ("accepted", [ASKED, {"role": "assistant", "content": None, "audio": {"id": "audio_1"}}, ASKED]),
    ("accepted", called()),
    ("rejected", [user({"type": "image_url", "image_url": {}})]),
    ("rejected", [user({"type": "image_url", "image_url": {"url": "a.png"}})]),
    ("rejected", [user({"type": "image_url", "image_url": {"url": "https://example.org/a.png", "detail": "ultra"}})]),
    ("rejected", [user({"type": "input_audio", "input_audio": {"data": "AAAA", "format": "ogg"}})]),
    ("unchecked", [user({**TEXT, "mood": "good"})]),
    ("unchecked", called(mood="good")),
    ("rejected", called(function={"name": "f"})),
    ("rejected", [{**ASKED, "name": 5}]),
    ("accepted", [{**ASKED, "name": "Müller-1.b"}]),
    *(("rejected", [{**ASKED, "name": name}]) for name in ("User Proxy", "a/b", "a<b>", "")),
    ("accepted", calling(128)),
    ("rejected", calling(129)),
    ("rejected", [{**ASKED, "content": "a" * (10 * 2**20 + 1)}]),
    ("rejected", [ASKED, {"role": "assistant", "content": "x", "refusal": 5}]),
    ("rejected", [{"role": "human", "content": "hi"}]),
    ("rejected", [user({"type": "file", "file": {}})]),
    ("rejected", [user({"type": "file", "file": {"filename": "a.pdf"}})]),
    ("accepted", [user({"type": "file", "file": {"file_id": "file-1"}})]),
]


@pytest.mark.parametrize(("state", "messages"), OPENAI)
def test_parts_and_calls_of_openai(state: str, messages: Messages) -> None:
    assert state_of("openai-chat", "openai_chat", {"messages": messages}) == state


def test_others_with_the_form_of_openai_have_roles_and_parts_of_their_own() -> None:
    developer = [{"role": "developer", "content": "Be brief."}, ASKED]
    assert state_of("openai-chat", "openai_chat", developer) == "accepted"
    assert state_of("deepseek", "openai_chat", developer) == "rejected"
    file = [user({"type": "file", "file_id": "f1"}), {"role": "assistant", "content": "x"}, ASKED]
    assert state_of("mistral", "openai_chat", file) == "accepted"
    assert state_of("openai-chat", "openai_chat", file) == "rejected"


@pytest.mark.parametrize(
    ("provider", "empty", "null"),
    [("openai-chat", ["error"], ["error"]), ("deepseek", ["error"], []), ("mistral", ["warning"], []), ("vllm", [], [])],
)
def test_an_empty_list_of_calls_is_not_taken_everywhere(provider: str, empty: list[str], null: list[str]) -> None:
    def said(calls: Any) -> list[str]:
        messages = [ASKED, {"role": "assistant", "content": "x", "tool_calls": calls}, ASKED]
        (chain,) = chainviz.load(json.dumps(messages).encode(), format="openai_chat")
        return [each.severity for each in chain.problems(provider) if each.rule == "tool-calls-empty"]

    assert (said([]), said(None)) == (empty, null)


def test_a_picture_of_the_model_is_not_taken_back_from_another_format() -> None:
    drawn = {"role": "model", "parts": [{"inlineData": {"mimeType": "image/png", "data": PICTURE}}, {"text": "Here."}]}
    (chain,) = chainviz.load(json.dumps([{"role": "user", "parts": [{"text": "Draw."}]}, drawn]).encode(), format="gemini")
    assert [each.rule for each in chain.problems("anthropic") if each.severity == "error"] == ["part-role"]
    assert chain.verdict("gemini-2.5").state == "accepted"
    assert chain.apply("repair", goal="anthropic").chain.verdict("anthropic").errors == 0


def test_a_search_without_its_result_becomes_text() -> None:
    (chain,) = chainviz.load(json.dumps(answered(TEXT, SEARCH)).encode(), format="anthropic")
    assert [str(each.path) for each in chain.problems("anthropic") if each.severity == "error"] == ["s1.p1.m0.c1"]
    after = chain.apply("repair", goal="anthropic").chain
    assert after.verdict("anthropic").state == "accepted" and b"srvtoolu_1" in after.to_bytes()


def converse(result: Any, *beside: Any) -> Messages:
    called = {"role": "assistant", "content": [{"toolUse": {"toolUseId": "t1", "name": "f", "input": {}}}]}
    return [user({"text": "hi"}), called, user({"toolResult": {"toolUseId": "t1", **result}}, *beside)]


def named(name: str) -> dict[str, Any]:
    return {"document": {"format": "pdf", "name": name, "source": {"bytes": "AAAA"}}}


FILE = named("a")
PNG = {"image": {"format": "png", "source": {"bytes": PICTURE}}}
BEDROCK: list[tuple[str, Messages]] = [
    ("accepted", [user({"text": "hi"}, PNG, FILE, {"cachePoint": {"type": "default"}})]),
    ("accepted", converse({"content": [{"json": {"a": [1]}}], "status": "success"})),
    ("rejected", converse({"content": [{"json": [1]}], "status": "success"})),
    *(("accepted", [user({"text": "hi"}, named(name))]) for name in ("report", "a_b (1) [x]-2")),
    *(("rejected", [user({"text": "hi"}, named(name))]) for name in ("report.pdf", "a  b", "a\u3000b", "", "a" * 201)),
    ("accepted", converse({"content": [{"text": ""}]})),
    ("rejected", converse({"content": "ok"})),
    ("rejected", converse({})),
    ("rejected", converse({"content": [{"text": "ok"}], "status": "failed"})),
    ("unchecked", converse({"content": [{"hologram": 1}]})),
    ("rejected", [user({"text": 5})]),
    ("unchecked", [user({"type": "text", "text": "hi"})]),
    ("rejected", [user({"text": "hi"}, {"image": {"format": "bmp", "source": {"bytes": "AAAA"}}})]),
    ("rejected", [user({"text": "hi"}, {"image": {"format": "png"}})]),
    ("rejected", [user({"text": "hi"}, *[PNG] * 21)]),
    ("rejected", [user(FILE)]),
    ("rejected", [user({"text": "hi"}), {"role": "assistant", "content": [PNG]}, user({"text": "hi"})]),
    ("rejected", [user({"text": "hi"}, {"cachePoint": {}})]),
]


@pytest.mark.parametrize(("state", "messages"), BEDROCK)
def test_blocks_of_bedrock(state: str, messages: Messages) -> None:
    assert state_of("bedrock", "bedrock_converse", {"messages": messages}) == state


def gemini(response: Any, **beside: Any) -> Messages:
    call = {"functionCall": {"name": "f", "args": {}}, **beside}
    answer = {"functionResponse": {"name": "f", "response": response}}
    return [{"parts": [{"text": "hi"}]}, {"role": "model", "parts": [call]}, {"parts": [answer]}]


GEMINI: list[tuple[str, Messages]] = [
    ("accepted", gemini({"output": "x"}, thoughtSignature="c2ln")),
    ("accepted", gemini({"output": "x"}, thought_signature="skip_thought_signature_validator", thought=None)),
    ("rejected", gemini("x")),
    ("rejected", gemini({}, thought="yes")),
    ("rejected", gemini({}, thoughtSignature="[removed]")),
    ("unchecked", gemini({}, mood="good")),
    ("rejected", [{"parts": [{"inlineData": {"data": "AAAA"}}]}]),
    ("rejected", [{"parts": [{"inline_data": {"mime_type": "image/png", "data": "[removed]"}}]}]),
    ("unchecked", [{"parts": [{"inlineData": {"mimeType": "image/png", "data": PICTURE, "mood": 1}}]}]),
]


@pytest.mark.parametrize(("state", "messages"), GEMINI)
def test_parts_of_gemini(state: str, messages: Messages) -> None:
    assert state_of("gemini-2.5", "gemini", {"contents": messages}) == state


def item(type: str, **members: Any) -> dict[str, Any]:
    return {"type": type, "call_id": "c1", **members}


def items(output: Any, **members: Any) -> Messages:
    return [ASKED, item("function_call", name="f", arguments="{}", **members), item("function_call_output", output=output)]


RESPONSES: list[tuple[str, Messages]] = [
    ("accepted", [user({"type": "input_text", "text": "hi"})]),
    ("accepted", items([{"type": "input_text", "text": "ok"}], status="completed")),
    ("accepted", [user({"type": "input_image", "file_id": "file-1"}, {"type": "input_file", "file_url": "https://a.b/c"})]),
    ("rejected", [user({"type": "input_image"})]),
    ("rejected", [user({"type": "input_image", "detail": "low", "image_url": None})]),
    ("rejected", [user({"type": "input_image", "image_url": "a.png"})]),
    ("rejected", items([{"type": "input_image", "image_url": "a.png"}])),
    ("rejected", [user({"type": "input_file", "filename": "a.pdf"})]),
    ("rejected", items([{"type": "input_image"}])),
    ("rejected", items([{"type": "text", "text": "ok"}])),
    ("rejected", items("ok", status="odd")),
    ("unchecked", items("ok", mood="good")),
    ("rejected", [user({"type": "text", "text": "hi"})]),
    ("rejected", [user({"type": "output_text", "text": "hi"})]),
    ("rejected", [user({"type": "input_text"})]),
    ("unchecked", [user({"type": "hologram"})]),
    ("unchecked", [{**ASKED, "name": "Ada"}]),
    ("rejected", [ASKED, {"type": "reasoning", "id": "rs_1", "summary": ["x"]}, *items("ok")[1:]]),
    ("rejected", [{**ASKED, "type": "message", "id": "abc"}]),
]


@pytest.mark.parametrize(("state", "messages"), RESPONSES)
def test_items_of_responses(state: str, messages: Messages) -> None:
    assert state_of("openai-responses", "openai_responses", {"input": messages}) == state


@pytest.mark.parametrize(("state", "messages"), RESPONSES)
def test_items_in_a_rollout_are_judged_like_those_of_a_request(state: str, messages: Messages) -> None:
    lines = [{"timestamp": "2026-01-01", "type": "response_item", "payload": {"type": "message", **each}} for each in messages]
    (chain,) = chainviz.load("\n".join(map(json.dumps, lines)).encode(), format="codex_rollout")
    assert chain.verdict("openai-responses").state == state


def test_messages_of_ollama() -> None:
    def state(**members: Any) -> str:
        return state_of("ollama", "ollama", {"messages": [ASKED, {"role": "assistant", "content": "", **members}, ASKED]})

    assert state(images=["AAAA"]) == "accepted"
    assert state(images=["https://example.org/a.png"]) == "rejected"
    assert state(thinking={}) == "rejected"
    assert state(mood="good") == "unchecked"
