"""The provider to whose API a chain's next call goes. Every page, command and API asks `own_provider`.

What is recorded decides: the API, its address and the model of the last answer, then those beside the messages. Without a record it is
the usual API of the format.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from chainviz.core.chain.chain import Chain
from chainviz.core.chain.messages import AI, Message
from chainviz.core.documents.json.edit import parse
from chainviz.core.formats.vendors import PROVIDERS, get_provider
from chainviz.core.providers.contract import Provider
from chainviz.core.providers.request import Request
from chainviz.core.usage.model_catalog import known_model
from chainviz.core.usage.recorded import find_api, find_model

SPOKEN = {"droid_session": "anthropic", "gemini_cli": "google"}
"""The vendor or provider of agents that talk to no other API and whose sessions have a form of their own."""
USUAL = {"pi_session": "anthropic"}
"""The provider that other agents talk to, if they record none; it is OpenAI's Chat Completions for formats that are not listed."""
ANY = "openai-chat"
SHARED = "openai_chat"
"""The form that several APIs speak and that many programs store."""
APIS = {
    "anthropic-messages": "anthropic", "openai-completions": ANY, "openai-responses": "openai-responses", "bedrock": "bedrock",
    "azure-openai-responses": "openai-responses", "openai-codex-responses": "openai-responses", "google-generative-ai": "google",
    "google-gemini-cli": "google", "bedrock-converse-stream": "bedrock", "mistral-conversations": "mistral",
    "anthropic": "anthropic", "google-vertex-anthropic": "anthropic", "openai": "openai", "azure": "openai", "google": "google",
    "google-vertex": "google", "google-genai": "google", "gemini": "google", "vertex-ai": "google", "gcp.gemini": "google",
    "amazon-bedrock": "bedrock", "aws.bedrock": "bedrock", "mistral": "mistral", "mistralai": "mistral", "mistral-ai": "mistral",
    "deepseek": "deepseek", "ollama": "ollama", "vllm": "vllm", "github-copilot": ANY, "openrouter": ANY, "opencode": ANY, "groq": ANY,
}  # fmt: skip
"""The provider or the vendor by the name that a program records."""
ADDRESSES = {
    "/anthropic": "anthropic", "/openai": ANY, "api.anthropic.com": "anthropic", "api.openai.com": "openai", ":11434/v1": ANY,
    "generativelanguage.googleapis.com": "google", "aiplatform.googleapis.com": "google", "bedrock-runtime.": "bedrock",
    "api.mistral.ai": "mistral", "api.deepseek.com": "deepseek", ":11434": "ollama", "openrouter.ai": ANY, "api.groq.com": ANY,
}  # fmt: skip
"""The provider or the vendor by a part of the recorded address of its API; the first part that fits counts."""
AI_SDK = frozenset(("opencode", "opencode_events", "vercel_model", "vercel_ui", "vercel_spans"))
"""Formats of programs whose provider `openai` is OpenAI's Responses API; elsewhere it is Chat Completions."""
MOST_READ = 24
"""The number of messages at the end of a chain that are searched for a record."""
AT_ONCE = 6


def own_provider(chain: Chain, request: Request) -> Provider:
    """Return the provider of the chain's next call. `request` contains the facts that the document records beside the
    messages."""
    speakers = _speakers(chain.format)
    if len(speakers) == 1:
        return speakers[0]
    for api, model in _records(chain, request):
        found = _of_api(speakers, chain.format, api, model) or _of_model(speakers, chain.format, model)
        if found is not None:
            return found
    return speakers[0]


def _speakers(format: str) -> Sequence[Provider]:
    """Return the providers that a chain in this format may go to, the usual one first."""
    if format in SPOKEN:
        return _of_vendor(SPOKEN[format])
    if format != SHARED:
        found = [each for each in PROVIDERS if format in each.formats or format in each.clients]
        if found:
            return sorted(found, key=lambda each: not each.is_of(format))
    return (get_provider(USUAL.get(format, ANY)), *PROVIDERS)


def _of_vendor(name: str) -> Sequence[Provider]:
    return [each for each in PROVIDERS if name in (each.vendor, each.name)]


def _records(chain: Chain, request: Request) -> Iterator[tuple[str, str]]:
    """Yield the API and the model of the last answers, the newest first, and those beside the messages."""
    for stop in range(len(chain), max(0, len(chain) - MOST_READ), -AT_ONCE):
        for message in reversed(chain.slice(max(0, stop - AT_ONCE), stop)):
            yield from _recorded_in(message)
    yield request.api, request.model


def _recorded_in(message: Message) -> Iterator[tuple[str, str]]:
    for fragment in reversed(message.source) if message.role == AI else ():
        try:
            value = parse(fragment.text)
        except (ValueError, RecursionError):
            continue  # a source that is not JSON
        yield find_api(value), find_model(value)


def _of_api(speakers: Sequence[Provider], format: str, api: str, model: str) -> Provider | None:
    """Return the provider of a recorded API."""
    name = api.lower().replace("_", "-")
    known = APIS.get(name) or next((value for part, value in ADDRESSES.items() if "//" in name and part in name), "")
    if known == "openai":
        known = "openai-responses" if format in AI_SDK else ANY
    found = [each for each in _of_vendor(known) if each in speakers] if known else []
    return _best(found, format, model)


def _of_model(speakers: Sequence[Provider], format: str, model: str) -> Provider | None:
    known = known_model(model)
    vendors = [each for each in speakers if known is not None and each.vendor == known.provider]
    return _best(vendors, format, model)


def _best(found: Sequence[Provider], format: str, model: str) -> Provider | None:
    """Return the provider whose name the model has, else one that takes the format."""
    return min(found, key=lambda each: (each.name not in model, format not in each.formats, PROVIDERS.index(each)), default=None)
