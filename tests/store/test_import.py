from __future__ import annotations

from typing import Any

import pytest

from chainviz.core.chain.chain import MemoryChain
from chainviz.core.chain.paths import parse_path
from chainviz.core.documents.source import open_source
from chainviz.core.documents.units import Span
from chainviz.store.content.chain import StoredChain
from chainviz.store.models import Upload, Version
from chainviz.store.query.windows import Folds, window
from chainviz.store.transfer.exports import export, original
from chainviz.store.transfer.imports import MessageList, import_chain
from tests.store.stub import STUB, StubFound, document

pytestmark = [pytest.mark.django_db, pytest.mark.database, pytest.mark.usefixtures("stub_format")]

TALK: list[dict[str, Any]] = [
    {"role": "system", "text": "be brief"},
    {"role": "human", "text": "list files"},
    {"role": "ai", "calls": [["c1", "ls"]]},
    {"role": "tool", "results": [["c1", "a\u0000b \ud83d"]]},
    {"role": "ai", "text": "two files"},
    {"role": "human", "text": "thanks"},
    {"role": "ai", "calls": [["c2", "rm"]]},
]


def stored(messages: list[dict[str, Any]], owner: str = "me") -> Version:
    with open_source(document(messages)) as source:
        return import_chain(MessageList(source, StubFound(Span(0, source.size)), STUB), owner=owner)  # type: ignore[arg-type]


def test_export_is_the_upload() -> None:
    version = stored(TALK)
    assert b"".join(export(version.snapshot)) == document(TALK)
    assert b"".join(original(Upload.objects.get())) == document(TALK)


def test_stored_chain_is_the_chain_in_memory() -> None:
    chain = StoredChain(stored(TALK).snapshot)
    memory = MemoryChain(tuple(chain.slice(0, len(chain))))
    assert len(memory) == 7
    assert [str(path) for path, _ in chain.tree.pairs()] == ["s1.p1", "s1.p2", "s2.p1"]
    for text in ("s1", "s2", "s1.h", "s1.h.m1", "s1.p1", "s1.p1.m1", "s2.p1.m0"):
        assert chain.span(parse_path(text)) == memory.span(parse_path(text)), text


def test_window_goes_down_and_up_under_folds() -> None:
    chain = StoredChain(stored(TALK).snapshot)
    every = window(chain)
    assert [str(row.path) for row in every.rows] == [
        "s1", "s1.h.m0", "s1.h.m1", "s1.p1", "s1.p2", "s2", "s2.h.m0", "s2.p1",
    ]  # fmt: skip
    assert every.rows[-1].problems[0].message == 6
    assert "A message in pair 2.1" in every.rows[-1].problems[0].text
    up = window(chain, parse_path("s2.p1"), "up", 3)
    assert [str(row.path) for row in up.rows] == ["s1.p2", "s2", "s2.h.m0"]
    assert str(up.up) == "s1.p2"
    closed = window(chain, parse_path("s1.p2"), "down", 9, Folds(open=True, exceptions=frozenset({1})))
    assert [str(row.path) for row in closed.rows] == ["s1", "s2", "s2.h.m0", "s2.p1"]


def test_the_same_bytes_are_stored_once_an_owner() -> None:
    stored(TALK)
    stored(TALK)
    stored(TALK, owner="somebody else")
    assert Upload.objects.count() == 2
