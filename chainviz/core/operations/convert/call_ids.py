"""New ids for the tool calls that a target refuses; a call and its result get the same id, pair by pair. Calls that move to an API
that requires its own signature get the mark with which it accepts calls of others."""

from __future__ import annotations

import random
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from chainviz.core.chain.chain import MemoryChain
from chainviz.core.chain.messages import Message, Part, ToolCall, ToolResult
from chainviz.core.chain.reasoning import acts_unsigned, with_signed_call
from chainviz.core.chain.tool_ids import Template, parse_template, renamings
from chainviz.core.chain.tree import ChainAST, M_co, flatten
from chainviz.core.formats.contract import Format
from chainviz.core.formats.vendors import PROVIDERS
from chainviz.core.providers.contract import CallIds, Provider

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


def accepted_ids(tree: ChainAST[M_co], ids: CallIds) -> NewIds:
    """Returns ids for the calls, and their results, whose own the API refuses."""
    template = Accepting(parse_template(ids.template).tokens, ids.pattern)
    return _new_ids(tree, template, unique=ids.unique)


def ids_of_template(tree: ChainAST[M_co], template: str) -> NewIds:
    """Returns ids for those that do not follow the template (seed 1, Tool Call ID Normalization)."""
    return _new_ids(tree, parse_template(template), unique=False)


def words_for(renamed: int) -> Iterator[str]:
    """Yield a sentence about the calls that get another id."""
    if renamed:
        yield f"{renamed:,} call {'id becomes a new one' if renamed == 1 else 'ids become new ones'}, with their results."


def renamed(messages: Iterable[Message], ids: NewIds) -> Iterator[Message]:
    for index, message in enumerate(messages):
        new = ids.get(index, {})
        parts = (_with_id(part, new[place]) if place in new else part for place, part in enumerate(message.parts))
        yield replace(message, parts=tuple(parts)) if new else message


def _new_ids(tree: ChainAST[M_co], template: Template, *, unique: bool) -> NewIds:
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


def wants_signatures(provider: Provider, format: str) -> bool:
    """Whether the API checks the signatures of calls in this format."""
    return any("sign-calls" in each.rule.fixes for each in provider.rules_of_sections(format))


def with_signed_calls(messages: Sequence[Message]) -> list[Message]:
    """The messages with a mark on every unsigned call of the last section: APIs look at the current turn only."""
    sections = MemoryChain(tuple(messages)).tree.sections
    start = len(messages) - len(sections[-1]) if sections else 0
    return [*messages[:start], *(with_signed_call(each) if acts_unsigned(each) else each for each in messages[start:])]
