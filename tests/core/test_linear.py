"""Time grows with the chain and no faster; measured as CPU ratios, so a busy machine does not matter."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from chainviz.core.chain.chain import MemoryChain
from chainviz.core.chain.messages import SLOT, CallRef, Message
from chainviz.core.chain.problems import tree_problems
from chainviz.core.chain.surroundings import NO_SURROUNDINGS
from chainviz.core.chain.tree import ChainAST, parse
from chainviz.core.documents.json import edit as json_edit
from chainviz.core.documents.source import open_source
from chainviz.core.generate import generate_messages
from chainviz.core.load import load_file, load_source
from chainviz.core.operations.contract import Context
from chainviz.core.operations.repair import OPERATION, RepairOptions, propose
from chainviz.core.providers.wire import BASE64, misfits
from chainviz.core.session_facts import read_facts
from tests.core.pictures import ai, call, h, tool
from tests.cpu import cpu_seconds, within_cpu_seconds

SAMPLES = Path(__file__).parents[1] / "samples"


def look(messages: list[Message]) -> None:
    tree = parse(messages)
    assert tree.size >= 0 and all(pair.type for _, pair in tree.pairs())
    for _ in tree_problems(tree):
        pass


def test_a_hundred_thousand_messages_are_looked_at_quickly() -> None:
    block = list(generate_messages(20_000, random.Random(1)))
    messages = block + [message for message in block * 4 if message.role != "system"]
    messages += block[2:][: 100_000 - len(messages)]
    assert len(messages) >= 99_990
    within_cpu_seconds(2, lambda: look(messages))  # usually 0.25; `make bench` prints it beside the second it may take


def test_many_calls_and_results_in_one_pair_are_linear() -> None:
    def pair(count: int) -> list[Message]:
        return [h(), ai(*[call(f"c{i}") for i in range(count)]), *[tool(f"c{i}") for i in range(count)]]

    small, large = pair(125), pair(1_000)
    assert cpu_seconds(lambda: look(large)) < 24 * max(cpu_seconds(lambda: look(small)), 0.001)


def test_white_space_in_data_that_is_no_base64_is_linear() -> None:
    def judge(count: int) -> float:
        return cpu_seconds(lambda: list(misfits("A" + " " * count + "!", BASE64)))

    small, large = judge(5_000), judge(40_000)
    assert large < 24 * max(small, 0.001)


def test_repair_is_linear_in_what_is_broken() -> None:
    def late(count: int) -> tuple[Message, ...]:
        calls = ai(*[call(f"c{i}") for i in range(count)])
        return (h(), calls, h("wait"), *[tool(f"c{i}") for i in range(count)])

    def same(count: int) -> tuple[Message, ...]:
        return (h(), ai(*[call("c")] * count), *[tool("c")] * count)

    for make in (late, same):
        small, large = (cpu_seconds(partial(propose_anew, make(count))) for count in (125, 1_000))
        assert large < 24 * max(small, 0.001)


def test_reading_many_blocks_of_one_message_is_linear() -> None:
    def calls(count: int) -> list[Any]:
        made = [{"id": f"c{i}", "type": "function", "function": {"name": "f", "arguments": {"a": i}}} for i in range(count)]
        return [{"role": "user", "content": "x"}, {"role": "assistant", "content": "", "tool_calls": made}]

    def blocks(count: int) -> list[Any]:
        used = [{"type": "tool_use", "id": f"c{i}", "name": "f", "input": {"a": i}} for i in range(count)]
        odd = [{"type": "odd", "n": i} for i in range(count)]
        return [{"role": "user", "content": odd}, {"role": "assistant", "content": used}]

    def parts(count: int) -> list[Any]:
        odd = [{"type": "odd", "n": i} for i in range(count)]
        return [{"role": "human", "parts": [{"type": "text", "text": "x"}, *odd]}]

    for make in (calls, blocks, parts):
        small, large = (cpu_seconds(partial(read, json.dumps(make(count)))) for count in (125, 1_000))
        assert large < 24 * max(small, 0.001)


def read(text: str) -> None:
    with open_source(text.encode()) as source:
        assert load_source(source)


def propose_anew(messages: tuple[Message, ...]) -> None:
    propose(MemoryChain(messages))


class Unread:
    """A stored message whose body was not read."""

    def __init__(self, message: Message) -> None:
        self.role, self.size = message.role, message.size
        self.calls: tuple[CallRef, ...] = message.calls
        self.results: tuple[CallRef, ...] = message.results


class StoredChain:
    """A chain that counts which bodies are read."""

    format = "neutral"
    surroundings = NO_SURROUNDINGS

    def __init__(self, messages: Sequence[Message]) -> None:
        self.messages = messages
        self.read: set[int] = set()
        self.tree: ChainAST[Unread] = parse([Unread(message) for message in messages])

    def __len__(self) -> int:
        return len(self.messages)

    def __getitem__(self, index: int) -> Message:
        self.read.add(index)
        return self.messages[index]

    def slice(self, start: int, stop: int) -> Sequence[Message]:
        self.read.update(range(start, min(stop, len(self))))
        return self.messages[start:stop]

    def stream(self, start: int, stop: int) -> Iterator[Message]:
        return iter(self.slice(start, stop))

    def shapes(self) -> Sequence[Unread]:
        return list(self.tree.messages)


def test_repair_reads_only_the_messages_it_changes() -> None:
    messages = list(generate_messages(2_000, random.Random(2)))
    place = next(i for i, message in enumerate(messages) if message.role == "tool" and i > 900)
    del messages[place]
    chain = StoredChain(messages)
    outcome = OPERATION.run(chain, RepairOptions(content=False), Context())  # type: ignore[arg-type]
    assert len(outcome.changes) == 1
    assert len(chain.read) < 10


def test_the_source_of_a_message_is_decoded_once(monkeypatch: pytest.MonkeyPatch) -> None:
    again: list[str] = []

    def parse_again(text: str) -> Any:
        again.append(text)
        return json.loads(text)

    monkeypatch.setattr(json_edit, "parse", parse_again)
    files = [file for name in ("openai_chat", "anthropic", "claude_code") for file in (SAMPLES / name).iterdir()]
    assert files
    for file in files:
        assert read_facts(file.read_bytes()).messages
        messages = [message for chain in load_file(file) for message in chain.messages]
        assert not set(again) & {each.text for message in messages for each in message.source if each.ordinal != SLOT}
