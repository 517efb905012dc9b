"""Long strings in JSON text: measured and read in steps, they say what the JSON module says."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chainviz.core.chain.messages import byte_size
from chainviz.core.documents.json import long_values as module
from chainviz.core.documents.json.long_values import LongString, LongText, breaks_in, length_of, long_strings, part_of

STEP = 24
CHARACTERS = st.one_of(
    st.sampled_from(["a", '"', "\\", "\n", "\0", "\x7f", "/", "u", "é", "€", "😀", "\ud83d", "\ude00", "\udc80", "d83d"]),
    st.characters(exclude_categories=()),
)
TEXTS = st.lists(CHARACTERS, max_size=120).map("".join)


@pytest.fixture(autouse=True, scope="module")
def small_steps() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "STEP", STEP)
        yield


class Source:
    """JSON text as it is stored, which counts how much of it was asked for at once."""

    def __init__(self, text: str) -> None:
        self.content = text.encode("utf-8", "surrogateescape")
        self.most = 0

    def __call__(self, start: int, end: int) -> bytes:
        self.most = max(self.most, end - start)
        return self.content[start:end]

    @property
    def found(self) -> list[LongString]:
        return list(long_strings(self, len(self.content)))


def spelled(text: str, ascii_only: bool) -> str:
    """JSON that UTF-8 can hold: lone surrogates are escaped, but for those that stand for bytes that are no UTF-8."""
    quoted = json.dumps(text, ensure_ascii=ascii_only)
    return "".join(f"\\u{ord(c):04X}" if "\ud800" <= c <= "\udfff" and not "\udc80" <= c <= "\udcff" else c for c in quoted)


@given(st.lists(TEXTS, max_size=4), st.booleans(), st.sampled_from(["", " ", "\n" * 40]))
def test_every_long_string_is_found_and_reads_as_json_reads_it(texts: list[str], ascii_only: bool, space: str) -> None:
    source = Source("[" + f",{space}".join(spelled(text, ascii_only) for text in texts) + space + "]")
    values = json.loads(source.content.decode("utf-8", "surrogateescape"))
    places = {}
    at = 1
    for value, text in zip(values, texts, strict=True):
        quoted = spelled(text, ascii_only).encode("utf-8", "surrogateescape")
        places[at + 1] = at + len(quoted) - 1, value
        at += len(quoted) + 1 + len(space)
    found = source.found
    assert {start for start, (end, _) in places.items() if end - start > STEP} <= {string.start for string in found}
    for string in found:
        end, value = places[string.start]
        assert (string.end, string.length, string.size) == (end, len(value), byte_size(value))
        assert string.text(source, 0, string.length) == value
    assert source.most <= max([STEP, *(end - start for start, (end, _) in places.items())])


@given(TEXTS.map(lambda text: "x" * STEP + text), st.booleans(), st.data())
def test_any_stretch_is_read_alone(text: str, ascii_only: bool, data: st.DataObject) -> None:
    source = Source(spelled(text, ascii_only))
    value = json.loads(source.content.decode("utf-8", "surrogateescape"))
    long = LongText(source.found[0], source)
    start = data.draw(st.integers(0, len(value)))
    end = data.draw(st.integers(start, len(value) + 3))
    assert part_of(long, start, end) == part_of(value, start, end)
    assert length_of(long) == length_of(value)
    stop = min(end, len(value))
    assert breaks_in(long, start, stop) == breaks_in(value, start, stop)


@pytest.mark.parametrize("before", range(STEP))
@pytest.mark.parametrize(
    "spelling",
    [r"\ud83d\ude00", r"\ud83d", r"\ud83dx", r"\ud83d\n", r"\ud83d\u0041", r"\\ud83d", r"\\\u00e9", "\\\\" * 60, "😀", "é", r"\""],
)
def test_no_cut_falls_into_a_character(before: int, spelling: str) -> None:
    text = f'"{"x" * before}{spelling}{"y" * STEP}"'
    source = Source(text)
    (string,) = source.found
    assert string.text(source, 0, string.length) == json.loads(text)
    for mark in string.marks:
        spoken = json.loads(source.content[: mark.at].decode() + '"')
        assert len(spoken) == mark.characters
        assert json.loads(text).startswith(spoken)


@pytest.mark.parametrize("text", ['"' + "x" * 100, '"' + "x" * 100 + r"\u12", '"' + r"\x" * 100 + '"', '"' + "x" * 100 + "\\"])
def test_what_is_no_json_is_refused(text: str) -> None:
    with pytest.raises(ValueError):
        _ = Source(text).found


def test_of_a_long_text_only_some_steps_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "STEP", 1_000)
    source = Source(json.dumps("line\n" * 100_000))
    (string,) = source.found
    assert source.most == 1_000
    source.most = 0
    assert string.text(source, 400_000, 400_100) == "line\n" * 20
    assert string.breaks(source, 400_000) == 80_000
    assert source.most <= 2_000
