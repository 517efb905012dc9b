"""What a state document is, where its problem lies, and what can be kept of it. Cases the reference's do not cover."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chainviz.core.errors import Refused
from chainviz.core.load import load_file
from chainviz.core.state.document import State, write_state
from chainviz.core.state.faults import Fault, read_state, salvage

U, A = {"role": "user", "content": "u"}, {"role": "assistant", "content": "a"}


def document(*messages: Any, **members: Any) -> bytes:
    value = {"version": 1, "provider": "openai", "processed_length": len(messages), "messages": list(messages), **members}
    return json.dumps({key: item for key, item in value.items() if item != "absent"}).encode()


PROBLEMS: list[tuple[str, bytes, Fault, int, int, str]] = [
    ("missing comma", b'{"version": 1,\n "provider": "openai",\n "messages": [{"role": "user" "content": ""}]}',
     Fault.INVALID_JSON, 3, 31, "comma"),
    ("cut off", b'{"version": 1,\n "messages": [', Fault.INVALID_JSON, 2, 15, "value is missing"),
    ("followed by text", document(U) + b"\n\n{}", Fault.INVALID_JSON, 3, 1, "text after the end"),
    ("a list", b"\n [1]", Fault.INVALID_JSON, 2, 2, "an object, not a list"),
    ("nested too deep", b"[" * 100_000, Fault.INVALID_JSON, 1, 1, "nested"),
    ("a number of 5,000 digits", b"1" * 5000, Fault.INVALID_JSON, 1, 1, "too long"),
    ("version as a text", document(version="1"), Fault.INVALID_JSON, 1, 13, "`version` is a text"),
    ("version true", document(version=True), Fault.INVALID_JSON, 1, 13, "true or false"),
    ("provider as a list", document(provider=["openai"]), Fault.INVALID_JSON, 1, 28, "`provider` is a list"),
    ("length as a fraction", document(processed_length=1.5), Fault.INVALID_JSON, 1, 58, "`processed_length` is a number"),
    ("messages as an object", document(messages={}), Fault.INVALID_JSON, 1, 73, "`messages` is an object"),
    ("no version", document(version="absent"), Fault.UNSUPPORTED_VERSION, 1, 1, "`version` is missing"),
    ("version null", document(version=None), Fault.UNSUPPORTED_VERSION, 1, 13, "`version` is missing"),
    ("version 3 of another provider", document(7, version=3, provider="x"), Fault.UNSUPPORTED_VERSION, 1, 13, "is 3"),
    ("no provider", document(U, provider="absent"), Fault.PROVIDER_MISMATCH, 1, 1, "missing"),
    ("provider null", document(U, provider=None), Fault.PROVIDER_MISMATCH, 1, 28, "missing"),
    ("another provider", document(7, provider="anthropic"), Fault.PROVIDER_MISMATCH, 1, 28, "anthropic, not openai"),
    ("other case", document(U, provider="OpenAI"), Fault.PROVIDER_MISMATCH, 1, 28, "is unknown"),
    ("content is a number", document(U, {"role": "user", "content": 1180}), Fault.CORRUPTED_MESSAGE, 1, 108, "messages[1]"),
    ("no role", document({"content": ""}), Fault.CORRUPTED_MESSAGE, 1, 74, "`role` is missing"),
    ("calls are an object", document({"role": "assistant", "tool_calls": {}}), Fault.CORRUPTED_MESSAGE, 1, 74, "`tool_calls`"),
    ("message null", document(U, A, None), Fault.CORRUPTED_MESSAGE, 1, 147, "messages[2]: it is null"),
]  # fmt: skip


@pytest.mark.parametrize(("content", "fault", "line", "column", "words"), [case[1:] for case in PROBLEMS],
                         ids=[case[0] for case in PROBLEMS])  # fmt: skip
def test_a_problem_is_named_with_its_place(content: bytes, fault: Fault, line: int, column: int, words: str) -> None:
    file = read_state(content, "openai")
    assert file.content == content
    with pytest.raises(Refused, match="Resolve this first"):
        file.opened()
    problem = file.problem
    assert problem is not None
    assert (problem.fault, problem.line, problem.column) == (fault, line, column)
    assert words in problem.text and problem.text.endswith(".")
    assert str(problem).startswith(f"Line {line}, column {column}: ")


def test_checks_stop_at_the_first_that_fails() -> None:
    checks = read_state(document(7, provider="x"), "openai").checks
    assert [check for _, check in checks] == ["passed", "passed", "failed", "not checked"]
    assert {check for _, check in read_state(document(U)).checks} == {"passed"}


FINE = [
    document(U, A), document(), document(messages=None), document(messages="absent"), document(processed_length=None),
    document({"role": "user", "content": None}), document({"role": "user"}), document(U, provider="anthropic"),
    document({"role": "user", "content": [{"type": "text", "text": "hi"}]}), b"\xef\xbb\xbf" + document(U, note="x"),
]  # fmt: skip


@pytest.mark.parametrize("content", FINE)
def test_what_is_fine_has_a_state(content: bytes) -> None:
    file = read_state(content)
    assert file.problem is None
    assert file.opened() is not None


def test_an_empty_file_is_a_new_conversation() -> None:
    assert (read_state(b"").opened(), read_state(b"").problem) == (None, None)


SALVAGED: list[tuple[str, bytes, str, int, list[int], int]] = [
    ("cut off in message 3", document(U, A, U)[:-12], "", 2, [], 3),
    ("missing comma in message 2", document(U, A, U).replace(b'"assistant", ', b'"assistant" '), "", 1, [], 3),
    ("followed by text", document(U, A) + b"x", "", 2, [], 2),
    ("version 2", document(U, A, version=2), "", 2, [], 2),
    ("no version", document(U, version="absent"), "", 1, [], 1),
    ("provider chosen", document(U, provider="absent"), "anthropic", 1, [], 1),
    ("its own provider", document(U, provider="anthropic"), "", 1, [], 1),
    ("two gaps, one of them seen", document(U, 7, A, None, processed_length=2), "", 2, [1, 3], 1),
    ("messages as an object", document(messages={}, processed_length=0), "", 0, [], 0),
    ("nothing readable", document("a", "b"), "", 0, [0, 1], 0),
]  # fmt: skip


@pytest.mark.parametrize(("content", "provider", "count", "gaps", "seen"), [case[1:] for case in SALVAGED],
                         ids=[case[0] for case in SALVAGED])  # fmt: skip
def test_readable_messages_are_salvaged(content: bytes, provider: str, count: int, gaps: list[int], seen: int) -> None:
    found = salvage(read_state(content, "openai"), provider)
    assert len(found.state.messages) == count
    assert [gap.place for gap in found.gaps] == gaps
    assert all(gap.reason.endswith(".") for gap in found.gaps)
    assert found.state.processed_length == seen
    again = read_state(write_state(found.state))
    assert again.opened() == found.state
    if count:
        (chain,) = load_file(write_state(found.state))
        assert len(chain.messages) == count
        assert chain.format.startswith("goaitools_state")


def test_salvage_needs_a_provider() -> None:
    with pytest.raises(Refused, match="openai and anthropic"):
        salvage(read_state(document(U, provider="x")))


TEXTS = st.text(max_size=8) | st.sampled_from(["\ud800", "é", "]", '"'])
MESSAGES = st.fixed_dictionaries({"role": st.sampled_from(["user", "system", "assistant"]), "content": TEXTS})


@given(st.lists(MESSAGES, max_size=4), st.integers(-2, 9), st.dictionaries(st.text(max_size=3), st.integers(), max_size=2))
def test_a_state_is_written_and_read_as_it_was(messages: list[Any], seen: int, others: dict[str, int]) -> None:
    others = {f"x{key}": item for key, item in others.items()}
    state = State("openai", tuple(map(json.dumps, messages)), seen, tuple((key, str(item)) for key, item in others.items()))
    content = write_state(state)
    assert json.loads(content)["messages"] == messages
    file = read_state(content, "openai")
    assert file.opened() == state
    assert 0 <= state.seen <= len(messages)
    assert write_state(state) == content


@given(st.binary(max_size=40) | st.text(max_size=40).map(str.encode))
def test_any_bytes_are_classified(content: bytes) -> None:
    file = read_state(content, "openai")
    if file.problem is None:
        assert (file.opened() is None) == (not content)
    else:
        assert file.problem.line >= 1 and file.problem.column >= 1
        salvage(file, "openai")
