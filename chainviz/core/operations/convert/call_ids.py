"""New ids for the tool calls that a target refuses (issue 10). A call and its result get the same one, pair by pair; the same
chain always gets the same ids."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from chainviz.core.chain.calls.tool_ids import Template, parse_template, renamings
from chainviz.core.chain.chain import MemoryChain
from chainviz.core.chain.messages import Message, Part, ToolCall, ToolResult
from chainviz.core.formats.contract import Format
from chainviz.core.providers import PROVIDERS
from chainviz.core.providers.contract import CallIds

ANY = CallIds(pattern="(?s).+")
"""For formats that belong to no API: a call without an id would lose its result there."""


@dataclass(frozen=True, slots=True)
class Accepting(Template):
    """Makes ids of a template, and accepts every id of a pattern."""

    pattern: str

    def accepts(self, id: str, name: str = "") -> bool:
        return re.fullmatch(self.pattern, id) is not None


def ids_of(format: Format) -> CallIds:
    """The ids that the API of a format takes."""
    found = (provider.call_ids for provider in PROVIDERS if format.name in provider.formats | provider.clients)
    return next(found, ANY)


def with_accepted_ids(messages: Sequence[Message], ids: CallIds) -> list[Message]:
    """The messages with new ids where the API refuses those that they have."""
    template = Accepting(parse_template(ids.template).tokens, ids.pattern)
    return _renamed(messages, template, unique=ids.unique)


def with_ids_of_template(messages: Sequence[Message], template: str) -> list[Message]:
    """The messages with new ids where theirs do not follow the template (seed 1, Tool Call ID Normalization)."""
    return _renamed(messages, parse_template(template), unique=False)


def _renamed(messages: Sequence[Message], template: Template, *, unique: bool) -> list[Message]:
    new = list(messages)
    source = random.Random(repr([message.calls for message in messages]))
    for renaming in renamings(MemoryChain(tuple(messages)).tree, template, source, unique=unique):
        message = new[renaming.message]
        parts = list(message.parts)
        parts[renaming.part] = _with_id(parts[renaming.part], renaming.new)
        new[renaming.message] = replace(message, parts=tuple(parts))
    return new


def _with_id(part: Part, id: str) -> Part:
    match part:
        case ToolCall():
            return replace(part, id=id)
        case ToolResult():
            return replace(part, call_id=id)
    return part
