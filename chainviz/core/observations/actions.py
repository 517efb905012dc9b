"""Calls that an AI message writes as text: an action section in any text format, with JSON or YAML in it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from chainviz.core.chain.messages import Message, Text
from chainviz.core.text_formats import TEXT_FORMATS
from chainviz.core.text_formats.contract import FoundSection, TextFormat
from chainviz.core.toolchain.answer import ACTION, with_outer
from chainviz.core.toolchain.calls import ReadCalls, read_calls

_YAML_CALL = re.compile(r"^[- ]*[\"']?(?:tool|args)[\"']?[ \t]*:", re.MULTILINE)
HEAD = 1 << 12


@dataclass(frozen=True, slots=True)
class Action:
    """One action section of a message."""

    part: int
    section: FoundSection
    format: str
    """The name of its text format."""
    calls: ReadCalls
    """Offsets count from the section's `start`."""


def read_actions(message: Message, section: str = ACTION) -> tuple[Action, ...]:
    """Of the first text part that has such a section."""
    for place, part in enumerate(message.parts):
        # most texts have no action at all
        if isinstance(part, Text) and section.lower() in part.text.lower():
            found = tuple(_actions(part.text, place, section))
            if found:
                return found
    return ()


@lru_cache(maxsize=8)
def _formats(section: str) -> tuple[TextFormat, ...]:
    return tuple(text_format.register(section) for text_format in TEXT_FORMATS)


def _actions(text: str, part: int, name: str) -> Iterator[Action]:
    for text_format in _formats(name):
        sections = text_format.scan(text).sections
        for section, is_outer in with_outer(sections):
            if not is_outer:
                yield Action(part, section, text_format.name, _calls(section.content))
        if sections:
            return


def _calls(text: str) -> ReadCalls:
    """As YAML where it is not JSON and looks like a call."""
    read = read_calls(text, "json")
    return read_calls(text, "yaml") if read.error and _YAML_CALL.search(text, 0, HEAD) else read
