"""Messages beside messages, parts beside parts."""

from __future__ import annotations

from chainviz.core.chain.messages import Binary, Image, Message, Reasoning, Text, ToolCall, ToolResult
from chainviz.core.diff.lines import DiffRow
from chainviz.core.diff.messages import FieldChange, compare_joined, compare_messages, written_out


def ai(*parts: Text | ToolCall) -> Message:
    return Message("ai", parts)


def tool(call_id: str, content: str) -> Message:
    return Message("tool", (ToolResult(call_id, "f", content),))


def test_a_changed_argument_is_shown_in_written_out_json() -> None:
    old = ai(Text("ok"), ToolCall("1", "f", '{"a":1,"b":[1,2]}'))
    new = ai(Text("ok"), ToolCall("1", "f", '{"a":1,"b":[1,3]}'))
    (message,) = compare_messages([old], [new])
    text, call = message.parts
    assert (text.kind, call.kind, call.title) == ("same", "changed", "f")
    ((what, diff),) = call.texts
    assert (what, diff.pretty, diff.counts) == ("arguments", True, (1, 1))
    rows = [row for row in diff.rows() if isinstance(row, DiffRow)]
    assert [row.kind for row in rows].count("changed") == 1


def test_json_that_differs_only_in_spelling_is_shown_as_it_is() -> None:
    (message,) = compare_messages([ai(ToolCall("1", "f", '{"a":1}'))], [ai(ToolCall("1", "f", '{"a": 1}'))])
    ((_, diff),) = message.parts[0].texts
    assert (diff.pretty, diff.old, diff.new) == (False, '{"a":1}', '{"a": 1}')


def test_json_with_a_name_twice_or_too_deep_is_not_written_out() -> None:
    assert written_out('{"a":1,"a":2}') == ""
    assert written_out("[" * 100_000) == ""
    assert written_out('"text"') == ""
    assert written_out("[" + "9" * 5_000 + "]") == ""


def test_names_ids_and_errors_are_field_changes() -> None:
    old = Message("tool", (ToolResult("1", "f", "x"),))
    new = Message("tool", (ToolResult("2", "g", "x", is_error=True),))
    (message,) = compare_messages([old], [new])
    assert message.parts[0].fields == (
        FieldChange("call id", "1", "2"), FieldChange("name", "f", "g"), FieldChange("error", "no error", "an error"),
    )  # fmt: skip
    assert message.parts[0].texts == ()


def test_a_role_is_a_field_of_its_message() -> None:
    (message,) = compare_messages([Message("human", (Text("a"),))], [Message("human", (Text("b"),))])
    assert message.fields == ()
    diffs = compare_joined([Message("human", (Text("a"),))], [Message("system", (Text("a"),))])
    assert diffs[0].fields == (FieldChange("role", "human", "system"),)


def test_messages_with_the_same_calls_stand_beside_each_other() -> None:
    old = [ai(ToolCall("1", "f", "{}")), tool("1", "a"), tool("2", "b")]
    new = [ai(ToolCall("1", "f", "{}")), tool("2", "c"), tool("1", "d")]
    found = [(diff.kind, diff.old, diff.new) for diff in compare_messages(old, new, 10, 20)]
    assert ("same", 10, 20) in found
    assert sorted(kind for kind, _, _ in found) == ["added", "changed", "removed", "same"]


def test_dropped_reasoning_is_shown() -> None:
    old = ai(Text("x", Reasoning("because", "sig")))
    (message,) = compare_messages([old], [ai(Text("x"))])
    assert message.parts[0].fields == (FieldChange("signature", "sig", None),)
    assert message.parts[0].texts[0][0] == "reasoning"


def test_files_are_facts() -> None:
    old = Message("human", (Binary("image/png", b"1234"), Image("https://h/a.png")))
    new = Message("human", (Binary("image/png", b"4321"), Image("https://h/b.png")))
    (message,) = compare_messages([old], [new])
    assert message.parts[0].facts == ("The bytes differ.",)
    assert message.parts[1].fields == (FieldChange("address", "https://h/a.png", "https://h/b.png"),)


def test_merged_messages_are_compared_as_one() -> None:
    one, two = Message("human", (Text("a"),)), Message("human", (Text("b"),))
    (diff,) = compare_joined([one, two], [Message("human", (Text("a\nb"),))], 4, 4)
    assert (diff.kind, diff.parts) == ("same", ())
