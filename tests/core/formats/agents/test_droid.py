"""Sessions of Factory Droid: the summary of a compaction, what is sent after it, and the links of new messages."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from chainviz.core.chain.messages import AI, HUMAN, TOOL, Message, Text, ToolResult
from chainviz.core.formats import get_format
from chainviz.core.formats.contract import COMPACT_SUMMARY
from chainviz.core.load import LoadedChain, load_file, restyle
from tests.core.formats.chains import exported


def said(number: int, role: str, content: Any, **beside: Any) -> dict[str, Any]:
    parent = {"parentId": f"m{number - 1}"} if number > 1 else {}
    return {
        "type": "message",
        "id": f"m{number}",
        "timestamp": "2026-09-24T09:00:00Z",
        **parent,
        "message": {"role": role, "content": content},
    }


SESSION: list[dict[str, Any]] = [
    {"type": "session_start", "id": "s", "title": "t", "version": 2},
    said(1, "user", [{"type": "text", "text": "first"}]),
    said(2, "assistant", [{"type": "text", "text": "one"}]),
    said(3, "user", [{"type": "text", "text": "second"}]),
    said(4, "assistant", [{"type": "tool_use", "id": "toolu_1", "name": "Read", "input": {}}]),
    {"type": "compaction_state", "id": "c", "timestamp": "2026-09-24T09:00:00Z", "summaryText": "The first was done.", "summaryTokens": 5,
     "summaryKind": "llm_summary", "anchorMessage": {"id": "m2", "index": 1}, "removedCount": 2},
    said(5, "user", [{"type": "text", "text": "third"}]),
]  # fmt: skip


def loaded() -> tuple[bytes, LoadedChain]:
    content = b"".join(json.dumps(line).encode() + b"\n" for line in SESSION)
    (chain,) = load_file(content)
    return content, chain


def test_a_compaction_is_its_summary_and_replaces_what_is_before_its_anchor() -> None:
    content, chain = loaded()
    assert (chain.format, chain.envelope.unread, exported(content, chain)) == ("droid_session", (), content)
    summary = chain.messages[4]
    assert (summary.role, summary.parts, summary.label) == (HUMAN, (Text("The first was done."),), COMPACT_SUMMARY)
    assert [message.role for message in chain.messages] == [HUMAN, AI, HUMAN, AI, HUMAN, HUMAN]
    assert get_format("droid_session").sent_from(chain.messages) == 2


def test_an_edited_summary_changes_its_record_alone() -> None:
    content, chain = loaded()
    edited = restyle(chain.messages, 4, replace(chain.messages[4], parts=(Text("Shorter.", origin=0),)), chain.format, chain.envelope)
    written = exported(content, chain, (*chain.messages[:4], edited, *chain.messages[5:]))
    expected = content.replace(b"The first was done.", b"Shorter.")
    assert written == expected


def test_a_new_message_follows_its_parent_though_a_compaction_is_near() -> None:
    content, chain = loaded()
    result = Message(TOOL, (ToolResult("toolu_1", "Read", "ok"),))
    written = exported(content, chain, (*chain.messages[:4], result, *chain.messages[4:]))
    lines = [json.loads(line) for line in written.splitlines()]
    (added,) = [line for line in lines if line["id"] not in {each["id"] for each in SESSION}]
    assert added["parentId"] == "m4"
    assert lines[-1]["parentId"] == added["id"]
