"""Gemini CLI sessions: the log is applied, and what it no longer counts comes back byte for byte."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from chainviz.core.chain.messages import AI, HUMAN, TOOL, Message, Text, ToolCall, ToolResult, text_of
from chainviz.core.formats import get_format
from chainviz.core.formats.contract import Style
from chainviz.core.load import LoadedChain, load_file, restyle
from chainviz.fixes.fix import fix_session
from tests.core.formats.chains import exported
from tests.shared_folder import shared

HEAD = {"sessionId": "s", "projectHash": "h", "startTime": "2026-06-01T10:00:00Z", "kind": "main"}
TIME = {"lastUpdated": "2026-06-01T10:00:00Z"}


def said(id: str, kind: str, content: Any, **members: Any) -> dict[str, Any]:
    return {"id": id, "timestamp": "2026-06-01T10:00:01Z", "type": kind, "content": content, **members}


def response(output: str) -> dict[str, Any]:
    return {"functionResponse": {"id": "c1", "name": "ls", "response": {"output": output}}}


def call(*results: dict[str, Any]) -> list[dict[str, Any]]:
    answered = {"result": [*results], "status": "success", "resultDisplay": "a.txt"} if results else {}
    return [{"id": "c1", "name": "ls", "args": {"p": "."}, **answered}]


USER, MODEL = said("m1", "user", [{"text": "List."}]), said("m2", "gemini", "I look.", toolCalls=call())
ANSWERED = said("m2", "gemini", "I look.", toolCalls=call(response("a.txt")))
REPEATED, ANSWER = said("m3", "user", [response("a.txt")]), said("m4", "gemini", "One file.")
SESSION = (HEAD, USER, MODEL, {"$set": TIME}, ANSWERED, REPEATED, ANSWER)


def written(*records: dict[str, Any]) -> bytes:
    return "".join(json.dumps(each) + "\n" for each in records).encode()


def loaded(content: bytes) -> LoadedChain:
    (chain,) = load_file(content)
    assert chain.format == "gemini_cli"
    assert chain.envelope.unread == ()
    assert exported(content, chain) == content
    return chain


def words(messages: Sequence[Message]) -> list[tuple[str, str]]:
    return [(message.role, text_of(message)) for message in messages]


def test_a_result_is_shown_once() -> None:
    chain = loaded(written(*SESSION))
    assert [message.role for message in chain.messages] == [HUMAN, AI, TOOL, AI]
    assert [type(part) for part in chain.messages[1].parts] == [Text, ToolCall]
    assert chain.messages[2].parts == (ToolResult("c1", "ls", "a.txt"),)
    assert [fragment.ordinal for fragment in chain.messages[2].source] == [4, 5]
    assert [fragment.ordinal for fragment in chain.messages[1].source] == [4, 2], "with its earlier state"
    assert [span.ordinal for span in chain.envelope.carried] == [0, 3]


def test_a_message_that_is_removed_takes_its_earlier_state_with_it() -> None:
    content = written(*SESSION)
    chain = loaded(content)
    assert words(loaded(exported(content, chain, chain.messages[:1])).messages) == [(HUMAN, "List.")]


def test_a_response_that_no_record_of_calls_holds_is_the_result() -> None:
    chain = loaded(written(HEAD, USER, MODEL, REPEATED, ANSWER))
    assert [message.role for message in chain.messages] == [HUMAN, AI, TOOL, AI]


@pytest.mark.parametrize(("target", "left"), [("m1", ["Plan B"]), ("m2", ["Plan A", "Plan B"]), ("gone", ["Plan B"])])
def test_what_was_rewound_is_carried(target: str, left: list[str]) -> None:
    rewound = (HEAD, said("m1", "user", "Plan A"), said("m2", "gemini", "Bad."), {"$rewindTo": target}, said("m5", "user", "Plan B"))
    assert [text for _, text in words(loaded(written(*rewound)).messages)] == left


def test_messages_that_are_set_take_the_place_of_all_before() -> None:
    chain = loaded(written(HEAD, USER, {"$set": {"messages": [said("x", "user", "Short."), said("y", "gemini", "Yes.")]}}, ANSWER))
    assert words(chain.messages) == [(HUMAN, "Short."), (AI, "Yes."), (AI, "One file.")]


def test_the_context_of_the_program_joins_the_words_of_the_person() -> None:
    context = {"$set": {"messages": [said("x", "user", [{"text": "<session_context>\nToday"}])]}}
    chain = loaded(written(HEAD, context, USER))
    assert [[part.text for part in message.parts if isinstance(part, Text)] for message in chain.messages] == [
        ["<session_context>\nToday", "List."]
    ]


LISTED = {"$set": {"messages": [said("n", "info", "Update!"), said("x", "user", "Go."), MODEL]}}


def test_a_message_of_a_list_that_was_written_anew_stays_in_the_list() -> None:
    """The notice and the old record of the call are shown nowhere, and no edit of their neighbours loses them."""
    content = written(HEAD, LISTED, ANSWERED, ANSWER)
    chain = loaded(content)
    assert words(chain.messages)[:1] == [(HUMAN, "Go.")]
    assert [message.role for message in chain.messages] == [HUMAN, AI, TOOL, AI]
    changed = replace(chain.messages[0], parts=(replace(chain.messages[0].parts[0], text="Stop."),))  # type: ignore[call-arg]
    styled = restyle(chain.messages, 0, changed, "gemini_cli", chain.envelope)
    after = exported(content, chain, (styled, *chain.messages[1:]))
    assert words(loaded(after).messages) == [(HUMAN, "Stop."), *words(chain.messages)[1:]]
    assert {each["id"] for each in json.loads(after.splitlines()[1])["$set"]["messages"]} == {"n", "x", "m2"}


@pytest.mark.parametrize("place", [1, 2, 3])
def test_a_message_that_is_put_into_a_list_stays_in_the_list(place: int) -> None:
    content = written(HEAD, {"$set": {"messages": [said("x", "user", "Go."), said("y", "gemini", "Gone."), said("z", "user", "Back.")]}})
    chain = loaded(content)
    new = restyle(chain.messages, place, Message(AI, (Text("New."),)), "gemini_cli", chain.envelope)
    after = exported(content, chain, (*chain.messages[:place], new, *chain.messages[place:]))
    expected = words(chain.messages)
    expected.insert(place, (AI, "New."))
    assert words(loaded(after).messages) == expected


def test_a_message_is_removed_from_a_list() -> None:
    content = written(HEAD, {"$set": {"messages": [said("x", "user", "Go."), said("y", "gemini", "Gone."), said("z", "user", "Back.")]}})
    chain = loaded(content)
    after = exported(content, chain, (chain.messages[0], chain.messages[2]))
    assert words(loaded(after).messages) == [(HUMAN, "Go."), (HUMAN, "Back.")]


def test_a_changed_result_leaves_no_copy() -> None:
    content = written(*SESSION)
    chain = loaded(content)
    secret = replace(chain.messages[2], parts=(replace(chain.messages[2].parts[0], content="b"),))  # type: ignore[call-arg]
    written_message = replace(secret, source=get_format("gemini_cli").write(secret, Style()))
    after = exported(content, chain, (*chain.messages[:2], written_message, chain.messages[3]))
    assert loaded(after).messages[2].parts == (ToolResult("c1", "ls", "b"),)
    assert after.count(b"a.txt") == 0


def fixed(*records: dict[str, Any]) -> tuple[list[dict[str, Any]], tuple[str, ...]]:
    found = fix_session(written(*records), "session", lambda before, result: None)
    return [json.loads(line) for line in found.new.splitlines()], found.damage


def test_a_result_that_would_be_sent_twice_is_named_and_removed() -> None:
    records, damage = fixed(*SESSION)
    assert records == [each for each in SESSION if each is not REPEATED]
    assert [said.partition(" repeats")[0] for said in damage] == ["Line 6"]


@pytest.mark.parametrize("rest", [(), (ANSWER,)])
def test_the_result_that_a_fix_adds_goes_into_the_record_of_its_call(rest: tuple[dict[str, Any], ...]) -> None:
    records, _ = fixed(HEAD, USER, MODEL, *rest)
    assert len(records) == 3 + len(rest)
    added = records[2]["toolCalls"][0]
    assert added["result"][0]["functionResponse"]["name"] == "ls" and added["args"] == {"p": "."}


def test_a_real_log() -> None:
    (chain,) = load_file(shared("transcripts", "agents", "gemini-cli", "jazzyalex__jsonl_v040.jsonl"))
    assert [message.role for message in chain.messages] == [HUMAN, AI, TOOL, AI]


def test_a_record_of_results_that_was_written_twice_is_fully_read() -> None:
    chain = loaded(written(HEAD, USER, ANSWERED, ANSWERED, ANSWER))
    assert [message.role for message in chain.messages] == [HUMAN, AI, TOOL, AI]
