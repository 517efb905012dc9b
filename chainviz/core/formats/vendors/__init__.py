"""The APIs of vendors: how their messages are read and written, and which requests each API refuses with which errors.

Each vendor is a file or folder with its formats, streams, rules and the JSON of its requests (`wire`). This module lists the
providers. Vendors do not import one another; several share the messages in `openai_form`.
"""

from __future__ import annotations

from chainviz.core.chain.messages import Message
from chainviz.core.chain.problems import Problem
from chainviz.core.chain.tree import ChainAST
from chainviz.core.errors import OptionsError
from chainviz.core.formats.vendors import compatible, deepseek, mistral
from chainviz.core.formats.vendors.anthropic import rules as anthropic
from chainviz.core.formats.vendors.bedrock import rules as bedrock
from chainviz.core.formats.vendors.google import rules as google
from chainviz.core.formats.vendors.ollama import rules as ollama
from chainviz.core.formats.vendors.openai import chat, responses_rules
from chainviz.core.providers.check import Verdict, check_all, verdict_of
from chainviz.core.providers.contract import Provider
from chainviz.core.providers.rules import Wording

PROVIDERS: tuple[Provider, ...] = (
    chat.PROVIDER,
    responses_rules.PROVIDER,
    anthropic.PROVIDER,
    google.GEMINI_2_5,
    google.GEMINI_3,
    bedrock.PROVIDER,
    mistral.PROVIDER,
    deepseek.PROVIDER,
    deepseek.PROVIDER_2025,
    responses_rules.PROVIDER_DEEPSEEK,
    ollama.OLLAMA_PROVIDER,
    ollama.VLLM_PROVIDER,
)

SERVERS: tuple[Provider, ...] = (compatible.PROVIDER, google.SIGNATURES_OF_OTHERS)
"""Providers by which no chain is judged; they find the place of an error that a person pastes."""

WORDINGS: tuple[Wording, ...] = (
    *anthropic.ERRORS,
    *bedrock.ERRORS,
    *chat.ERRORS,
    *responses_rules.ERRORS,
    *deepseek.ERRORS,
    *google.ERRORS,
    *mistral.ERRORS,
    *ollama.ERRORS,
    *compatible.ERRORS,
)
"""Error messages of all vendors that no rule quotes. The likeliest meaning of an ambiguous one comes first."""


def verdicts(tree: ChainAST[Message], format: str = "") -> dict[str, Verdict]:
    """Return the verdict of each provider, by name, on a chain in this format."""
    found: dict[str, list[Problem]] = {provider.name: [] for provider in PROVIDERS}
    for provider, problem in check_all(PROVIDERS, tree, format):
        found[provider.name].append(problem)
    return {name: verdict_of(problems) for name, problems in found.items()}


def get_provider(name: str) -> Provider:
    """Return a provider by its name, spelled with - or _. Raises OptionsError for an unknown name."""
    for provider in PROVIDERS:
        if provider.name.replace("-", "_") == name.replace("-", "_"):
            return provider
    names = ", ".join(provider.name for provider in PROVIDERS)
    raise OptionsError(f"There is no provider “{name[:40]}”; choose one of {names}.")
