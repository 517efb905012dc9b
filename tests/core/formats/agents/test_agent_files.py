"""Real session files of agents and tools, read where they lie: chains, roles, calls with results, no text lost, same bytes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from chainviz.core.chain.messages import Message, Text, Thinking, ToolCall, ToolResult
from chainviz.core.load import LoadedChain, load_file
from tests.core.formats.chains import exported
from tests.shared_folder import SAMPLES, shared

READ: dict[str, tuple[str, int, int, int]] = {
    "antigravity/Dicklesworthstone__transcript.jsonl": ("antigravity", 8, 2, 2),
    "antigravity/jazzyalex__antigravity-cli_small.jsonl": ("antigravity", 27, 11, 11),
    "copilot/copilot-session-patches.jsonl": ("vscode_chat_log", 10, 2, 2),
    "copilot/git-ai-project__copilot_session_multiline.jsonl": ("vscode_chat_log", 8, 2, 2),
    "copilot/git-ai-project__copilot_session_simple.jsonl": ("vscode_chat_log", 10, 2, 2),
    "cursor-agent/getagentseal__1031d227-0c67-4e17-8954-0b6e2b3322f0.jsonl": ("cursor_agent", 2, 0, 0),
    "cursor-agent/git-ai-project__cursor-session-simple.jsonl": ("cursor_agent", 11, 10, 0),
    "cursor-agent/jazzyalex__test-session.jsonl": ("cursor_agent", 6, 2, 0),
    "cursor-agent/tuo-lei__cursor-session.jsonl": ("cursor_agent", 10, 0, 0),
    "deepseek/vshulcz__session.jsonl": ("deepseek_harness", 5, 1, 1),
    "droid/git-ai-project__droid-session.jsonl": ("droid_session", 10, 5, 5),
    "droid/jazzyalex__stream_json_large.jsonl": ("droid_stream", 4, 1, 1),
    "google-adk/google__full_conversation.test.json": ("google_adk_eval", 26, 6, 0),
    "google-adk/google__order_query.test.json": ("google_adk_eval", 12, 7, 0),
    "grok-build/jazzyalex__grok-chat_history.jsonl": ("grok_build", 9, 2, 2),
    "grok-cli/vshulcz__updates.jsonl": ("acp_updates", 2, 0, 0),
    "hermes/jazzyalex__hermes-large.json": ("hermes", 5, 1, 1),
    "openinference/Arize-ai__openinference_client_span_tool_calls.json": ("openinference", 4, 1, 1),
    "posit/kenn-io__lm-messages.jsonl": ("posit_assistant", 7, 1, 1),
    "specstory/specstoryai__2026-02-20_22-41-47Z-02-20-26-17.md": ("specstory", 247, 107, 107),
    "windsurf/git-ai-project__windsurf-session-simple.jsonl": ("windsurf", 42, 18, 18),
}
"""The format of each file, and how many messages, calls and results its one chain has."""
NOT_SAID = frozenset(("renderedUserMessage", "renderedGlobalContext", "variableData", "response", "codeBlocks", "toolCallResults"))
"""Members of VS Code's chats that repeat what the rounds say, as the editor shows it or sends it."""
TEXTS = frozenset((
    "text", "content", "response", "thinking", "output", "finalText", "user_response", "new_content", "arguments", "query", "reference",
))  # fmt: skip
LONG = 40


@pytest.mark.parametrize("name", READ)
def test_a_session_is_one_chain_with_its_calls_and_results(name: str) -> None:
    (chain,) = load_file(_path(name))
    found = (chain.format, len(chain.messages), len(_parts(chain, ToolCall)), len(_parts(chain, ToolResult)))
    assert found == READ[name]
    assert {message.role for message in chain.messages} <= {"system", "human", "ai", "tool"}
    assert all(message.parts for message in chain.messages)
    assert not chain.envelope.unread


@pytest.mark.parametrize("name", READ)
def test_no_long_text_is_lost(name: str) -> None:
    path = _path(name)
    shown = _shown(load_file(path)[0].messages)
    lost = [text for text in _texts(path) if text not in shown and json.dumps(text, ensure_ascii=False)[1:-1] not in shown]
    assert not lost


@pytest.mark.parametrize("name", READ)
def test_a_session_is_exported_byte_for_byte(name: str) -> None:
    path = _path(name)
    (chain,) = load_file(path)
    assert exported(path.read_bytes(), chain) == path.read_bytes()


@pytest.mark.parametrize("name", sorted({format for format, *_ in READ.values()} | {"kiro_chat", "kiro_session", "pi_events", "hf_traces"}))
def test_samples_are_fully_read(name: str) -> None:
    for path in sorted((SAMPLES / name).iterdir()):
        assert not any(chain.envelope.unread for chain in load_file(path))


def test_each_span_of_the_vercel_sdk_ends_with_its_answer() -> None:
    path = _path("vercel-otel/Arize-ai__ai-generateText-doGenerate.json")
    chains = load_file(path)
    assert [(chain.format, len(chain.messages)) for chain in chains] == [("vercel_spans", 2), ("vercel_spans", 5)]
    assert chains[1].messages[-1].parts == (Text("3 + 3 equals 6."),)
    content = path.read_bytes()
    for chain in chains:
        region = chain.envelope.region
        assert exported(content, chain) == content[region.start : region.end]


def test_changes_of_a_session_give_what_its_whole_says() -> None:
    """The log was made from the session that lies beside it on one line."""
    whole, changes = ("git-ai-project__copilot_session_simple.jsonl", "copilot-session-patches.jsonl")
    assert _shown(_chain(f"copilot/{whole}").messages) == _shown(_chain(f"copilot/{changes}").messages)


def _path(name: str) -> Path:
    return shared("transcripts", "agents", *name.split("/"))


def _chain(name: str) -> LoadedChain:
    (chain,) = load_file(_path(name))
    return chain


def _parts(chain: LoadedChain, kind: type[Any]) -> list[Any]:
    return [part for message in chain.messages for part in message.parts if isinstance(part, kind)]


def _shown(messages: tuple[Message, ...]) -> str:
    found: list[str] = []
    for part in (part for message in messages for part in message.parts):
        if isinstance(part, Text):
            found.append(part.text)
        elif isinstance(part, Thinking | ToolResult):
            found.append(part.content)
        else:
            found.append(part.arguments if isinstance(part, ToolCall) else getattr(part, "text", ""))
    return "\n".join(found)


def _texts(path: Path) -> Iterator[str]:
    """The long texts of the records of a file."""
    content = path.read_text()
    if path.suffix == ".md":
        return
    for value in [json.loads(content)] if path.suffix == ".json" else map(json.loads, filter(str.strip, content.splitlines())):
        yield from _texts_in(value)


def _texts_in(value: Any, key: str = "") -> Iterator[str]:
    if isinstance(value, str) and key in TEXTS and len(value) > LONG:
        yield value
    elif isinstance(value, list):
        for each in value:
            yield from _texts_in(each, key)
    elif isinstance(value, dict) and value.get("k", [""])[-1:] not in [["response"]]:
        for name, each in value.items():
            if name not in NOT_SAID or not isinstance(each, dict | list):
                yield from _texts_in(each, name)
