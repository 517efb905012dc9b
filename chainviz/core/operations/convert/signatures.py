"""Calls that move to an API which wants its own signature on them: they get the mark with which it takes calls of others."""

from __future__ import annotations

from collections.abc import Sequence

from chainviz.core.chain.chain import MemoryChain
from chainviz.core.chain.messages import Message
from chainviz.core.chain.reasoning import acts_unsigned, with_signed_call
from chainviz.core.providers.contract import Provider


def wants_signatures(provider: Provider, format: str) -> bool:
    """Whether the API checks the signatures of calls in this format."""
    return any("sign-calls" in each.rule.fixes for each in provider.rules_of_sections(format))


def with_signed_calls(messages: Sequence[Message]) -> list[Message]:
    """The messages with a mark on every unsigned call of the last section: APIs look at the current turn only."""
    sections = MemoryChain(tuple(messages)).tree.sections
    start = len(messages) - len(sections[-1]) if sections else 0
    return [*messages[:start], *(with_signed_call(each) if acts_unsigned(each) else each for each in messages[start:])]
