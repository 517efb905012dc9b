"""Own words are found as whole words in any case, in any text, in linear time."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import chainviz
from chainviz.core.errors import OptionsError
from chainviz.core.operations.contract import Context
from chainviz.core.operations.execute import execute
from chainviz.core.secrets import WordList, scan_text
from chainviz.core.secrets.word_lists import packed, unpacked
from tests.cpu import cpu_seconds


def found(words: str, text: str) -> list[str]:
    return [each.value for each in scan_text(text, WordList("", words).rules())]


@pytest.mark.parametrize(
    ("words", "text", "wanted"),
    [
        ("Anna", "anna, ANNA and Annabel; Joanna", ["anna", "ANNA"]),
        ("New York\nNew", "New York, New Yorker, new", ["New York", "New", "new"]),
        ("acme", "acme_corp my-acme.example ACME2", ["acme", "acme"]),
        ("Øvergård", "ØVERGÅRD Øvergårds", ["ØVERGÅRD"]),
        ("#42\n(new)", "issue #42, (new) and #421", ["#42", "(new)"]),
        ("a.b", "axb a.b", ["a.b"]),
        ("京都", "京都 東京都", ["京都"]),
        ("NF-48213", "nf-48213\nNF-482134", ["nf-48213"]),
        ("Ann\nAnna", "\ud83dAnna", ["Anna"]),
    ],
)
def test_whole_words_are_found_in_any_case(words: str, text: str, wanted: list[str]) -> None:
    assert found(words, text) == wanted


@given(st.lists(st.text(st.characters(codec="utf-8"), min_size=2, max_size=12), max_size=5), st.text(max_size=40))
def test_what_is_found_is_one_of_the_words(words: list[str], text: str) -> None:
    try:
        known = {" ".join(word.split()).casefold() for word in "\n".join(words).splitlines()}
        assert {value.casefold() for value in found("\n".join(words), text)} <= known
    except OptionsError as refused:
        assert str(refused).endswith(".")


def test_the_time_does_not_grow_with_the_number_of_words() -> None:
    words = "\n".join(f"customer{number}x" for number in range(2_000))
    assert found(words, "customer7 " * 20_000 + "customer1999x") == ["customer1999x"]


def test_a_word_that_begins_with_one_letter_costs_no_more() -> None:
    text = "banana " * 30_000
    times = [cpu_seconds(lambda word=word: found(word, text)) for word in ("x. ray", "a. nut")]
    assert times[1] < 20 * times[0]
    assert found("a. nut", "A. Nut, a. nut, Ba. nut") == ["A. Nut", "a. nut"]


@pytest.mark.parametrize("words", ["x", "***", "a" * 300, "\n".join(f"w{number}" for number in range(3_000))])
def test_words_that_cannot_be_looked_for_are_refused(words: str) -> None:
    with pytest.raises(OptionsError, match=r"\.$"):
        WordList("", words).rules()


def test_a_mask_takes_words_patterns_and_lists_by_name() -> None:
    chain = chainviz.load([{"role": "user", "content": "Anna Meier of Acme wrote TICKET-9."}])[0].core
    options = {"own_words": "acme", "word_lists": ["People & friends"]}
    known = {"People & friends": WordList("People & friends", "anna meier", r"TICKET-\d+")}
    outcome = execute("mask", options, chain, Context(word_lists=known))
    (message,) = outcome.changes[0].messages
    assert "[OWN_PEOPLE_FRIENDS_1] of [OWN_WORDS_1] wrote [OWN_PEOPLE_FRIENDS_2]." in str(message)
    assert "acme" not in str(outcome.kept_options)
    with pytest.raises(OptionsError, match="There is no word list “People & friends”; there are none here"):
        execute("mask", options, chain, Context())


def test_lists_become_one_text_and_back() -> None:
    lists = (WordList("", "a b"), WordList("People", "x y", r"\d+"))
    assert unpacked(packed(lists)) == lists
    assert packed([WordList("")]) == ""
