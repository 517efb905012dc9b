"""A chain that moves into another format and back is the same, unless one of the two says what it has no place for.

All pairs of formats that are written. Results that follow one another count as one message: some formats join them.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import pytest

from chainviz.core.chain.chain import MemoryChain
from chainviz.core.chain.messages import (
    AI,
    HUMAN,
    SYSTEM,
    TOOL,
    Binary,
    Image,
    Message,
    Opaque,
    Part,
    Reasoning,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)
from chainviz.core.dialects import leaf
from chainviz.core.formats import WRITTEN
from chainviz.core.formats.contract import Format
from chainviz.core.formats.conversion import Losses
from chainviz.core.formats.cross_provider import Route
from chainviz.core.load import document_in, load_file
from chainviz.core.operations.contract import Context
from chainviz.core.operations.convert import Convert, ConvertOptions

Messages = tuple[Message, ...]
FORMATS = [format for format in WRITTEN if format.name != "raw"]

CHAINS: dict[str, Messages] = {
    "texts": (
        Message(SYSTEM, (Text("Be brief."),)),
        Message(HUMAN, (Text("Wie spät?\n"),)),
        Message(AI, (Text(" 10 "),)),
        Message(HUMAN, (Text("?"),)),
        Message(AI, (Text(""),)),
    ),
    "calls": (
        Message(HUMAN, (Text("look"),)),
        Message(AI, (Text("I look"), ToolCall("call1aZ29", "search", '{"q": 1.50}'), ToolCall("call2bY38", "read", "{}"))),
        Message(TOOL, (ToolResult("call1aZ29", "search", "one"),)),
        Message(TOOL, (ToolResult("call2bY38", "read", "two", is_error=True),)),
        Message(AI, (Text("done"),)),
    ),
    "ids that repeat": (
        Message(HUMAN, (Text("look"),)),
        Message(AI, (ToolCall("c 1", "a", "{}"),)),
        Message(TOOL, (ToolResult("c 1", "a", "one"),)),
        Message(AI, (ToolCall("c 1", "b", "{}"),)),
        Message(TOOL, (ToolResult("c 1", "b", "two"),)),
        Message(AI, (Text("x"),)),
    ),
    "reasoning and an image": (
        Message(HUMAN, (Text("see"), Image("data:image/png;base64,iVBORw0KGgo="))),
        Message(AI, (Thinking("hm", "c2ln"), Text("a"))),
        Message(HUMAN, (Text("r"),)),
    ),
    "begins with the assistant": (
        Message(AI, (Text("How can I help?"),)),
        Message(HUMAN, (Text("q"),)),
        Message(SYSTEM, (Text("mid"),)),
        Message(AI, (Text("b"),)),
    ),
}


PNG = "data:image/png;base64,iVBORw0KGgo="
CALL, OTHER = ToolCall("call1aZ29", "search", '{"q": 1}'), ToolCall("call2bY38", "search", "{}")
ONE, TWO = (Message(TOOL, (ToolResult(call.id, "search", "one"),)) for call in (CALL, OTHER))


def ai(*parts: Part) -> Message:
    return Message(AI, parts)


FEATURES: dict[str, Messages] = {
    "a call": (ai(CALL), ONE, ai(Text("done"))),
    "an error": (ai(CALL), Message(TOOL, (ToolResult("call1aZ29", "search", "one", is_error=True),))),
    "calls at once": (ai(CALL, OTHER), ONE, TWO),
    "a text between calls": (ai(CALL, Text("and"), OTHER), ONE, TWO),
    "a call that nobody answered": (ai(CALL),),
    "invalid arguments": (ai(replace(CALL, arguments="{q:")), ONE),
    "a picture": (Message(HUMAN, (Text("see"), Image(PNG))),),
    "the address of a picture": (Message(HUMAN, (Text("see"), Image("https://a.example/b.png"))),),
    "a picture in a result": (ai(CALL), Message(TOOL, (ToolResult("call1aZ29", "search", "one", media=(Image(PNG),)),))),
    "a file": (Message(HUMAN, (Text("see"), Binary("application/pdf", b"%PDF-1.4"))),),
    "reasoning": (ai(Thinking("hm"), Text("a")),),
    "signed reasoning": (ai(Thinking("hm", "c2ln"), Text("a")),),
    "redacted reasoning": (ai(Thinking("", "c2ln", True), Text("a")),),
    "reasoning that belongs to a text": (ai(Text("a", Reasoning("hm"))),),
    "a late system message": (ai(Text("a")), Message(SYSTEM, (Text("mid"),)), ai(Text("b"))),
    "several texts": (Message(HUMAN, (Text("one"), Text("two"))), ai(Text("a"), Text("b"))),
    "an unknown role": (Message("exit", (Text("x"),)),),
    "an unknown part": (ai(Text("a"), Opaque("thing", '{"type": "thing", "x": 1}')),),
}
"""Chains that hold one thing each, so that a format that has no place for it cannot be excused by another thing."""


def joined(messages: Messages) -> Messages:
    found: list[Message] = []
    for message in messages:
        if found and message.role == found[-1].role == TOOL:
            found[-1] = replace(found[-1], parts=found[-1].parts + message.parts)
        else:
            found.append(message)
    return tuple(found)


def written(format: Format, messages: Messages) -> Messages:
    chains = load_file(b"".join(document_in(format, messages, format)), format.name)
    return tuple(message for chain in chains for message in chain.messages)


@cache
def converted(format: Format, messages: Messages) -> Messages:
    """Convert a chain as the operation does, with ids that the format accepts."""
    bare = tuple(replace(message, source=()) for message in messages)
    (splice,) = Convert().run(MemoryChain(bare), ConvertOptions(to=format.name), Context()).changes
    return written(format, splice.messages)


@cache
def has_room(format: Format, messages: Messages) -> bool:
    losses = Losses(Route(None, format))
    for message in messages:
        losses.add(message)
    return not list(losses.each_kind())


def spread(messages: Messages) -> Messages:
    """Reasoning as a part of its own, wherever it hangs."""
    return tuple(replace(each, parts=tuple(part for one in each.parts for part in leaf.spread(one))) for each in messages)


@pytest.mark.parametrize("name", FEATURES)
def test_what_a_format_does_not_give_back_it_tells(name: str) -> None:
    """The ids are those of the chain."""
    messages = (Message(HUMAN, (Text("look"),)), *FEATURES[name])
    silent = [
        format.name for format in FORMATS
        if has_room(format, messages) and joined(spread(converted(format, messages))) != joined(spread(messages))
    ]  # fmt: skip
    assert not silent
    assert any(has_room(format, messages) for format in FORMATS)


def numbered(messages: Messages) -> Messages:
    """Number the ids by the order of the calls, because a target may have made new ones."""
    ids: dict[str, str] = {}

    def own(part: object) -> object:
        if isinstance(part, ToolCall):
            ids[part.id] = str(len(ids))
            return replace(part, id=ids[part.id])
        return replace(part, call_id=ids.get(part.call_id, "")) if isinstance(part, ToolResult) else part

    return tuple(replace(message, parts=tuple(map(own, message.parts))) for message in messages)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", CHAINS)
def test_there_and_back(name: str) -> None:
    compared = 0
    wrong: list[str] = []
    for format in FORMATS:
        messages = written(format, CHAINS[name])
        if not has_room(format, messages):
            continue
        for other in FORMATS:
            if other is format or not has_room(other, messages):
                continue
            back = converted(format, converted(other, messages))
            compared += 1
            if joined(numbered(back)) != joined(numbered(messages)):
                wrong.append(f"{format.name} > {other.name}")
    assert not wrong
    assert compared > 100
