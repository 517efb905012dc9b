"""Claude Code's stream-json with partial messages: pieces of an answer lie beside the message that repeats them as a whole."""

from __future__ import annotations

import json

import pytest

from chainviz import Chain, load

SECRET = "AKIAIOSFODNN7EXAMPLQ"
ANSWER = f"The key is {SECRET}."


def piece(event: dict[str, object]) -> dict[str, object]:
    return {"type": "stream_event", "event": event, "session_id": "s", "parent_tool_use_id": None, "uuid": "u"}


def delta(text: str) -> dict[str, object]:
    return piece({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": text}})


def message(kind: str, members: dict[str, object]) -> dict[str, object]:
    return {"type": kind, "message": members, "session_id": "s", "uuid": kind, "parent_tool_use_id": None}


@pytest.fixture
def chain() -> Chain:
    """A session whose answer was streamed in pieces that split a secret."""
    whole = {"id": "m", "type": "message", "role": "assistant", "model": "x", "content": [{"type": "text", "text": ANSWER}]}
    lines = [
        message("user", {"role": "user", "content": "Which key?"}),
        piece({"type": "message_start", "message": {"id": "m", "type": "message", "role": "assistant", "model": "x", "content": []}}),
        piece({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}),
        *map(delta, (ANSWER[:20], ANSWER[20:])),
        message("assistant", whole),
    ]
    return load("\n".join(map(json.dumps, lines)).encode())[0]


def test_a_masked_value_does_not_stay_in_pieces(chain: Chain) -> None:
    assert ANSWER[20:] in chain.to_bytes().decode()
    masked = chain.apply("mask").chain.to_bytes().decode()
    assert SECRET[:9] not in masked
    assert SECRET[9:] not in masked


def test_an_unchanged_session_keeps_its_pieces(chain: Chain) -> None:
    assert chain.to_bytes().count(b"content_block_delta") == 2


def test_pieces_of_a_deleted_answer_do_not_bring_it_back(chain: Chain) -> None:
    new = chain.apply("edit", action="delete", path="s1.p1.m0").chain
    (again,) = load(new.to_bytes())
    assert [message.role for message in again.messages] == ["human"]
    assert again.is_fully_read


def test_an_answer_that_was_cut_off_stays(chain: Chain) -> None:
    cut = b"\n".join(chain.to_bytes().splitlines()[:-1])
    (shown,) = load(cut)
    new = shown.apply("edit", action="append_human", text="Go on.").chain
    assert [message.role for message in load(new.to_bytes())[0].messages] == ["human", "ai", "human"]
