"""Parse, tree and problems. The floor is the standard library reading the same JSON."""

from __future__ import annotations

import json
from pathlib import Path

from chainviz.core.chain.messages import AI, HUMAN, TOOL, Message, Text, ToolCall, ToolResult
from chainviz.core.chain.problems import tree_problems
from chainviz.core.chain.tree import parse
from chainviz.core.load import load_file
from tests.bench.measures import cost, table


def report(files: dict[int, Path]) -> None:
    rows = []
    for size, file in files.items():
        messages = load_file(file)[0].messages
        floor = cost(lambda file=file: json.loads(file.read_bytes())).cpu
        rows.append([size, _judge(messages), floor])
    rows.append(["4,000 calls in one message", _judge(_one_message_of_calls(4_000)), ""])
    rows.append(["8,000 calls in one message", _judge(_one_message_of_calls(8_000)), ""])
    heads = ["messages", "CPU s", "floor: json.loads"]
    table("Parse + tree + sizes + problems (goal: 100,000 messages in 1 s CPU; calls linear)", heads, rows)


def _judge(messages: tuple[Message, ...]) -> float:
    def work() -> int:
        tree = parse(messages)
        return tree.size + len(list(tree_problems(tree)))

    return cost(work).cpu


def _one_message_of_calls(count: int) -> tuple[Message, ...]:
    calls = tuple(ToolCall(f"call_{i}", "f", "{}") for i in range(count))
    results = [Message(TOOL, (ToolResult(f"call_{i}", "f", "x"),)) for i in range(count)]
    return (Message(HUMAN, (Text("go"),)), Message(AI, calls), *results)
