"""What each provider's API accepts, one file a provider."""

from __future__ import annotations

from collections.abc import Iterator

from chainviz.core.chain.messages import Message
from chainviz.core.chain.problems import Problem
from chainviz.core.chain.tree import ChainAST
from chainviz.core.providers import anthropic, openai_chat
from chainviz.core.providers.contract import Provider, check

PROVIDERS: tuple[Provider, ...] = (openai_chat.PROVIDER, anthropic.PROVIDER)


def provider_problems(tree: ChainAST[Message]) -> Iterator[Problem]:
    for provider in PROVIDERS:
        yield from check(provider, tree)


def verdicts(tree: ChainAST[Message]) -> dict[str, tuple[int, int]]:
    """Provider name to its number of errors and warnings."""
    found = {}
    for provider in PROVIDERS:
        severities = [problem.severity for problem in check(provider, tree)]
        found[provider.name] = severities.count("error"), severities.count("warning")
    return found
