"""Langfuse and LangSmith: observations and runs with messages in the form of the traced program."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from chainviz.core.chain.messages import Fragment, Message, Role
from chainviz.core.documents.json.edit import parse
from chainviz.core.documents.units import Pointer, Sample, Unit
from chainviz.core.formats.contract import Format, Style


class MixedFormat(Format):
    """Formats whose messages are in the dialect of whichever program was traced: each unit is read and written in its own."""

    blocks_at: Pointer = ("content",)
    hints = ("role", "lc", "type")

    def __init__(self, *dialects: Format) -> None:
        """The last dialect is that of messages which no other document shows the shape of."""
        self.dialects = dialects

    def is_traced(self, document: dict[str, Any]) -> bool:
        """Return True if the object around the messages belongs to the tracing tool."""
        raise NotImplementedError

    def is_message(self, value: object) -> bool:
        return any(dialect.is_message(value) for dialect in self.dialects)

    def confidence(self, sample: Sample) -> float:
        return 0.985 if self.is_traced(sample.document) and any(map(self.is_message, sample.values)) else 0.0

    def dialect_of(self, value: Any) -> Format:
        return max(reversed(self.dialects), key=lambda dialect: dialect.confidence(Sample((value,), {})))

    def read(self, units: Iterable[Unit]) -> Iterator[Message | Unit]:
        for unit in units:
            yield from self.dialect_of(unit.value).read([unit])

    def message(self, role: Role, source: tuple[Fragment, ...]) -> Message:
        return self.dialect_of(parse(source[0].text)).message(role, source)

    def write(self, message: Message, style: Style) -> tuple[Fragment, ...]:
        near = message.source[0].text if message.source else style.near
        return (self.dialect_of(parse(near)) if near else self.dialects[-1]).write(message, style)

    def losses(self, message: Message) -> tuple[str, ...]:
        return self.dialects[-1].losses(message)


_OBSERVATION = ("traceId", "trace_id")


class Langfuse(MixedFormat):
    """Langfuse observations: `input` (a list, or an object with `messages`) and `output` of a generation are one chain, in the
    dialect of the traced program. Each generation of a trace is a chain of its own; the last one holds what came before it.
    """

    name = "langfuse"
    label = "Langfuse trace"
    tested_with = "langfuse 5.0"
    answers = (("output",),)
    sequences = ((("input", "messages"), ("input",), ("output",)),)

    def is_traced(self, document: dict[str, Any]) -> bool:
        if isinstance(document.get("observations"), list):
            return True
        return any(key in document for key in _OBSERVATION) and "type" in document


class LangSmith(MixedFormat):
    """LangSmith runs: the messages of `inputs` and the answer of `outputs` are one chain, in the dialect of the traced program.
    Each run of a trace is a chain of its own; those of an agent repeat what came before them.
    """

    name = "langsmith"
    label = "LangSmith run"
    tested_with = "langsmith 0.15"
    answers = (("outputs", "generations", "message"), ("outputs", "choices", "message"))
    sequences = ((("inputs", "messages"), *answers),)

    def is_traced(self, document: dict[str, Any]) -> bool:
        return "run_type" in document and "inputs" in document
