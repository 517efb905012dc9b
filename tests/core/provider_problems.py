from __future__ import annotations

from collections.abc import Iterator

from chainviz.core.chain.messages import Message
from chainviz.core.chain.problems import Problem
from chainviz.core.chain.tree import ChainAST
from chainviz.core.formats.vendors import PROVIDERS
from chainviz.core.providers.check import check_all


def provider_problems(tree: ChainAST[Message]) -> Iterator[Problem]:
    """What all providers say, section by section."""
    return (problem for _, problem in check_all(PROVIDERS, tree, ""))
