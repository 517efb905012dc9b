"""Kimi Code sessions: steps in pieces, and a log that is applied."""

from __future__ import annotations

import json
from typing import Any

import pytest

from chainviz.core.chain.messages import AI, HUMAN, SYSTEM, TOOL, Text, Thinking, ToolCall, ToolResult, text_of
from chainviz.core.load import LoadedChain, load_file
from chainviz.fixes.fix import fix_session
from tests.core.formats.chains import exported
from tests.shared_folder import SAMPLES, shared

SAMPLE = (SAMPLES / "kimi_code" / "ok_wire.jsonl").read_bytes()


def loaded(content: bytes) -> LoadedChain:
    (chain,) = load_file(content)
    assert chain.format == "kimi_code"
    assert chain.envelope.unread == ()
    assert exported(content, chain) == content
    return chain


def fixed(content: bytes) -> list[dict[str, Any]]:
    return [json.loads(line) for line in fix_session(content, "session", lambda before, result: None).new.splitlines()]


def lines(start: int, end: int) -> bytes:
    return b"".join(SAMPLE.splitlines(keepends=True)[start:end])


def test_the_pieces_of_a_step_are_one_message() -> None:
    chain = loaded(SAMPLE)
    assert [message.role for message in chain.messages] == [SYSTEM, HUMAN, AI, TOOL, TOOL, AI, HUMAN, AI]
    assert [type(part) for part in chain.messages[2].parts] == [Thinking, Text, ToolCall, ToolCall]
    assert chain.messages[4].parts == (ToolResult("Bash:2", "", "no such command", True),)
    assert len(chain.messages[1].parts) == 2, "what the program put in joins the words of the person"


def test_what_was_undone_is_carried() -> None:
    assert "Dock 5" not in "".join(text_of(message) for message in loaded(SAMPLE).messages)


def test_nothing_before_a_clearing_is_sent() -> None:
    cleared = SAMPLE + b'{"type":"context.clear","agentId":"main","time":1}\n' + lines(3, 4)
    assert [message.role for message in loaded(cleared).messages] == [SYSTEM, HUMAN]


def test_the_summary_of_a_compaction_is_what_the_agent_goes_on_with() -> None:
    compacted = SAMPLE + b'{"type":"context.apply_compaction","agentId":"main","summary":"Dock 4 is ours.","compactedCount":8}\n'
    last = loaded(compacted).messages[-1]
    assert (last.role, text_of(last), last.label) == (HUMAN, "Dock 4 is ours.", "compact summary")


@pytest.mark.parametrize("end", [10, 9])
def test_a_call_at_the_end_gets_a_result_of_its_own(end: int) -> None:
    """Whether one or both calls were written before the process died."""
    events = fixed(lines(0, end))
    added = [each["event"] for each in events[end:]]
    assert {each["type"] for each in added} == {"tool.result"}
    assert len(added) == end - 8
    assert events[:end] == [json.loads(line) for line in lines(0, end).splitlines()]


def test_a_call_that_was_written_twice_is_removed() -> None:
    found = fix_session(lines(0, 10) + lines(9, 26), "session", lambda before, result: None)
    assert found.new == SAMPLE
    assert found.damage == ("Line 11 is line 10 once more and is removed.",)


def test_a_step_without_a_piece_is_no_message() -> None:
    assert [message.role for message in loaded(lines(0, 6)).messages] == [SYSTEM, HUMAN]


def test_real_logs() -> None:
    (chain,) = load_file(shared("transcripts", "agents", "kimi", "vshulcz__wire.jsonl"))
    assert [message.role for message in chain.messages] == [SYSTEM, HUMAN, AI, HUMAN, AI]
    (chain,) = load_file(shared("transcripts", "agents", "kimi", "jazzyalex__kimi-small.jsonl"))
    assert [message.role for message in chain.messages] == [SYSTEM, HUMAN, HUMAN, HUMAN]
