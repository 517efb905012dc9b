"""Every door names the same provider for the next call of a chain: the API and the model that it records decide, else its format."""

from __future__ import annotations

import json
from typing import Any

import pytest

import chainviz
from chainviz.chains.explorer.actions import Situation
from chainviz.chains.explorer.subject import Subject
from chainviz.core.session_facts import read_facts
from chainviz.fixes.fix import fix_session
from chainviz.store.models import Version
from tests.chains.making import ai, human, make_chain_of
from tests.shared_folder import SAMPLES

TALK = [human("Look"), ai("Yes.")]
PI = {"type": "session", "version": 3, "id": "s", "timestamp": "2026-01-01T00:00:00Z", "cwd": "/x"}


def request(**beside: Any) -> bytes:
    return json.dumps({**beside, "messages": TALK}).encode()


def contents(*texts: str, **beside: Any) -> bytes:
    turns = [{"role": role, "parts": [{"text": text}]} for role, text in zip(("user", "model"), texts, strict=True)]
    return json.dumps({"contents": turns, **beside}).encode()


def opencode(provider: str, model: str) -> bytes:
    path = next((SAMPLES / "opencode").glob("*.json"))
    value = json.loads(path.read_text())
    for message in value["messages"]:
        if message["info"]["role"] == "assistant":
            message["info"] |= {"providerID": provider, "modelID": model}
    return json.dumps(value).encode()


def pi(api: str) -> bytes:
    told = {"role": "assistant", "content": [{"type": "text", "text": "Yes."}], "api": api, "stopReason": "stop"}
    records = [{"role": "user", "content": [{"type": "text", "text": "Look"}]}, told]
    lines = [{"type": "message", "id": f"e{n}", "parentId": f"e{n - 1}" if n else None, "message": each} for n, each in enumerate(records)]
    return "".join(json.dumps(each) + "\n" for each in (PI, *lines)).encode()


RECORDS = [
    (request(), "openai-chat"),
    (request(model="gpt-4o"), "openai-chat"),
    (request(model="claude-sonnet-4-5"), "anthropic"),
    (request(model="claude-sonnet-4-5", base_url="https://openrouter.ai/api/v1"), "openai-chat"),
    (request(model="qwen3", api_base="http://localhost:11434"), "ollama"),
    (request(model="deepseek-chat", custom_llm_provider="deepseek"), "deepseek"),
    (request(model="claude-sonnet-4-5", provider="bedrock"), "bedrock"),
    (json.dumps({"system": "Be brief.", "max_tokens": 9, "model": "deepseek-chat", "messages": TALK[:1]}).encode(), "anthropic"),
    (json.dumps({"model": "deepseek-chat", "input": TALK[:1]}).encode(), "deepseek-responses"),
    (contents("Look", "Yes."), "gemini-2.5"),
    (contents("Look", "Yes.", model="gemini-3-pro-preview"), "gemini-3"),
    (opencode("anthropic", "claude-sonnet-4-5"), "anthropic"),
    (opencode("github-copilot", "claude-sonnet-4.5"), "openai-chat"),
    (opencode("openai", "gpt-5"), "openai-responses"),
    (opencode("my-gateway", "glm-4.6"), "openai-chat"),
    (pi("openai-completions"), "openai-chat"),
    (pi("google-generative-ai"), "gemini-2.5"),
    (pi("none-of-ours"), "anthropic"),
]
FORMATS = ("anthropic", "bedrock_converse", "claude_code", "codex_rollout", "droid_session", "gemini_cli", "goose", "langchain",
           "librechat", "neutral", "ollama", "qwen_code", "vercel_ui")  # fmt: skip


@pytest.mark.parametrize(("content", "name"), RECORDS, ids=[f"{place}-{name}" for place, (_, name) in enumerate(RECORDS)])
def test_what_is_recorded_decides(content: bytes, name: str) -> None:
    (chain,) = chainviz.load(content)
    assert chain.provider == name, chain.format


def samples() -> list[bytes]:
    files = [path for name in FORMATS for path in sorted((SAMPLES / name).glob("*"))[:1]]
    return [content for content, _ in RECORDS] + [path.read_bytes() for path in files]


@pytest.mark.django_db
def test_all_doors_name_the_same_provider() -> None:
    """The library and its sessions, the explorer, Python and fix."""
    for content in samples():
        chain = max(chainviz.load(content), key=len)
        name = chain.provider
        stored = make_chain_of(content)
        head = Version.objects.get(history=stored.history).snapshot
        at_doors = {
            "session": read_facts(content).provider,
            "library": stored.provider,
            "explorer": Situation(Subject(stored, head, "Version 1", "/c/1/v/1/", "v=1")).provider.name,
        }
        if chain.is_fully_read:
            at_doors["fix"] = fix_session(content, "file", lambda *_: None).chains[0].provider.name
        assert set(at_doors.values()) == {name}, (chain.format, name, at_doors)
