"""Finding words that are keys, roles or types of the file: messages that do not say them are not read (issue 8)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any

import pytest

from chainviz.store.content import message_reader
from chainviz.store.content.beginnings import MANY, PartWindow
from chainviz.store.content.message_reader import BodyReader, StoredMessage
from chainviz.store.query.find import find
from chainviz.store.query.search_pattern import Needle
from tests.chains.making import ai, human, long_story, make_chain, make_chain_of, newest, result

pytestmark = pytest.mark.django_db

SAMPLES = Path(__file__).parents[1] / "samples"
FILES = (
    "openai_chat/ok_request.json", "openai_chat/broken_pending_and_orphan.json", "anthropic/ok_request.json",
    "gemini/ok_request.json", "bedrock_converse/ok_request.json", "openai_responses/ok_request.json",
    "vercel_model/ok_messages.json", "langchain/ok_dumpd.json", "claude_code/ok_session.jsonl",
    "pydantic_ai/ok_messages.json",
)  # fmt: skip
WORDS = ("content", "role", "type", "text", "input", "args", "arguments", "name", "id", "path", "assistant", "user", "tool")


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The messages that were read to look for the text."""
    places: list[int] = []
    begun = BodyReader.begun

    def noted(bodies: BodyReader, rows: Sequence[StoredMessage]) -> Any:
        places.extend(row.position for row in rows)
        return begun(bodies, rows)

    monkeypatch.setattr(BodyReader, "begun", noted)
    return places


@pytest.mark.parametrize("word", ["content", "role", "tool_call", "function", "assistant", "CONTENT"])
def test_messages_that_only_have_it_as_structure_are_not_read(read: list[int], word: str) -> None:
    chain = newest(make_chain(long_story(10, 10)))
    assert find(chain, word).hits == ()
    assert len(read) <= 1


def test_the_message_that_says_it_is_found() -> None:
    messages = [*long_story(3, 20), human("What is the content?"), ai(None, ("z", "write", {"content": "x"})), result("z", "ok")]
    messages += long_story(3, 20)
    found = [hit.message for hit in find(newest(make_chain(messages)), "content").hits]
    assert found == [123, 124]


def test_nothing_is_missed_where_messages_cross_the_chunks_of_an_upload(monkeypatch: pytest.MonkeyPatch) -> None:
    """Arguments as an object are shown with their keys; they begin in one chunk and have the key in a later one."""
    chance = Random(7)
    messages: list[dict[str, Any]] = []
    for number in range(24):
        messages += [human("Go on"), ai("x" * chance.randrange(400_000), (f"c{number}", "write", {})), result(f"c{number}", "done")]
        if number % 2:
            arguments = {"note": "x" * chance.randrange(400_000), "content": number}
            messages[-2]["tool_calls"][0]["function"]["arguments"] = arguments
    chain = newest(make_chain(messages))
    hits = find(chain, "content", limit=1000).hits
    monkeypatch.setattr(Needle, "is_structure", lambda *place: False)
    assert hits == find(chain, "content", limit=1000).hits
    assert len(hits) == 12


@pytest.mark.parametrize("word", ["content", "type", "id", "name"])
def test_parts_that_only_have_it_as_structure_are_not_read(monkeypatch: pytest.MonkeyPatch, word: str, read: list[int]) -> None:
    windows: list[range] = []
    parts = PartWindow.parts
    monkeypatch.setattr(PartWindow, "parts", lambda window, wanted: (windows.append(wanted), parts(window, wanted))[1])
    blocks = [{"type": "tool_use", "id": f"t{i}", "name": "look", "input": {}} for i in range(MANY + 100)]
    blocks[550]["input"] = {"the type": "content", "id": "name"}
    messages = [{"role": "user", "content": "Go"}, {"role": "assistant", "content": blocks}]
    chain = newest(make_chain_of(json.dumps({"model": "m", "max_tokens": 9, "messages": messages}).encode()))
    read.clear()
    assert [hit.part for hit in find(chain, word).hits] == [550]
    assert (windows, read) == ([range(550, 551)], [])


def test_hits_in_one_message_are_torn_apart() -> None:
    calls = [(f"c{i}", "look", {}) for i in range(MANY + 100)]
    chain = newest(make_chain([human("Go"), ai("I look", *calls), human("look")]))
    numbers, after = [], None
    while len(numbers) < 1_000:
        found = find(chain, "look", after=after)
        assert len(found.hits) <= 50
        numbers += [(hit.message, hit.part) for hit in found.hits]
        after = found.next
        if after is None:
            break
    assert numbers == [*((1, i) for i in range(len(calls) + 1)), (2, 0)]


@pytest.mark.parametrize("many", [MANY, 1])
def test_nothing_is_missed_in_any_format(monkeypatch: pytest.MonkeyPatch, many: int) -> None:
    """`many`: the parts from which a message is not read whole."""
    monkeypatch.setattr(message_reader, "MANY", many)
    chains = [newest(make_chain_of((SAMPLES / name).read_bytes(), name.replace("/", "-"))) for name in FILES]
    quick = {(chain.snapshot.pk, word): find(chain, word).hits for chain in chains for word in WORDS}
    monkeypatch.setattr(message_reader, "MANY", MANY)
    monkeypatch.setattr(Needle, "is_structure", lambda *place: False)
    assert quick == {(chain.snapshot.pk, word): find(chain, word).hits for chain in chains for word in WORDS}
    assert any(quick.values())
