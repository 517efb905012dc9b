"""Estimates of tokens, with a tokenizer and without."""

from __future__ import annotations

import pytest

from chainviz.core.chain.messages import Image, Message, Text
from chainviz.core.usage import model_catalog
from chainviz.core.usage.model_catalog import estimated_tokens, tokens_of
from tests.core.pictures import ai, call, h, tool

MESSAGES = [h("hello"), ai(call("a")), tool("a"), Message("human", (Text("\ud83d"), Image("x" * 40)))]


def test_without_a_tokenizer_four_bytes_are_a_token(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model_catalog, "tokenizer", lambda: None)
    assert tokens_of(MESSAGES) == estimated_tokens(sum(message.size for message in MESSAGES))
    assert (tokens_of([]), estimated_tokens(1), estimated_tokens(8)) == (0, 1, 2)


def test_a_tokenizer_counts_every_text_and_pictures_by_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model_catalog, "tokenizer", lambda: lambda text: len(text.split()))
    assert tokens_of([Message("human", (Text("two words"), Text(""), Image("x" * 40)))]) == 2 + 10
    assert tokens_of([Message("human", (Text("\ud83d lone"),))]) == 2
    assert tokens_of([Message("human", (Text("a " * model_catalog.PIECE),))]) == model_catalog.PIECE


def test_the_tokenizer_of_the_extra_counts_as_openai_does() -> None:
    pytest.importorskip("bpe_openai")
    assert tokens_of([h("hello world <|endoftext|>")]) == 9
    assert tokens_of([h("\U0001f9ff" * (model_catalog.PIECE + 1))]) > model_catalog.PIECE
