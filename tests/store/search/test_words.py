from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from chainviz.store.search import full_text_tables as module
from chainviz.store.search.full_text_tables import WORD, words, words_as_written, words_of_long


def test_case_accents_and_signs_do_not_count() -> None:
    assert words("Réfund_lock: ÉTÉ, read_file('src/App.py')") == [
        "refund", "lock", "ete", "read", "file", "src", "app", "py",
    ]  # fmt: skip
    assert words("Straße ﬁne ½") == ["strasse", "fine", "1", "2"]


def test_scripts_without_spaces_are_cut_into_letters() -> None:
    assert words("死锁deadlock した") == ["死", "锁", "deadlock", "し", "た"]
    assert words("한국어") == ["한", "국", "어"]


def test_escapes_are_read_as_what_they_mean() -> None:
    assert words(r'{"out":"one\ntwo\\nthree caf\u00e9s \ud83d\ude00"}') == ["out", "one", "two", "three", "cafes"]
    assert words(r"C:\new\table") == ["c", "ew", "able"]
    assert list(words_as_written(r"C:\new\table")) == ["new", "table"]


@given(st.text())
def test_words_are_letters_and_stay_words(text: str) -> None:
    for word in words(text):
        assert WORD.fullmatch(word), ascii(word)
        assert words(word) == [word]


@given(st.lists(st.sampled_from(["deadlock", " ", "\n", "_", "\\n", "é", "-", "锁"]), max_size=60), st.integers(1, 9))
def test_a_long_text_has_the_words_of_the_whole(pieces: list[str], at_once: int) -> None:
    text = " ".join(pieces)
    old, module.AT_ONCE = module.AT_ONCE, at_once + 10
    try:
        assert [word for some in words_of_long(text) for word in some] == words(text)
    finally:
        module.AT_ONCE = old
