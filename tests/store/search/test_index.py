"""The index finds what is there, in the newest version only, and what is purged or deleted leaves its bytes too."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from chainviz.core.documents.source import open_source
from chainviz.core.formats.offers import offers_of
from chainviz.store.content.message_reader import pieces_of
from chainviz.store.models import History, SearchBlock, SearchState, Version
from chainviz.store.purge.delete import delete_for_good
from chainviz.store.purge.values import purge_values
from chainviz.store.search import full_text_tables
from chainviz.store.search import full_text_tables as blocks_module
from chainviz.store.search.full_text_tables import LONGEST_PHRASE, MOST_TIMES, MOST_WORDS
from chainviz.store.search.index import fsck_search, index_chain, rebuild_index, unindexed
from chainviz.store.search.lookup import Phrase, blocks_with, histories_with, histories_with_together
from chainviz.store.transfer.imports import MessageList, import_chain
from tests.examples import examples
from tests.store.test_growth import grown

pytestmark = [pytest.mark.django_db, pytest.mark.database]
ENOUGH = 9


def document(*texts: str) -> bytes:
    roles = ("user", "assistant")
    return json.dumps([{"role": roles[n % 2], "content": text} for n, text in enumerate(texts)]).encode()


def lines(*texts: str) -> bytes:
    return b"".join(json.dumps({"role": "user", "content": text}).encode() + b"\n" for text in texts)


def imported(content: bytes, owner: str = "me") -> Version:
    with open_source(content) as source:
        offer = offers_of(source)[0]
        return import_chain(MessageList(source, offer.found, offer.formats[0]), owner=owner)


def indexed(*texts: str) -> int:
    number = imported(document(*texts)).history_id
    assert index_chain(number)
    return number


def found(text: str, *, is_prefix: bool = False) -> set[int]:
    return histories_with(Phrase.of(text, is_prefix=is_prefix), all_histories())


def all_histories() -> set[int]:
    return set(SearchState.objects.values_list("pk", flat=True))


def index_bytes() -> bytes:
    """All that the index stores of words, as the database returns it."""
    with connection.cursor() as cursor:
        if connection.vendor != "sqlite":
            cursor.execute("SELECT words::text FROM store_searchblock")
            return "\n".join(words for (words,) in cursor.fetchall()).encode()
        held = []
        for table in full_text_tables.TABLES:
            cursor.execute(f"SELECT block FROM {table}_data")
            held += [bytes(block) for (block,) in cursor.fetchall()]
        return b"\n".join(held)


def test_words_phrases_and_beginnings_are_found() -> None:
    one = indexed("The refund waits for a lock", "A Deadlock in query_db: wait_event")
    two = indexed("Nothing waits here, and no refund")
    assert found("refund") == {one, two}
    assert found("DEADLOCK") == {one}
    assert found("refund waits") == {one} and found("waits refund") == set()
    assert found("wait_event") == {one}
    assert found("dead", is_prefix=True) == {one} and found("dead") == set()
    assert found("lock a") == set(), "a phrase ends with its message"
    assert blocks_with([Phrase.of("refund")], [two], ENOUGH) and not blocks_with([Phrase.of("lock")], [two], ENOUGH)


@pytest.mark.skipif(connection.vendor != "sqlite", reason="the words lie in tables of their own on SQLite only")
def test_blocks_are_looked_up_by_word_once_and_not_by_block() -> None:
    history = indexed("A Deadlock")
    with CaptureQueriesContext(connection) as captured:
        blocks_with([Phrase.of("deadlock")], [history], ENOUGH)
    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN QUERY PLAN {captured[0]['sql']}")
        plan = [detail for *_, detail in cursor.fetchall()]
    assert [step[:7] for step in plan if " f" in step] == ["SCAN f "] * 2
    assert all(step.startswith("SEARCH") for step in plan if " b " in step)


def test_words_are_found_in_first_and_in_other_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(full_text_tables, "FIRST", 2)
    monkeypatch.setattr(blocks_module, "MOST_WORDS", 20)
    first = grown(lines("often alpha", *(f"often {'x ' * 20}" for _ in range(4)), "often omega"))
    short = indexed("often alpha")
    assert first is not None and index_chain(first.history_id)
    long = first.history_id
    assert SearchBlock.objects.filter(history=long, is_first=False).exists() or connection.vendor != "sqlite"
    assert found("often") == found("alpha") == {long, short}
    assert found("omega") == found("ome", is_prefix=True) == {long}
    assert len(blocks_with([Phrase.of("often")], [long], ENOUGH)) == 6
    second = grown(lines("often delta"), first)
    assert second is not None and index_chain(long)
    assert found("delta") == {long} and found("alpha") == {short} and found("omega") == set()
    assert not list(fsck_search())


def test_chains_with_all_words_in_one_block_are_found_in_one_look() -> None:
    both, one = indexed("alpha and beta"), indexed("alpha")
    apart = indexed("alpha", *(f"{'x ' * 300}" for _ in range(9)), "beta")
    phrases = [Phrase.of("alpha"), Phrase.of("beta")]
    assert histories_with_together(phrases, {both, one, apart}) == {both}
    assert histories_with_together(phrases, {one, apart}) == set()
    assert [histories_with(phrase, {both, apart}) for phrase in phrases] == [{both, apart}] * 2


@pytest.mark.skipif(connection.vendor != "sqlite", reason="PostgreSQL asks for one block of each chain")
def test_other_blocks_are_gone_through_only_for_words_that_a_long_chain_may_lack(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocks_module, "MOST_WORDS", 20)
    indexed(*(f"often {'x ' * 20}" for _ in range(full_text_tables.FIRST)), "seldom")
    asked = {}
    for word in ("often", "seldom"):
        with CaptureQueriesContext(connection) as captured:
            assert found(word)
        asked[word] = [query["sql"] for query in captured if "MATCH" in query["sql"]]
    assert [len(asked["often"]), len(asked["seldom"])] == [1, 2]


def test_tool_calls_results_reasoning_and_names_are_found() -> None:
    call = {"id": "call_77", "type": "function", "function": {"name": "lookup_order", "arguments": '{"a": "x\\nzebra"}'}}
    messages = [
        {"role": "user", "content": "go"},
        {"role": "assistant", "reasoning_content": "ponder quietly", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "call_77", "content": json.dumps({"out": "first\nsecond"})},
    ]
    version = imported(json.dumps(messages).encode())
    assert index_chain(version.history_id)
    for text in ("lookup_order", "zebra", "first second", "call_77", "ponder quietly"):
        assert found(text) == {version.history_id}, text


def test_a_new_version_adds_only_what_is_new() -> None:
    first = grown(lines("alpha", "beta"))
    assert first is not None and index_chain(first.history_id)
    before = set(SearchBlock.objects.values_list("pk", flat=True))
    second = grown(lines("alpha", "beta", "gamma"), first)
    assert second is not None
    assert list(unindexed()) == [first.history]
    assert index_chain(first.history_id) and not unindexed().exists()
    assert before < set(SearchBlock.objects.values_list("pk", flat=True))
    assert found("gamma") == found("alpha") == {first.history_id}
    third = grown(lines("alpha", "delta"), second)
    assert third is not None and index_chain(first.history_id)
    assert found("beta") == found("gamma") == set(), "only the newest version is found"
    assert found("delta") == found("alpha") == {first.history_id}
    assert not list(fsck_search())


def test_a_crowded_or_long_message_keeps_its_phrases() -> None:
    words = ["tick"] * (3 * MOST_TIMES) + [f"w{n}" for n in range(3 * MOST_WORDS)]
    number = indexed(" ".join(words))
    assert SearchBlock.objects.count() > 4
    for place in range(len(words) - LONGEST_PHRASE, 0, -97):
        assert found(" ".join(words[place : place + LONGEST_PHRASE])) == {number}, place


def test_words_of_a_long_message_are_cut_while_they_are_written(monkeypatch: Any) -> None:
    number = indexed("waiting at C:\\new\\bay " * 20_000)
    pieces = pieces_of(History.objects.get(pk=number).head.snapshot)
    cut, at_once = [], blocks_module.words_of_long
    monkeypatch.setattr(blocks_module, "words_of_long", lambda text: (cut.append(len(some)) or some for some in at_once(text)))
    (group,) = blocks_module.blocks_of(pieces)
    blocks = iter(group)
    next(blocks)
    assert sum(cut) < 40_000
    assert sum(len(block.words) for block in blocks) > 80_000
    assert sum(cut) >= 80_000


@examples(25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.text("ab ", max_size=30), min_size=1, max_size=6), st.text("ab ", min_size=1, max_size=6))
def test_it_finds_what_a_plain_search_finds(texts: list[str], asked: str) -> None:
    phrase = Phrase.of(asked)
    if not phrase.words:
        return
    old, blocks_module.MOST_WORDS = blocks_module.MOST_WORDS, LONGEST_PHRASE + 4
    try:
        number = indexed(*texts)
    finally:
        blocks_module.MOST_WORDS = old
    plain = any(f" {' '.join(phrase.words)} " in f" {' '.join(text.split())} " for text in texts)
    assert (number in histories_with(phrase, {number})) == plain


def test_purged_words_leave_the_index() -> None:
    number = indexed("the password is hunter2zz today", "fine")
    neighbour = indexed("quite another chain")
    assert found("hunter2zz") == {number} and b"hunter2zz" in index_bytes()
    purge_values([number], ["hunter2zz"], reason="test")
    assert found("hunter2zz") == set() and b"hunter2zz" not in index_bytes()
    assert number in unindexed().values_list("pk", flat=True)
    for key in (number, neighbour):
        index_chain(key)
    assert found("password") == {number} and found("another") == {neighbour}
    assert found("hunter2zz") == set() and b"hunter2zz" not in index_bytes()
    assert not list(fsck_search())


def test_a_deleted_chain_leaves_the_index() -> None:
    number = indexed("the password is hunter3zz")
    delete_for_good(Version.objects.get(history=number).history)
    assert found("hunter3zz") == set() and b"hunter3zz" not in index_bytes()
    assert not SearchState.objects.exists() and not SearchBlock.objects.exists()


def test_a_writer_that_read_before_a_purge_writes_nothing(monkeypatch: Any) -> None:
    number = imported(document("the password is hunter4zz")).history_id
    cut = blocks_module.blocks_of

    def cut_and_purged(pieces: Any) -> Any:
        yield from list(cut(pieces))
        purge_values([number], ["hunter4zz"], reason="test")

    monkeypatch.setattr("chainviz.store.search.index.blocks_of", cut_and_purged)
    assert not index_chain(number)
    assert found("hunter4zz") == set() and b"hunter4zz" not in index_bytes()


def test_fsck_finds_missing_messages_and_missing_words() -> None:
    number = indexed("alpha beta", "gamma")
    assert not list(fsck_search())
    SearchBlock.objects.filter(history=number).update(digest=b"x" * 16)
    assert "does not have the words" in next(fsck_search()).text
    assert rebuild_index() == 1 and not list(fsck_search())
    if connection.vendor == "sqlite":
        full_text_tables.empty(full_text_tables.table_of(number))
    else:
        with connection.cursor() as cursor:
            cursor.execute("UPDATE store_searchblock SET words = ''")
    assert "does not have the words" in next(fsck_search()).text
    SearchBlock.objects.filter(history=number).delete()
    assert "does not have the words" in next(fsck_search()).text
