"""The comparison as a terminal shows it."""

from __future__ import annotations

from chainviz.core.chain.chain import MemoryChain
from chainviz.core.chain.messages import Message, Text, ToolCall, ToolResult
from chainviz.core.diff import diff_chains
from chainviz.core.diff.text import render

CALL = Message("ai", (ToolCall("1", "search", '{"q":"cats","n":5}'),))


def lines(old: list[Message], new: list[Message], most: int = 400) -> list[str]:
    return list(render(diff_chains(MemoryChain(tuple(old)), MemoryChain(tuple(new))), most_lines=most))


def test_an_edited_argument_and_an_added_result() -> None:
    edited = Message("ai", (ToolCall("1", "search", '{"q":"dogs","n":5}'),))
    result = Message("tool", (ToolResult("1", "search", "three"),))
    human = Message("human", (Text("find"),))
    assert lines([human, CALL], [human, edited, result]) == [
        "37 → 49 bytes, 2 → 3 messages, 1 → 1 pairs",
        "changes: 1 changed",
        "  … 1 unchanged message · 4 bytes · s1.h.m0",
        "~ s1.p1 changed, +12 bytes",
        "    ai message changed",
        "      tool call search changed",
        "        arguments:",
        "          {",
        '        -   "q": "cats",',
        '        +   "q": "dogs",',
        '            "n": 5',
        "          }",
        "    tool message added",
        "      tool result search added",
        "        + three",
    ]


def test_what_is_left_out_is_said() -> None:
    old, new = (Message("human", (Text("\n".join(f"{word} {i}" for i in range(30))),)) for word in ("a", "b"))
    found = lines([old], [new], most=10)
    assert len(found) < 40
    assert found[-1].strip() == "… and more: 30 lines removed, 30 added in all"


def test_control_characters_do_not_reach_the_terminal() -> None:
    found = "".join(lines([], [Message("human", (Text("\x1b[31mred\x07 \ud800"),))]))
    assert "\x1b" not in found
    assert "\\u001b[31mred\\u0007 \\ud800" in found


def test_an_empty_message_that_is_removed_is_said_to_be_empty() -> None:
    human = Message("human", (Text("find"),))
    found = lines([human, Message("ai", ()), human], [human, human])
    assert [line.strip() for line in found[-4:-1]] == ["- s1.p1 removed, 0 bytes", "ai message removed", "empty"]
