"""Give new ids to tool calls whose ids a target refuses, and the same ids to their results, pair by pair. Calls for an API that requires
signatures get the fake signature that it accepts for calls of other models."""

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
"""The ids of formats without an API. An empty id is refused, because a call without an id would lose its result."""


@dataclass(frozen=True, slots=True)
class Accepting(Template):
    """A template that accepts every id that matches a pattern."""

    pattern: str

    def accepts(self, id: str, name: str = "") -> bool:
        return re.fullmatch(self.pattern, id) is not None


def ids_of(format: Format) -> CallIds:
    """Return the ids that the API of a format accepts."""
    found = (provider.call_ids for provider in PROVIDERS if format.name in provider.formats | provider.clients)
    return next(found, ANY)


NewIds = Mapping[int, Mapping[int, str]]
"""The new ids by message and part."""


def accepted_ids(tree: ChainAST[M_co], ids: CallIds) -> NewIds:
    """Return new ids for calls, and their results, whose ids the API refuses."""
    template = Accepting(parse_template(ids.template).tokens, ids.pattern)
    return _new_ids(tree, template, unique=ids.unique)


def ids_of_template(tree: ChainAST[M_co], template: str) -> NewIds:
    """Return new ids for calls, and their results, whose ids do not follow the template."""
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
    """Return True if the provider requires signed calls in this format."""
    return any("sign-calls" in each.rule.fixes for each in provider.rules_of_sections(format))


def with_signed_calls(messages: Sequence[Message]) -> list[Message]:
    """Return the messages with a fake signature on every unsigned call of the last section. APIs check only the current turn."""
    sections = MemoryChain(tuple(messages)).tree.sections
    start = len(messages) - len(sections[-1]) if sections else 0
    return [*messages[:start], *(with_signed_call(each) if acts_unsigned(each) else each for each in messages[start:])]
