"""Calls beyond the reference's cases: each entry with its place and its error, exact numbers, hostile YAML."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chainviz.core.toolchain import CallsError, parse_calls, read_calls
from chainviz.core.toolchain.syntax import to_yaml
from tests.cpu import cpu_seconds
from tests.examples import examples

BROKEN = """[
  {"tool": "hold", "args": {"n": 1.50}},
  {"args": {"city": "Oslo"}},
  {"tool": "weather", "args": ["Oslo"]},
  {"tool": 7},
  42
]"""


def test_each_entry_has_its_place_and_its_own_error() -> None:
    read = read_calls(BROKEN)
    assert [BROKEN[entry.start : entry.end] for entry in read.entries] == [line.strip().rstrip(",") for line in BROKEN.splitlines()[1:-1]]
    assert [entry.error and str(entry.error) for entry in read.entries] == [
        None,
        "Line 3, column 3: “tool” is missing; all calls of this text are rejected.",
        "Line 4, column 3: “args” must be an object, not a list.",
        "Line 5, column 3: “tool” must be a string, not a number.",
        "Line 6, column 3: a call must be an object, not a number.",
    ]
    assert read.calls == ()
    assert read.error is not None and read.error.kind == "invalid_json"


def test_one_bad_entry_rejects_the_whole_text() -> None:
    with pytest.raises(CallsError) as error:
        parse_calls('[{"tool": "a"}, {"args": {}}]')
    assert (error.value.kind, error.value.line, error.value.column) == ("missing_tool_name", 1, 17)


def test_entries_before_a_broken_one_are_read() -> None:
    read = read_calls('[{"tool": "a"},\n {"tool": }]')
    assert [entry.name for entry in read.entries] == ["a"]
    assert read.error is not None and (read.error.line, read.error.column) == (2, 11)


ERRORS = [
    ("json", '```json\n{"tool": "a"}\n```', "Line 1, column 1: a value is missing or misspelled."),
    ("json", '[{"tool": "a"}] tail', "Line 1, column 17: there is text after the end of the document."),
    ("json", '[{"tool": "a"} {"tool": "b"}]', "Line 1, column 16: a comma or closing bracket is missing."),
    ("json", '{"tool": "a", "args": {"n": NaN}}', "Line 1, column 1: a number is too long, or none that JSON has."),
    ("json", "[" * 100_000, "Line 1, column 1: values are nested too deep."),
    ("yaml", "tool: mail\nargs:\n  subject: Re: hello", "Line 3, column 14: a second colon needs quotes around its text."),
    ("yaml", "tool: a\nargs: \x00", "Line 2, column 7: a character is not allowed in YAML."),
    ("yaml", "- a\n- tool: b", "Line 1, column 3: a call must be a mapping."),
    ("yaml", "tool: [a", "Line 1, column 9: expected ',' or ']', but got '<stream end>'."),
    ("yaml", "# nothing", "Line 1, column 1: a call must be a mapping."),
    ("yaml", "tool: a\nargs: &x {y: *x}", "Line 2, column 7: aliases repeat too much."),
]  # fmt: skip


@pytest.mark.parametrize(("syntax", "text", "sentence"), ERRORS)
def test_errors_say_where_and_what(syntax: str, text: str, sentence: str) -> None:
    read = read_calls(text, syntax)  # type: ignore[arg-type]
    assert str(read.error) == sentence
    assert read.calls == ()


def test_numbers_keep_their_length_and_their_spelling() -> None:
    text = '{"tool": "a", "args": { "n":12345678901234567890, "x" : 1.50 }}'
    (call,) = parse_calls(text)
    assert call.arguments == {"n": 12345678901234567890, "x": 1.5}
    assert call.text == '{ "n":12345678901234567890, "x" : 1.50 }'
    (call,) = parse_calls("tool: a\nargs: {n: 12345678901234567890}", "yaml")
    assert json.loads(call.text) == {"n": 12345678901234567890}
    assert parse_calls('{"tool": "a"}')[0].text == "{}"


def test_yaml_entries_have_their_places() -> None:
    text = "- tool: a\n  args:\n    x: 1\n\n- {tool: b}\n"
    read = read_calls(text, "yaml")
    assert [text[entry.start : entry.end] for entry in read.entries] == ["tool: a\n  args:\n    x: 1", "{tool: b}"]


def test_schemas_reach_nested_values() -> None:
    schema = {"properties": {"when": {"properties": {"day": {"type": ["string", "null"]}}}, "ids": {"items": {"type": "string"}}}}
    text = "tool: a\nargs:\n  when: {day: 2026-01-20, n: 007}\n  ids: [007, yes]\n  other: 007"
    (call,) = parse_calls(text, "yaml", {"a": schema})
    assert call.arguments == {"when": {"day": "2026-01-20", "n": 7}, "ids": ["007", "yes"], "other": 7}


SCALARS = [
    ("~", None), ("True", True), ("no", "no"), ("0x1F", 31), ("0o17", 15), ("010", 8), ("08", 8.0), ("-1_000", -1000),
    ("+5", 5), ("1e3", 1000.0), (".5", 0.5), (".inf", ".inf"), (".nan", ".nan"), ("1e999", "1e999"), ("0x", "0x"),
    ("2026-01-20T10:00:00+02:00", "2026-01-20T10:00:00+02:00"), ("2026-13-45", "2026-13-45"), ("1.2.3", "1.2.3"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "value"), SCALARS)
def test_scalars_without_quotes(text: str, value: object) -> None:
    (call,) = parse_calls(f"tool: a\nargs:\n  v: {text}", "yaml")
    assert call.arguments == {"v": value}
    assert type(call.arguments["v"]) is type(value)


def test_aliases_cannot_make_a_small_text_huge() -> None:
    levels = [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10) if i else 'x'}]" for i in range(12)]
    read = read_calls("tool: t\nargs:\n  " + "\n  ".join(levels), "yaml")
    assert read.error is not None and "aliases repeat too much" in str(read.error)


values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**80), 2**80) | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
    | st.sampled_from(["yes", "007", "2026-01-20", "0o7", "1e3", "null", "~", "", "a\nb\n", " x", "- a", "a: b", "#", "|-", "..."]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("ab: #-\n", max_size=4), inner, max_size=3),
    max_leaves=8,
)  # fmt: skip


@given(values)
@examples(200)
def test_what_is_written_as_yaml_is_read_as_the_same_value(value: object) -> None:
    (call,) = parse_calls(to_yaml({"args": {"v": value}, "tool": "t"}), "yaml")
    assert call.arguments == {"v": value}
    if isinstance(value, float):
        assert isinstance(call.arguments["v"], float)


@given(st.text(max_size=40), st.sampled_from(["json", "yaml"]))
@examples(150)
def test_reading_never_fails(text: str, syntax: str) -> None:
    for mixed in (text, f'[{{"tool": "a"}}, {text}]', f"tool: {text}", f"- tool: a\n  args: {text}"):
        read = read_calls(mixed, syntax)  # type: ignore[arg-type]
        for entry in read.entries:
            assert 0 <= entry.start <= entry.end <= len(mixed)
            assert (entry.call is None) != (entry.error is None)


def test_many_wrong_entries_are_linear() -> None:
    def text(count: int) -> str:
        return "[" + ",\n".join(["{}"] * count) + "]"

    small, large = (cpu_seconds(lambda count=count: read_calls(text(count))) for count in (250, 2_000))  # type: ignore[misc]
    assert large < 24 * max(small, 0.001)
