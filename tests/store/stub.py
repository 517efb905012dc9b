"""A tiny document format for tests of the store: a JSON array of {"role", "text"?, "calls"?, "result"?} objects, one a line."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from chainviz.core.chain.messages import NEW, Fragment, Message, Part, Text, ToolCall, ToolResult
from chainviz.core.documents.units import Envelope, Span
from chainviz.core.formats.contract import Style


def parts(value: dict[str, Any]) -> tuple[Part, ...]:
    found: list[Part] = []
    if "text" in value:
        found.append(Text(value["text"], origin=0))
    found += [ToolCall(id, name, "{}") for id, name in value.get("calls", [])]
    found += [ToolResult(id, "", text) for id, text in value.get("results", [])]
    return tuple(found)


class Stub:
    name = "stub"
    label = "Stub"
    writes = True
    slot_key = ""
    blocks_at = ()
    links = None
    join = None
    takes = None
    writes = True

    def message(self, role: str, source: tuple[Fragment, ...]) -> Message:
        return Message(role, parts(json.loads(source[0].text)), source=source)

    def write(self, message: Message, style: Style) -> tuple[Fragment, ...]:
        value: dict[str, Any] = {"role": message.role}
        for part in message.parts:
            if isinstance(part, Text):
                value["text"] = part.text
            elif isinstance(part, ToolCall):
                value.setdefault("calls", []).append([part.id, part.name])
            elif isinstance(part, ToolResult):
                value.setdefault("results", []).append([part.call_id, part.content])
        text = json.dumps(value)
        if message.source:
            old = message.source[0]
            return (old if old.text == text else Fragment(old.ordinal, old.lead, text),)
        return (Fragment(NEW, "", text),)


STUB = Stub()


@dataclass(frozen=True)
class StubFound:
    region: Span
    inside: tuple[str, ...] = ()
    pointer: tuple[str, ...] = ()
    lines: bool = False
    single: bool = False

    @property
    def start(self) -> int:
        return self.region.start

    @property
    def end(self) -> int:
        return self.region.end


class StubReader:
    def __init__(self, source: Any, found: Any, format: Any, salvage: bool = False) -> None:
        self.source = source
        self.warnings: tuple[str, ...] = ()

    def __iter__(self) -> Iterator[Message]:
        content = self.source.read(0, self.source.size)
        place = lead = 1
        for ordinal, line in enumerate(content[1:-1].split(b",\n")) if len(content) > 2 else []:
            start = 1 if not ordinal else place + 2
            lead = start - place
            place = start + len(line)
            fragment = Fragment(ordinal, content[start - lead : start].decode(), line.decode(), None, start)
            yield STUB.message(json.loads(line)["role"], (fragment,))
        self.envelope = Envelope(Span(0, len(content)), Span(1, len(content) - 1), (), lead=",\n")


def document(messages: list[dict[str, Any]]) -> bytes:
    return b"[" + b",\n".join(json.dumps(message).encode() for message in messages) + b"]"
