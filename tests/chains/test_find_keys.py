"""Finding words that are keys, roles or types of the file: messages that do not say them are not read (issue 8)."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import pytest

from chainviz.chains.models import Chain
from chainviz.store.content.chain import StoredChain
from chainviz.store.history.versions import head_of
from chainviz.store.models import History
from chainviz.store.query.find import find
from chainviz.store.query.search_pattern import Needle
from tests.chains.making import ai, human, long_story, make_chain, make_chain_of, result

pytestmark = pytest.mark.django_db

SAMPLES = Path(__file__).parents[1] / "samples"
FILES = (
    "openai_chat/ok_request.json", "openai_chat/broken_pending_and_orphan.json", "anthropic/ok_request.json",
    "gemini/ok_request.json", "bedrock_converse/ok_request.json", "openai_responses/ok_request.json",
    "vercel_model/ok_messages.json", "langchain/ok_dumpd.json", "claude_code/ok_session.jsonl",
    "pydantic_ai/ok_messages.json",
)  # fmt: skip
WORDS = ("content", "role", "type", "text", "input", "args", "arguments", "name", "id", "path", "assistant", "user", "tool")


def stored(chain: Chain) -> StoredChain:
    return StoredChain(head_of(History(pk=chain.history)).snapshot)


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The messages that were read to look for the text."""
    places: list[int] = []
    begun_at = StoredChain.begun_at

    def noted(chain: StoredChain, wanted: Any) -> Any:
        places.extend(wanted)
        return begun_at(chain, wanted)

    monkeypatch.setattr(StoredChain, "begun_at", noted)
    return places


@pytest.mark.parametrize("word", ["content", "role", "tool_call", "function", "assistant", "CONTENT"])
def test_messages_that_only_have_it_as_structure_are_not_read(read: list[int], word: str) -> None:
    chain = stored(make_chain(long_story(10, 10)))
    assert find(chain, word).hits == ()
    assert len(read) <= 1


def test_the_message_that_says_it_is_found() -> None:
    messages = [*long_story(3, 20), human("What is the content?"), ai(None, ("z", "write", {"content": "x"})), result("z", "ok")]
    messages += long_story(3, 20)
    found = [hit.message for hit in find(stored(make_chain(messages)), "content").hits]
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
    chain = stored(make_chain(messages))
    hits = find(chain, "content", limit=1000).hits
    monkeypatch.setattr(Needle, "is_structure", lambda *place: False)
    assert hits == find(chain, "content", limit=1000).hits
    assert len(hits) == 12


def test_nothing_is_missed_in_any_format(monkeypatch: pytest.MonkeyPatch) -> None:
    chains = [stored(make_chain_of((SAMPLES / name).read_bytes(), name.replace("/", "-"))) for name in FILES]
    quick = {(chain.snapshot.pk, word): find(chain, word).hits for chain in chains for word in WORDS}
    monkeypatch.setattr(Needle, "is_structure", lambda *place: False)
    assert quick == {(chain.snapshot.pk, word): find(chain, word).hits for chain in chains for word in WORDS}
    assert any(quick.values())
