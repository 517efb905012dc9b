"""Detection looks for messages behind whatever precedes them, and takes no format that understands little of a file."""

from __future__ import annotations

import json
from typing import Any

import pytest

import chainviz
from chainviz.core.chain.messages import Image
from chainviz.core.errors import DocumentError, Refused
from chainviz.fixes.fix import fix_session


def lines(records: list[Any]) -> bytes:
    return b"".join(json.dumps(record).encode() + b"\n" for record in records)


def claude(uuid: str, parent: str | None, role: str, text: str) -> dict[str, Any]:
    content = [{"type": "text", "text": text}]
    return {"type": role, "uuid": uuid, "parentUuid": parent, "sessionId": "s", "message": {"role": role, "content": content}}


CLAUDE = [claude("a", None, "user", "Where?"), claude("b", "a", "assistant", "North.")]
ITEM = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Where?"}]}
HEADS: dict[str, tuple[dict[str, Any], list[Any], int]] = {
    "claude_code": ({"type": "summary", "summary": "A long talk " * 400, "leafUuid": "x"}, CLAUDE, 2),
    "codex_rollout": ({"type": "event_msg", "payload": {"type": "token_count"}}, [{"type": "response_item", "payload": ITEM}], 1),
    "pi_session": (
        {"type": "thinking_level_change", "id": "t", "parentId": None, "level": "high"},
        [{"type": "message", "id": "m", "parentId": "t", "message": {"role": "user", "content": "Where?"}}],
        1,
    ),
    "gemini_cli": (
        {"$set": {"lastUpdated": "2026-03-01T10:00:00.000Z"}},
        [{"id": "m1", "timestamp": "2026-03-01T10:00:01.000Z", "type": "user", "content": [{"text": "Where?"}]}],
        1,
    ),
}


@pytest.mark.parametrize("format", HEADS)
@pytest.mark.parametrize("count", [15, 16, 40, 300])
def test_any_number_of_other_records_may_come_first(format: str, count: int) -> None:
    head, messages, expected = HEADS[format]
    chains = chainviz.load(lines([*[head] * count, *messages]))
    assert [chain.format for chain in chains] == [format] * len(chains)
    assert (len(chains[0]), chains[0].is_fully_read) == (expected, True)


def test_a_session_with_many_summaries_first_is_not_changed_by_a_fix() -> None:
    head, messages, _ = HEADS["claude_code"]
    content = lines([*[head] * 40, *messages[:2]])
    assert fix_session(content, "s.jsonl", lambda before, result: None).new == content


GROK_LIKE = [
    {"type": "system", "words": "You help."},
    {"type": "reply", "role": "assistant", "body": "I look at the docks.", "content": None},
    {"type": "reply", "role": "assistant", "body": "There are four.", "content": None},
]


OPENCODE = {"id": "m", "sessionID": "s", "role": "user", "time": {"created": 1}, "summary": {"title": "A dock"}}


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (lines(GROK_LIKE), "its records have the types “system”, “reply”, “assistant”"),
        (lines([{"type": "oracle", "role": "x"}, {"type": "omen"}]), "its records have the types “oracle”, “x”, “omen”"),
        (lines([OPENCODE]), "a message of opencode without its parts"),
    ],
)
def test_a_file_that_nobody_understands_is_refused_with_what_it_looks_like(content: bytes, said: str) -> None:
    with pytest.raises(DocumentError, match=said):
        chainviz.load(content)


def test_a_format_that_understands_little_is_not_offered() -> None:
    known = {"type": "message", "role": "user", "content": "Where?"}
    odd = [{"type": "omen", "call_id": str(n), "status": "done", "words": f"A gull on mast {n}"} for n in range(4)]
    with pytest.raises(DocumentError, match="only little of it can be read"):
        chainviz.load(json.dumps({"input": [known, *odd], "instructions": "Look."}).encode())
    (chain,) = chainviz.load(json.dumps({"input": [known, *odd], "instructions": "Look."}).encode(), "openai_responses")
    assert [each.kind for each in chain.unread] == ["role"]


def test_a_fix_refuses_a_session_that_is_not_fully_read() -> None:
    unknown = {"type": "oracle", "uuid": "d", "parentUuid": "b", "sessionId": "s", "words": "Beware of the tide"}
    call = {"type": "tool_use", "id": "t1", "name": "look", "input": {}}
    asks = {**CLAUDE[1], "message": {"role": "assistant", "content": [call]}}
    content = lines([CLAUDE[0], asks, unknown])
    said = r"s\.jsonl: The chain is not fully read: 1 record of a type .* \(“oracle”\) in line 3\..*The file is unchanged\."
    with pytest.raises(Refused, match=said):
        fix_session(content, "s.jsonl", lambda before, result: None)
    assert fix_session(lines([CLAUDE[0], asks]), "s.jsonl", lambda before, result: None).is_changed


def test_a_picture_alone_tells_the_model_messages_of_vercel() -> None:
    picture = {"type": "image", "image": "https://example.org/gull.png"}
    asks = [{"role": "user", "content": [{"type": "text", "text": "Which bird?"}, picture]}, {"role": "assistant", "content": "A gull."}]
    (chain,) = chainviz.load(json.dumps({"messages": asks}).encode())
    assert (chain.format, chain.messages[0].parts[1]) == ("vercel_model", Image("https://example.org/gull.png"))
