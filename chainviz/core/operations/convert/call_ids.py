"""New ids for the tool calls that a target refuses (issue 10). A call and its result get the same one, pair by pair; the same
chain always gets the same ids."""

from __future__ import annotations

import random
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from chainviz.core.chain.calls.tool_ids import Template, parse_template, renamings
from chainviz.core.chain.messages import Message, Part, ToolCall, ToolResult
from chainviz.core.chain.tree import ChainAST, M, flatten
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


NewIds = Mapping[int, Mapping[int, str]]
"""The new ids by message and part."""


def accepted_ids(tree: ChainAST[M], ids: CallIds) -> NewIds:
    """Returns ids for the calls, and their results, whose own the API refuses."""
    template = Accepting(parse_template(ids.template).tokens, ids.pattern)
    return _new_ids(tree, template, unique=ids.unique)


def ids_of_template(tree: ChainAST[M], template: str) -> NewIds:
    """Returns ids for those that do not follow the template (seed 1, Tool Call ID Normalization)."""
    return _new_ids(tree, parse_template(template), unique=False)


def words_for(renamed: int) -> Iterator[str]:
    """What is said where so many calls get another id."""
    if renamed:
        yield f"{renamed:,} call {'id becomes a new one' if renamed == 1 else 'ids become new ones'}, with their results."


def renamed(messages: Iterable[Message], ids: NewIds) -> Iterator[Message]:
    for index, message in enumerate(messages):
        new = ids.get(index, {})
        parts = (_with_id(part, new[place]) if place in new else part for place, part in enumerate(message.parts))
        yield replace(message, parts=tuple(parts)) if new else message


def _new_ids(tree: ChainAST[M], template: Template, *, unique: bool) -> NewIds:
    found: dict[int, dict[int, str]] = {}
    source = random.Random(repr([message.calls for message in flatten(tree)]))
    for renaming in renamings(tree, template, source, unique=unique):
        found.setdefault(renaming.message, {})[renaming.part] = renaming.new
    return found


def _with_id(part: Part, id: str) -> Part:
    match part:
        case ToolCall():
            return replace(part, id=id)
        case ToolResult():
            return replace(part, call_id=id)
    return part
