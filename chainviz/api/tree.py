"""Chains built by hand in Python: constructors of messages, body pairs and sections, and trees that grow.

Each function returns a new value. `chain_of` makes a chain of the result, which can be checked, saved and converted.
"""

from __future__ import annotations

from collections.abc import Iterable

from chainviz.api import chain as api
from chainviz.api.chain import Chain
from chainviz.core.chain.build import (
    Tree,
    add_pair,
    add_section,
    add_tool_response,
    append_human,
    completion,
    find_tool_responses,
    header,
    human,
    pair,
    pair_from_messages,
    section,
    strict_tree,
    summarization,
    system,
    tool_message,
)
from chainviz.core.chain.messages import AI, HUMAN, SYSTEM, TOOL, Message, Text, ToolCall, ToolResult
from chainviz.core.chain.tree import BodyPair, ChainAST, PairType, Section, parse
from chainviz.core.generate import ChainConfig, generate_chain

__all__ = [
    "AI", "HUMAN", "SYSTEM", "TOOL",
    "BodyPair", "ChainAST", "ChainConfig", "Message", "PairType", "Section", "Text", "ToolCall", "ToolResult",
    "add_pair", "add_section", "add_tool_response", "append_human", "chain_of", "completion", "find_tool_responses",
    "generate_chain", "header", "human", "pair", "pair_from_messages", "parse", "section", "strict_tree", "summarization",
    "system", "tool_message",
]  # fmt: skip


def chain_of(messages: Iterable[Message] | Tree) -> Chain:
    """Return a chain of a tree, or of messages, in chainviz's own format; `Chain.convert` writes it in any other."""
    return api.chain_of(messages.messages if isinstance(messages, ChainAST) else tuple(messages))
