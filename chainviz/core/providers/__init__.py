"""What each provider's API accepts.

Read in this order: `contract` (rules and providers as values), `rules` (what is judged, in contents and between messages),
`check` (a chain asked about as a whole), `verdict`, `wire` (the JSON that would be sent), then one file a provider; `errors`
finds what an API's message is about.
"""

from __future__ import annotations

from chainviz.core.chain.messages import Message
from chainviz.core.chain.problems import Problem
from chainviz.core.chain.tree import ChainAST
from chainviz.core.errors import OptionsError
from chainviz.core.providers.anthropic import PROVIDER as ANTHROPIC
from chainviz.core.providers.bedrock import PROVIDER as BEDROCK
from chainviz.core.providers.chat_templates import OLLAMA_PROVIDER, VLLM_PROVIDER
from chainviz.core.providers.check import check_all
from chainviz.core.providers.contract import Provider
from chainviz.core.providers.deepseek import PROVIDER as DEEPSEEK
from chainviz.core.providers.deepseek import PROVIDER_2025 as DEEPSEEK_2025
from chainviz.core.providers.gemini import GEMINI_2_5, GEMINI_3
from chainviz.core.providers.mistral import PROVIDER as MISTRAL
from chainviz.core.providers.openai_chat import PROVIDER as OPENAI_CHAT
from chainviz.core.providers.openai_responses import PROVIDER as OPENAI_RESPONSES
from chainviz.core.providers.openai_responses import PROVIDER_DEEPSEEK as DEEPSEEK_RESPONSES
from chainviz.core.providers.verdict import Verdict, verdict_of

PROVIDERS: tuple[Provider, ...] = (
    OPENAI_CHAT,
    OPENAI_RESPONSES,
    ANTHROPIC,
    GEMINI_2_5,
    GEMINI_3,
    BEDROCK,
    MISTRAL,
    DEEPSEEK,
    DEEPSEEK_2025,
    DEEPSEEK_RESPONSES,
    OLLAMA_PROVIDER,
    VLLM_PROVIDER,
)


def verdicts(tree: ChainAST[Message], format: str = "") -> dict[str, Verdict]:
    """Provider name to its verdict on a chain that is written in this format."""
    found: dict[str, list[Problem]] = {provider.name: [] for provider in PROVIDERS}
    for provider, problem in check_all(PROVIDERS, tree, format):
        found[provider.name].append(problem)
    return {name: verdict_of(problems) for name, problems in found.items()}


def get_provider(name: str) -> Provider:
    """Takes - and _ alike. Raises OptionsError, with the known names, where there is no such provider."""
    for provider in PROVIDERS:
        if provider.name.replace("-", "_") == name.replace("-", "_"):
            return provider
    names = ", ".join(provider.name for provider in PROVIDERS)
    raise OptionsError(f"There is no provider “{name[:40]}”; choose one of {names}.")
