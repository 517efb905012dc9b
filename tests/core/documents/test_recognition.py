"""A format says what its messages look like; finding lists asks, whatever the format."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chainviz.core.documents.detection.detect import survey
from chainviz.core.documents.detection.recognition import Recognition, peek
from chainviz.core.documents.source import open_source
from chainviz.core.documents.units import Sample
from chainviz.core.formats import FORMATS
from chainviz.core.load import load_file
from tests.cpu import cpu_seconds
from tests.examples import examples


def turns(is_message: Callable[[object], bool] = lambda value: isinstance(value, dict) and "who" in value) -> Recognition:
    """What a format unknown to the product would declare."""
    return Recognition(("who",), is_message, frozenset([("reply", "turn")]), ((("ask",), ("reply", "turn")),))


def found(value: object) -> list[tuple[str | int, ...]]:
    with open_source(json.dumps(value).encode()) as source:
        return [each.pointer for each in survey(source, turns()).lists]


TURN = {"who": "me", "says": "hi"}


def test_a_list_is_found_by_what_its_format_declares() -> None:
    assert found({"log": {"turns": [5, TURN]}}) == [("log", "turns")]
    assert found([{"ask": [TURN]}, {"ask": [TURN]}]) == [(0, "ask"), (1, "ask")]


def test_members_of_one_object_make_one_chain() -> None:
    assert found({"ask": [TURN], "x": 1, "reply": [{"turn": TURN}]}) == [("ask",)]
    assert found({"reply": {"turn": TURN}}) == [("reply", "turn")]


def test_the_format_is_asked_only_where_its_keys_stand() -> None:
    asked: list[object] = []

    def is_message(value: object) -> bool:
        asked.append(value)
        return isinstance(value, dict) and "who" in value

    with open_source(json.dumps({"a": [{"b": [{"c": 1}]}] * 50, "turns": [TURN]}).encode()) as source:
        survey(source, turns(is_message))
    assert asked == [TURN]


@pytest.mark.parametrize("cut", range(1, 90, 7))
def test_a_value_that_is_cut_off_shows_what_is_there(cut: int) -> None:
    text = '{"role": "user", "content": [{"type": "text", "text": "hello there"}], "n": [1, 2, {"x": null}]}'
    seen = peek(text[:cut])
    whole = json.loads(text)
    assert seen is None or all(key in whole for key in seen)
    assert cut < 17 or seen["role"] == "user"


def test_of_equal_keys_the_last_counts() -> None:
    content = b'{"messages": [{"role": "user", "content": "a"}], "messages": [{"role": "user", "content": "b"}]}'
    (chain,) = load_file(content)
    assert chain.messages[0].parts[0].text == "b"  # type: ignore[union-attr]


KEYS = st.sampled_from(["role", "type", "content", "parts", "message", "kind", "from", "value", "text", "id", "payload"])
WORDS = st.sampled_from(["user", "assistant", "tool", "text", "message", "tool_call", "function", "response", "ai"])
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(0, 3) | WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=5),
    max_leaves=12,
)


@given(st.dictionaries(KEYS, VALUES, max_size=5))
@examples(150)
def test_no_value_stops_a_format_from_looking_at_it(value: object) -> None:
    for format in FORMATS:
        assert format.is_message(value) in (True, False)
        assert 0 <= format.confidence(Sample((value,), {"messages": value}, "messages")) <= 1


def test_looking_for_lists_is_linear() -> None:
    def look(count: int) -> None:
        load_file(json.dumps({"steps": [{"role": [{"n": [[1]]}], "s": "[{"}] * count, "messages": [{"role": "user"}]}).encode())

    small, large = (cpu_seconds(partial(look, count)) for count in (1_000, 20_000))
    assert large < 50 * max(small, 0.001)  # usually 20
