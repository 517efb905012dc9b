"""A writer that says what it is told, short chains, and a run in one line."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from chainviz.core.chain.chain import MemoryChain, apply_splices
from chainviz.core.chain.messages import Message, ToolResult
from chainviz.core.operations.contract import Context, Outcome
from chainviz.core.operations.summarize import SUMMARIZE, SummarizeOptions, SummaryRequest
from tests.core.pictures import ai, call, h, result, tool


@dataclass
class Fake:
    """Writes one text for everything, and remembers what it was asked."""

    text: str | Callable[[SummaryRequest], str] = "short"
    asked: list[SummaryRequest] = field(default_factory=list)
    name: str = "fake"
    label: str = "fake"

    def write(self, request: SummaryRequest, **_: Any) -> str:
        self.asked.append(request)
        return self.text if isinstance(self.text, str) else self.text(request)


def run(messages: Sequence[Message], writer: Fake | None = None, **options: Any) -> tuple[tuple[Message, ...], Outcome]:
    context = Context(writer=writer or Fake())
    outcome = SUMMARIZE.run(MemoryChain(tuple(messages)), SummarizeOptions(**options), context)
    return apply_splices(messages, outcome.changes), outcome


def size(messages: Sequence[Message]) -> int:
    return sum(message.size for message in messages)


def work(id: str, length: int = 400) -> tuple[Message, Message]:
    return ai(call(id)), tool(result(id, "x" * length))


OLD = (h("first"), *work("a"), ai("done " * 100))
TALK = (h("first"), ai("word " * 60), ai("word " * 60))
NOW = (h("now"), *work("z"))


def text_in(message: Message) -> str:
    part = message.parts[0]
    assert isinstance(part, ToolResult)
    return part.content
