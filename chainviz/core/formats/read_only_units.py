"""Formats that are read only and keep their messages in JSON: each unit says one message, or several in a row.

The readers of the members of such units are here too: hostile values give nothing, never an error.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from chainviz.core.chain.messages import SLOT, SYSTEM, Fragment, Message, Opaque, Part, Role, Text, ToolResult
from chainviz.core.dialects.members import string_of
from chainviz.core.documents.json.edit import dump, parse
from chainviz.core.documents.source import Source
from chainviz.core.documents.units import FoundList, Sample, Unit
from chainviz.core.formats.read_only import ReadOnly, said

Said = tuple[str, Sequence[Part]]
"""The word of a role, and the parts of a message."""


class ReadOnlyUnits(ReadOnly):
    lines = False
    certainty = 0.97
    """The confidence in a list with a message of the format."""

    def messages_in(self, value: Any) -> Sequence[Said]:
        """What a unit says; nothing for a unit that is carried."""
        raise NotImplementedError

    def instructions(self, value: Any) -> Sequence[Part]:
        """What the slot says; nothing where it is empty."""
        return [Text(value)] if isinstance(value, str) and value else ()

    def find(self, source: Source) -> tuple[FoundList, ...]:
        return ()

    def confidence(self, sample: Sample) -> float:
        return self.certainty if any(self.is_message(value) for value in sample.values) else 0.0

    def read(self, units: Iterable[Unit]) -> Iterator[Message | Unit]:
        for unit in units:
            if unit.ordinal == SLOT:
                if self.instructions(unit.value):
                    yield self.message(SYSTEM, (unit.fragment(),))
                continue
            found = self.messages_in(unit.value) if self.is_message(unit.value) else ()
            if not found:
                yield unit
            for place, (word, parts) in enumerate(found):
                yield said(word, parts, (unit.fragment((place,) if len(found) > 1 else None),))

    def message(self, role: Role, source: tuple[Fragment, ...]) -> Message:
        value = parse(source[0].text)
        if source[0].ordinal == SLOT:
            return said("system", self.instructions(value), source)
        place = source[0].blocks[0] if source[0].blocks else 0
        word, parts = self.messages_in(value)[place]
        return said(word, parts, source)

    def join(self, fragments: Sequence[Fragment]) -> str:
        return fragments[0].text


def inner(value: Any, key: str) -> dict[str, Any]:
    found = value.get(key) if isinstance(value, dict) else None
    return found if isinstance(found, dict) else {}


def as_text(value: Any) -> str:
    """A string as it is, the texts of a list of blocks, "" for null, and any other value as JSON."""
    if isinstance(value, str):
        return value
    texts = [string_of(item, "text") for item in value if string_of(item, "type") == "text"] if isinstance(value, list) else []
    if texts and len(texts) == len(value):
        return "\n".join(texts)
    return "" if value is None else dump(value)


def attachment(item: Any) -> Opaque:
    """A file that is only referred to."""
    return Opaque("attachment", dump(item))


def unknown(item: Any) -> Opaque:
    return Opaque(string_of(item, "type") or "part", dump(item))


def text_part(item: Any) -> Part:
    """The text of a block, or a block of texts that has none."""
    text = item.get("text") if isinstance(item, dict) else None
    return Text(text) if isinstance(text, str) else unknown(item)


def with_results(word: str, parts: Sequence[Part], results: Sequence[ToolResult]) -> list[Said]:
    """A message, and what its tools returned."""
    return [(word, parts), *([("tool", results)] if results else [])]


def in_steps(word: str, pairs: Iterable[tuple[Part, ToolResult | None]]) -> list[Said]:
    """Parts of a model with what its calls returned, step by step: a step ends where something follows its results."""
    steps: list[tuple[list[Part], list[ToolResult]]] = [([], [])]
    for part, result in pairs:
        if steps[-1][1] and result is None:
            steps.append(([], []))
        steps[-1][0].append(part)
        steps[-1][1].extend([result] if result else [])
    return [said for parts, results in steps for said in with_results(word, parts, results)]
