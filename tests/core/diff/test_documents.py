"""Whole documents line by line: lines are the document's own tokens, and windows of them can be read from the middle."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chainviz.core.diff import documents
from chainviz.core.diff.align import Equal, Gap
from chainviz.core.diff.documents import LineReader, Place, blocks, compare_documents

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=4),
    max_leaves=20,
)
containers = st.lists(values, max_size=5) | st.dictionaries(st.text(max_size=4), values, max_size=5)


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(documents, "BLOCK", 7)


def chunks(text: bytes, size: int = 3) -> list[bytes]:
    return [text[i : i + size] for i in range(0, len(text), size)]


def lines(text: bytes) -> list[bytes]:
    return [line for block in blocks(chunks(text)) for line in block.lines]


@given(containers, st.sampled_from([None, 1]), st.booleans())
def test_json_is_laid_out_as_the_standard_library_does(value: object, indent: int | None, ascii: bool) -> None:
    text = json.dumps(value, indent=indent, ensure_ascii=ascii).encode()
    assert b"\n".join(lines(text)) == json.dumps(value, indent=2, ensure_ascii=ascii).encode()


def test_spelling_is_kept_and_records_stand_on_lines_of_their_own() -> None:
    assert lines(b'{"a":1.50,"a":"\\u00e9 \\"x\\" {"}\n{"b":[]}\n') == [
        b"{", b'  "a": 1.50,', b'  "a": "\\u00e9 \\"x\\" {"', b"}", b"{", b'  "b": []', b"}",
    ]  # fmt: skip


def test_what_is_not_json_keeps_its_lines() -> None:
    assert lines(b"# A talk\n\n- hello [x]\nbye") == [b"# A talk", b"", b"- hello [x]", b"bye"]
    assert lines(b"a\n") == [b"a"] and lines(b"") == [] and lines(b"\n\n") == [b"", b""]


@pytest.mark.parametrize("text", [b'{"a": "not closed', b"}}]]", b'{"a" "b" : : ,, 1 2}', b"[" * 3000, b'["\\'])
def test_broken_json_has_lines_too(text: bytes) -> None:
    squeezed = b"".join(b"".join(lines(text)).split())
    assert squeezed == b"".join(text.split())


@given(containers, st.lists(st.tuples(st.integers(0, 30), st.integers(0, 9)), max_size=4))
def test_lines_are_read_from_anywhere(value: object, windows: list[tuple[int, int]]) -> None:
    text = json.dumps(value).encode()
    marks = compare_documents(lambda: chunks(text), lambda: chunks(text)).old_marks
    reader = LineReader(lambda: chunks(text), marks)
    for start, length in windows:
        assert reader.between(start, start + length) == [line.decode() for line in lines(text)[start : start + length]]


@given(containers, containers)
def test_steps_cover_both_documents(old: object, new: object) -> None:
    a, b = json.dumps(old).encode(), json.dumps(new).encode()
    diff = compare_documents(lambda: [a], lambda: [b])
    place = Place(0, 0)
    for step in diff.steps():
        assert step[0] == place.old and step[2 if isinstance(step, Gap) else 1] == place.new
        if isinstance(step, Equal):
            assert lines(a)[step.old : step.old + step.length] == lines(b)[step.new : step.new + step.length]
            place = Place(step.old + step.length, step.new + step.length)
        else:
            place = Place(step.old_stop, step.new_stop)
    assert place == (len(lines(a)), len(lines(b)))


def test_steps_from_the_middle() -> None:
    old, new = b'[1,2,3,4,5,6,"x"]', b'[1,2,3,4,5,6,"y","z"]'
    diff = compare_documents(lambda: [old], lambda: [new])
    assert list(diff.steps(Place(3, 3))) == [Equal(3, 3, 4), Gap(7, 8, 7, 9), Equal(8, 9, 1)]
    assert list(diff.steps(Place(8, 8))) == [Gap(8, 8, 8, 9), Equal(8, 9, 1)]
    assert list(diff.steps(Place(9, 10))) == []
