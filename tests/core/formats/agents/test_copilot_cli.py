"""Copilot CLI sessions: events around requests and results."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from chainviz.core.chain.messages import AI, HUMAN, SYSTEM, TOOL, Opaque, Text, Thinking, ToolCall, ToolResult, text_of
from chainviz.core.formats import get_format
from chainviz.core.formats.contract import Style
from chainviz.core.load import load_file
from chainviz.fixes.fix import fix_session
from tests.core.formats.chains import exported
from tests.shared_folder import SAMPLES, shared

SAMPLE = (SAMPLES / "copilot_cli" / "ok_events.jsonl").read_bytes()
LINES = SAMPLE.splitlines(keepends=True)


def test_a_sub_agent_is_a_chain_of_its_own() -> None:
    main, aside = load_file(SAMPLE)
    assert [message.role for message in main.messages] == [SYSTEM, HUMAN, AI, TOOL, TOOL, AI]
    assert [text_of(message) for message in aside.messages] == ["Crane 2 is free."]
    assert main.envelope.unread == aside.envelope.unread == ()
    assert exported(SAMPLE, main) == SAMPLE


def test_what_was_sent_is_shown() -> None:
    main, _ = load_file(SAMPLE)
    assert [type(part) for part in main.messages[1].parts] == [Text, Opaque]
    assert text_of(main.messages[1]).startswith("<now>")
    assert [type(part) for part in main.messages[2].parts] == [Thinking, Text, ToolCall, ToolCall]
    assert main.messages[4].parts == (ToolResult("t2", "", "The sub-agent was stopped.", True),)


def test_a_changed_text_leaves_no_copy_of_what_was_typed() -> None:
    main, _ = load_file(SAMPLE)
    prompt, result = main.messages[1], main.messages[3]
    for message, part in ((prompt, replace(prompt.parts[0], text="?")), (result, replace(result.parts[0], content="?"))):  # type: ignore[call-arg]
        (fragment,) = get_format("copilot_cli").write(replace(message, parts=(part, *message.parts[1:])), Style())
        assert "dock" not in fragment.text


@pytest.mark.parametrize("rest", [b"", LINES[9]])
def test_the_result_that_a_fix_adds_is_an_event(rest: bytes) -> None:
    broken = b"".join(LINES[:7]) + rest
    events = [json.loads(line) for line in fix_session(broken, "session", lambda before, result: None).new.splitlines()]
    (added,) = [each for each in events if each not in [json.loads(line) for line in broken.splitlines()]]
    assert added["type"] == "tool.execution_complete" and added["data"]["toolCallId"] == "t2"


@pytest.mark.parametrize("breaks", [1, 3])
def test_an_event_with_raw_line_breaks_is_read_and_escaped(breaks: int) -> None:
    broken = SAMPLE.replace(b'"detailedContent": "dock 4"', b'"detailedContent": "dock' + b"\n" * breaks + b'4"')
    main, _ = load_file(broken)
    assert [message.role for message in main.messages] == [SYSTEM, HUMAN, AI, TOOL, TOOL, AI]
    assert exported(broken, main) == broken
    found = fix_session(broken, "session", lambda before, result: None)
    assert len(found.new.splitlines()) == len(LINES)
    assert found.damage == (f"Lines 7 to {7 + breaks} are one record with raw line breaks, which are now escaped.",)


def test_a_cut_off_event_is_not_joined_with_the_next() -> None:
    broken = b"".join((*LINES[:6], LINES[6][:-40] + b"\n", *LINES[7:]))
    found = fix_session(broken, "session", lambda before, result: None)
    assert found.damage == ("Line 7 is not valid JSON and is removed.",)


@pytest.mark.parametrize(
    ("name", "roles"),
    [
        ("copilot-cli/git-ai-project__copilot_cli_session_events.jsonl", [HUMAN, AI, TOOL]),
        ("copilot-cli/microsoft__cb2aca77-f42b-4dbd-a10a-41bd04eaa3ba.jsonl", [HUMAN, AI, HUMAN, AI]),
        ("copilot/git-ai-project__copilot_vscode_event_stream.jsonl", [HUMAN, AI, TOOL, AI, TOOL]),
    ],
)
def test_real_events(name: str, roles: list[str]) -> None:
    (chain,) = load_file(shared("transcripts", "agents", *name.split("/")))
    assert [message.role for message in chain.messages] == roles
